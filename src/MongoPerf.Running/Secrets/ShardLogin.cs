using MongoPerf.Texts.Input;
using MongoPerf.Wire.Authentication;

namespace MongoPerf.Running.Secrets;

/// <summary>A user of the shards' own database admin. Neither is stored.</summary>
/// <param name="User">Its name.</param>
/// <param name="PasswordFile">Its first line is the password; null asks at the terminal.</param>
public sealed record ShardLogin(string User, string? PasswordFile)
{
    public const string FileOption = "--shard-password-file";

    /// <summary>The login that <see cref="Complete"/> has made of these.</summary>
    public MongoCredential? Credential { get; private init; }

    /// <param name="ask">Gets a question; null when nobody can be asked.</param>
    /// <exception cref="UserException">The file can't be read, or there is none and no terminal either.</exception>
    public ShardLogin Complete(Func<string, string?> ask) => this with
    {
        Credential = MongoCredential.OfAdmin(User, PasswordFile is { } file ? Secrets.PasswordFile.Read(file, FileOption)
            : ask($"password of {User} on the shards: ")
            ?? throw new UserException(ExitCode.WrongUsage, $"the password of --shard-user {User} is missing, and there is no terminal to "
                + "prompt for it", $"{FileOption} FILE reads it")),
    };
}
