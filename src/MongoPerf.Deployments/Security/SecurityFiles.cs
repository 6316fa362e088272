using System.Security.Cryptography;
using System.Text;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Security;

/// <summary>
/// What the servers of one data folder, and their clients, know each other by: a key file, a user's password, a certificate and its
/// authority. All lie in one folder that only this user can read; command lines name the files, never what is in them.
/// </summary>
/// <remarks>Any thread, once <see cref="Ensure"/> has been called.</remarks>
public sealed class SecurityFiles
{
    public const string FolderName = "security";

    /// <summary>The folder for the embedded server's files: it claims a data folder only where nothing else lies.</summary>
    public const string EmbeddedFolderName = "mongoperf-security";

    /// <summary>The name of the user that clients log in as, known to the database admin.</summary>
    public const string UserName = "mongoperf";

    private const int KeyBytes = 96;
    private const int PasswordBytes = 24;

    // --tlsMode and its kin; before it they were called --sslMode.
    private static readonly Version FirstWithTls = new(4, 2);

    private readonly bool _auth;
    private readonly bool _tls;
    private readonly Lazy<ConnectionSettings> _anonymous;
    private readonly Lazy<ConnectionSettings> _system;
    private readonly Lazy<ConnectionSettings> _user;

    /// <param name="dataFolder">The data folder of the servers, which gets a folder for these files.</param>
    /// <param name="auth">Clients log in, and servers know each other by the key file.</param>
    /// <param name="tls">Servers take TLS connections only.</param>
    /// <param name="folderName">The name of the folder for these files.</param>
    public SecurityFiles(string dataFolder, bool auth, bool tls, string folderName = FolderName)
    {
        (_auth, _tls) = (auth, tls);
        Folder = Path.Combine(Path.GetFullPath(dataFolder), folderName);
        _anonymous = new(() => Connect("", ""));
        // Servers log in to one another so: user __system of the database local, the key file's text its password.
        _system = new(() =>
            auth ? Connect($"__system:{Uri.EscapeDataString(Read(KeyFile))}@", "authSource=local&") : _anonymous.Value);
        _user = new(() => auth ? Connect($"{UserName}:{ReadPassword()}@", "authSource=admin&") : _anonymous.Value);
    }

    /// <summary>Full path.</summary>
    public string Folder { get; }

    public string AuthorityFile => Path.Combine(Folder, "ca.pem");

    public string PasswordFile => Path.Combine(Folder, "password");

    /// <summary>The settings for connections that ask nothing but hello.</summary>
    public ConnectionSettings Anonymous => _anonymous.Value;

    /// <summary>The settings with which servers log in to one another: they may do everything, before there is a user, too.</summary>
    public ConnectionSettings System => _system.Value;

    /// <summary>The settings with which the load's clients connect.</summary>
    public ConnectionSettings User => _user.Value;

    private string KeyFile => Path.Combine(Folder, "keyfile");

    private string CertificateFile => Path.Combine(Folder, "server.pem");

    /// <summary>What a mongod or mongos is started with.</summary>
    public IReadOnlyList<string> Arguments =>
    [
        .. _auth ? ["--keyFile", KeyFile] : Array.Empty<string>(),
        // Clients need no certificate of their own; who they are is said by logging in.
        .. _tls
            ? ["--tlsMode", "requireTLS", "--tlsCertificateKeyFile", CertificateFile, "--tlsCAFile", AuthorityFile,
                "--tlsAllowConnectionsWithoutCertificates"]
            : Array.Empty<string>(),
    ];

    /// <summary>What the embedded server is started with; it finds its users in its data folder.</summary>
    public IReadOnlyList<string> EmbeddedArguments =>
    [
        .. _auth ? ["--auth"] : Array.Empty<string>(),
        .. _tls ? ["--tls-certificate-key-file", CertificateFile] : Array.Empty<string>(),
    ];

    /// <exception cref="DeploymentException">The program is too old for TLS.</exception>
    public static void RequireTls(Version mongod)
    {
        if (mongod < FirstWithTls)
            throw new DeploymentException(Fault.WrongUsage, $"--tls needs mongod {FirstWithTls} or later, and this one is {mongod}");
    }

    /// <summary>Makes the files, all or none, unless they are there.</summary>
    public void Ensure()
    {
        if (Directory.Exists(Folder))
            return;
        string unfinished = Folder + ".new";
        if (Directory.Exists(unfinished))
            Directory.Delete(unfinished, recursive: true);
        OwnFiles.MakeFolder(unfinished);
        (string authority, string server) = LocalCertificate.Create();
        Write("keyfile", Convert.ToBase64String(RandomNumberGenerator.GetBytes(KeyBytes)));
        Write("password", Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(PasswordBytes)));
        Write("ca.pem", authority);
        Write("server.pem", server);
        Directory.Move(unfinished, Folder);

        void Write(string name, string text)
        {
            string file = Path.Combine(unfinished, name);
            OwnFiles.CreateFile(file);
            File.WriteAllText(file, text);
        }
    }

    /// <summary>Takes them away.</summary>
    public void Remove()
    {
        if (Directory.Exists(Folder))
            Directory.Delete(Folder, recursive: true);
    }

    /// <summary>Reads the password of the user: letters and digits.</summary>
    public string ReadPassword() => Read(PasswordFile);

    private static string Read(string file) => Encoding.UTF8.GetString(OwnFiles.Read(file));

    // A text in memory: it is never printed.
    private ConnectionSettings Connect(string user, string source) =>
        ConnectionSettings.From(ConnectionString.Parse(
            $"mongodb://{user}127.0.0.1/?{source}{(_tls ? $"tls=true&tlsCAFile={Uri.EscapeDataString(AuthorityFile)}" : "tls=false")}"));
}
