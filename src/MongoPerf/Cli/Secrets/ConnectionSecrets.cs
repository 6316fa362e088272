using MongoPerf.Cli.Sessions;
using MongoPerf.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Cli.Secrets;

/// <summary>Puts into connection strings the passwords that nobody should type there: from a file, or asked for at the terminal.</summary>
/// <param name="passwordFile">Its first line is the user's password; null for none.</param>
/// <param name="ask">Gets a question; null when nobody can be asked.</param>
internal sealed class ConnectionSecrets(string? passwordFile, Func<string, string?> ask)
{
    private bool _fileWasUsed;

    /// <summary>The same requests with whole connection strings. Those that have what they need are left as they are.</summary>
    /// <exception cref="UserException">A password is missing, and neither a file nor a terminal has it.</exception>
    public static IReadOnlyList<RunRequest> Complete(IReadOnlyList<RunRequest> requests) =>
        new ConnectionSecrets(requests[0].PasswordFile, SecretPrompt.Ask).CompleteAll(requests);

    /// <summary>The whole connection string of a deployment that a run used.</summary>
    /// <inheritdoc cref="Choose"/>
    /// <inheritdoc cref="Complete(string)"/>
    public static string Complete(string? typed, string stored) => new ConnectionSecrets(null, SecretPrompt.Ask).Complete(Choose(typed, stored, UriVariable.Value));

    internal IReadOnlyList<RunRequest> CompleteAll(IReadOnlyList<RunRequest> requests)
    {
        RunRequest[] whole = [.. requests.Select(request => request.Uri is { } uri ? request with { Uri = Complete(uri) } : request)];
        if (passwordFile is not null && !_fileWasUsed)
        {
            throw new UserException(
                ExitCode.WrongUsage, $"{PasswordFile.Option}: there is no connection string with a user and without a password", "name the user in it: mongodb://USER@HOST");
        }

        return whole;
    }

    /// <summary>The connection string that a run continues with: what is typed, or what is stored; the environment's where that is the stored one with its secrets.</summary>
    /// <param name="typed">Null when nothing was.</param>
    /// <param name="stored">As <see cref="ServerUri.Mask"/> made it.</param>
    /// <param name="environment">Null when it has none.</param>
    public static string Choose(string? typed, string stored, string? environment)
    {
        if (typed is not null || environment is null || ServerUri.ReadTyrant(stored) is not null || ServerUri.ReadTyrant(environment) is not null)
            return typed ?? stored;
        ConnectionString was = ServerUri.Parse(stored);
        ConnectionString now = ServerUri.Parse(environment);
        return Lacks(was) && was.Hosts.SequenceEqual(now.Hosts) && was.UserName == now.UserName ? environment : stored;
    }

    /// <exception cref="UserException">A password is missing, and neither a file nor a terminal has it.</exception>
    /// <exception cref="ConnectionStringException">It is not one.</exception>
    internal string Complete(string uri)
    {
        if (ServerUri.ReadTyrant(uri) is not null)
            return uri;
        ConnectionString parsed = ServerUri.Parse(uri);
        if (parsed.LacksPassword)
            uri = parsed.With(password: passwordFile is null ? Ask($"password of {parsed.UserName} at {parsed.Hosts[0]}: ", $"user '{parsed.UserName}'") : ReadFile());
        parsed = ServerUri.Parse(uri);
        if (parsed.LacksKeyPassword || (parsed.TlsCertificateKeyFile is { } file && parsed.TlsCertificateKeyFilePassword is null && PemFiles.IsEncrypted(file)))
            uri = parsed.With(keyPassword: Ask($"password of {parsed.TlsCertificateKeyFile}: ", "tlsCertificateKeyFile"));
        if (parsed.LacksProperties)
            throw Missing("authMechanismProperties, which is never stored,");
        return uri;
    }

    private static bool Lacks(ConnectionString uri) => uri.LacksPassword || uri.LacksKeyPassword || uri.LacksProperties;

    private string Ask(string question, string whose) => ask(question) ?? throw Missing($"the password of {whose}");

    private static UserException Missing(string what) => new(
        ExitCode.WrongUsage, $"{what} is missing, and there is no terminal to prompt for it", $"{PasswordFile.Option} FILE reads a user's password; --uri or {UriVariable.Name} may hold the whole connection string");

    private string ReadFile()
    {
        _fileWasUsed = true;
        return PasswordFile.Read(passwordFile!);
    }
}
