using MongoPerf.Platforms;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Authentication;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Files;

namespace MongoPerf.Server.Users;

/// <summary>
/// The users of an embedded server, in a folder beside its data: one file each, with credentials and never a password, for
/// its owner's eyes only.
/// </summary>
/// <remarks>
/// Files are read at each login, so a server that runs learns of a new user or password at once. A user who is not there costs a login
/// the same steps as one who is: as many files are opened, checked and read, the last of them that of a user whom nobody can be. Any
/// thread, and several processes.
/// </remarks>
/// <param name="dataPath">The server's data folder; null for one whose data are in memory, which has no users.</param>
public sealed class UserStore(string? dataPath)
{
    public const string FolderName = StoreFolder.OwnPrefix + "users";

    /// <summary>The database that knows them.</summary>
    public const string Database = "admin";

    /// <summary>Characters of a name.</summary>
    public const int LongestName = 128;

    private const string Extension = ".user";

    // Its secret makes the salts of users who are not there.
    private const string LockedFileName = "nobody";

    // Read in place of a user's: like one, of nobody's password.
    private const string DecoyFile = "decoy";
    private const int SecretBytes = 32;
    private const int MostFileBytes = 16 << 10;

    private readonly string _folder = dataPath is null ? "" : Path.Combine(dataPath, FolderName);

    // For as long as there are no users.
    private readonly byte[] _ownSecret = SystemRandom.GetBytes(SecretBytes);

    /// <summary>Hears of each file that is read, for tests.</summary>
    internal Action<string> OnRead { get; init; } = static _ => { };

    /// <summary>Nobody can log in.</summary>
    public bool IsEmpty => !Directory.Exists(_folder) || !Directory.EnumerateFiles(_folder, "*" + Extension).Any();

    /// <summary>Adds a user, or gives one a new password. The folder is claimed for the store when it is new.</summary>
    /// <returns>True when there was one of that name; the change is on the disk then, as after <see cref="Remove"/>.</returns>
    /// <exception cref="FormatException">The name can't be one.</exception>
    /// <exception cref="SaslException">SCRAM-SHA-256 does not allow the password; the message says why and does not hold it.</exception>
    /// <exception cref="StorageException">The data folder holds something else.</exception>
    /// <exception cref="IOException">It can't be written.</exception>
    public bool Put(string name, string password)
    {
        if (name.Length is 0 or > LongestName || name.Any(char.IsControl))
            throw new FormatException($"a user's name has 1 to {LongestName} characters and no control characters");
        (string, object?)[] credentials = [.. ScramCredential.Mechanisms
            .Select(mechanism => (mechanism, (object?)Write(ScramCredential.Create(mechanism, name, password))))];
        StoreFolder.Claim(dataPath ?? throw new InvalidOperationException("users need a data folder"));
        OwnerOnly.MakeFolder(_folder);
        SystemCalls.SyncFolder(dataPath);
        foreach (string stand in (string[])[LockedFile, Decoy])
        {
            if (File.Exists(stand))
                continue;
            // As large as a user's, so that reading it takes as long; nobody's password fits it.
            byte[] secret = SystemRandom.GetBytes(SecretBytes);
            (string, object?)[] fake =
            [
                .. ScramCredential.Mechanisms.Select(mechanism => (mechanism, (object?)Write(ScramCredential.Fake(mechanism, "", secret))))
            ];
            Replace(stand, BsonDocument.Of([("user", ""), ("secret", secret), .. fake]));
        }

        string file = FileOf(name);
        bool isThere = File.Exists(file);
        Replace(file, BsonDocument.Of([("user", name), .. credentials]));
        return isThere;
    }

