using MongoPerf.Platforms;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Authentication;

namespace MongoPerf.Running.Secrets;

/// <summary>A user of the shards' own database admin. Neither is stored.</summary>
/// <param name="User">Its name.</param>
/// <param name="PasswordFile">Its first line is the password; null asks at the terminal.</param>
public sealed record ShardLogin(string User, string? PasswordFile)
{
    /// <exception cref="UserException">The file can't be read, or there is none and no terminal either.</exception>
    public MongoCredential Read() => MongoCredential.OfAdmin(User,
        PasswordFile is { } file ? Secrets.PasswordFile.Read(file)
            : SecretPrompt.Ask($"password of {User} on the shards: ")
            ?? throw new UserException(ExitCode.WrongUsage, $"the password of --shard-user {User} is missing, and there is no terminal to "
                + "prompt for it", "--shard-password-file FILE reads it"));
}