    /// <summary>Removes a user; logins fail from now on, and who is logged in stays so.</summary>
    /// <returns>False when there was none of that name.</returns>
    /// <exception cref="StorageException">The users' folder is a link.</exception>
    /// <exception cref="IOException">The file can't be deleted.</exception>
    public bool Remove(string name)
    {
        StoreFolder.RefuseLinks(dataPath ?? throw new InvalidOperationException("users need a data folder"));
        string file = FileOf(name);
        if (!File.Exists(file))
            return false;
        File.Delete(file);
        SystemCalls.SyncFolder(_folder);
        return true;
    }

    /// <summary>What a login is checked against; for a user who is not there something that no password fits.</summary>
    /// <param name="mechanism">SCRAM-SHA-256 or SCRAM-SHA-1.</param>
    /// <param name="database">The database that the user belongs to, as the client says.</param>
    /// <param name="name">The name as the client sent it.</param>
    /// <exception cref="StorageException">A file is damaged, or not this process's to read.</exception>
    public ScramCredential Find(string mechanism, string database, string name)
    {
        bool hasUsers = File.Exists(LockedFile);
        ScramCredential fake = ScramCredential.Fake(
            mechanism, $"{database}.{name}", hasUsers ? Bytes(Read(LockedFile), "secret") : _ownSecret);
        if (!hasUsers)
            return fake;
        string file = FileOf(name);
        // Of an earlier version: there is no decoy until a user is added or gets another password.
        string other = File.Exists(Decoy) ? Decoy : LockedFile;
        bool isKnown = File.Exists(file) & database == Database;
        ScramCredential found = Parse(mechanism, Read(isKnown ? file : other));
        return isKnown ? found : fake;
    }

    private string LockedFile => Path.Combine(_folder, LockedFileName);

    private string Decoy => Path.Combine(_folder, DecoyFile);

    // A name may hold anything that is no file's name.
    private string FileOf(string name) =>
        Path.Combine(_folder, Sha256.Hex(name) + Extension);

    private static BsonDocument Write(ScramCredential credential) => BsonDocument.Of(
        ("iterationCount", credential.Iterations), ("salt", credential.Salt), ("storedKey", credential.StoredKey),
        ("serverKey", credential.ServerKey));

    private static ScramCredential Parse(string mechanism, BsonDocument user) => new(
        mechanism,
        Bytes(user, $"{mechanism}.salt"),
        (int)(user.FindInt64($"{mechanism}.iterationCount") ?? throw Damaged("the iteration count is missing")),
        Bytes(user, $"{mechanism}.storedKey"), Bytes(user, $"{mechanism}.serverKey"));

    private static byte[] Bytes(BsonDocument document, string path) =>
        document.Find(path) is { Type: BsonType.Binary } value ? value.ToBinary().ToArray() : throw Damaged($"{path} is missing");

    private BsonDocument Read(string file)
    {
        OnRead(file);
        try
        {
            using FileStream stream = File.OpenRead(file);
            byte[] bytes = new byte[Math.Min(stream.Length, MostFileBytes)];
            stream.ReadExactly(bytes);
            BsonValidator.Validate(bytes);
            return new BsonDocument(bytes);
        }
        catch (Exception error) when (error is BsonFormatException or EndOfStreamException)
        {
            throw Damaged(error.Message, error);
        }
        catch (UnauthorizedAccessException error)
        {
            throw Unreadable("permission denied", "run the server as the user that owns its data folder", error);
        }
        catch (IOException error)
        {
            // Its message names the file, which is nothing for a client's eyes.
            throw Unreadable("reading a file failed", "is the disk in order, and are there enough file handles?", error);
        }
    }

    private static StorageException Damaged(string what, Exception? cause = null) =>
        Unreadable($"a file is damaged: {what}", "mongoperf serve --data DIR --add-user NAME writes it anew", cause);

    private static StorageException Unreadable(string why, string hint, Exception? cause) =>
        new($"the users of this server can't be read: {why}", hint, cause);

    private static void Replace(string file, BsonDocument content) =>
        WholeFile.Replace(file, stream => stream.Write(content.Bytes), isPrivate: true, isDurable: true);
}
