using MongoPerf.Platforms;
using MongoPerf.Running.Sessions;
using MongoPerf.Running.Systems;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Secrets;

/// <summary>
/// Puts into connection strings the passwords that nobody should type there: from a file, or prompted for at the terminal.
/// </summary>
/// <param name="passwordFile">
/// Its first line is the user's password, or where that is not missing the certificate key's; null for none.
/// </param>
/// <param name="ask">Gets a question; null when nobody can be asked.</param>
public sealed class ConnectionSecrets(string? passwordFile, Func<string, string?> ask)
{
    private const string WholeHint = $"--uri or {UriVariable.Name} may hold the whole connection string";
    private const string UserHint = $"{PasswordFile.Option} FILE reads it; {WholeHint}";
    private const string KeyHint = $"{PasswordFile.Option} FILE reads it; or add tlsCertificateKeyFilePassword=PASSWORD to the connection "
        + $"string (in {UriVariable.Name} other users can't see it)";
    private const string KeyOptionHint = $"{PasswordFile.Option} holds the user's password; "
        + $"add tlsCertificateKeyFilePassword=PASSWORD to the connection string (in {UriVariable.Name} other users can't see it)";

    private bool _fileWasUsed;

    /// <summary>
    /// The same requests with whole connection strings, and the one login to shards that they share. Those that have what they need
    /// are left as they are.
    /// </summary>
    /// <exception cref="UserException">A password is missing, and neither a file nor a terminal has it.</exception>
    public static IReadOnlyList<RunRequest> Complete(IReadOnlyList<RunRequest> requests) =>
        new ConnectionSecrets(requests[0].PasswordFile, SecretPrompt.Ask).CompleteAll(requests);

    /// <summary>The whole connection string of a deployment that a run used.</summary>
    /// <inheritdoc cref="Choose"/>
    /// <inheritdoc cref="Complete(string)"/>
    public static string Complete(string? typed, string stored, string? passwordFile) =>
        new ConnectionSecrets(passwordFile, SecretPrompt.Ask).Complete(Choose(typed, stored, UriVariable.Value));

    internal IReadOnlyList<RunRequest> CompleteAll(IReadOnlyList<RunRequest> requests)
    {
        RunRequest[] whole = [.. requests.Select(request => request.Uri is { } uri ? request with { Uri = Complete(uri) } : request)];
        // Once, before the first run: nobody may be there to answer when the second begins.
        ShardLogin? shards = whole.Select(request => request.ShardLogin).FirstOrDefault(login => login is not null)?.Complete(ask);
        whole = [.. whole.Select(request => request.ShardLogin is null ? request : request with { ShardLogin = shards })];
        if (passwordFile is not null && !_fileWasUsed)
        {
            throw new UserException(
                ExitCode.WrongUsage,
                $"{PasswordFile.Option}: it has no effect, as no connection string is missing a password",
                "name a user without one, mongodb://USER@HOST, or an encrypted tlsCertificateKeyFile without "
                + "tlsCertificateKeyFilePassword");
        }

        return whole;
    }

    /// <summary>
    /// The connection string that a run continues with: what is typed, or what is stored; the environment's where that is the stored
    /// one with its secrets.
    /// </summary>
    /// <param name="typed">Null when nothing was.</param>
    /// <param name="stored">The string that <see cref="DatabaseSystem.Mask"/> made.</param>
    /// <param name="environment">Null when it has none.</param>
    public static string Choose(string? typed, string stored, string? environment)
    {
        if (typed is not null || environment is null || DatabaseSystems.Of(stored) != DatabaseSystems.MongoDb
            || DatabaseSystems.Of(environment) != DatabaseSystems.MongoDb)
            return typed ?? stored;
        ConnectionString was = ServerUri.Parse(stored);
        ConnectionString now = ServerUri.Parse(environment);
        return Lacks(was) && was.Hosts.SequenceEqual(now.Hosts) && was.UserName == now.UserName ? environment : stored;
    }

    /// <exception cref="UserException">A password is missing, and neither a file nor a terminal has it.</exception>
    /// <exception cref="ConnectionStringException">It is not one.</exception>
    internal string Complete(string uri)
    {
        // Only MongoDB's have secrets.
        if (DatabaseSystems.Of(uri) != DatabaseSystems.MongoDb)
            return uri;
        ConnectionString parsed = ServerUri.Parse(uri);
        // The file holds one password; where two are missing, it is the user's.
        bool isUsers = parsed.LacksPassword;
        if (isUsers)
            uri = parsed.With(password: ReadFile() ?? ask($"password of {parsed.UserName} at {parsed.Hosts[0]}: ")
                ?? throw Missing($"the password of user '{parsed.UserName}'", UserHint));
        parsed = ServerUri.Parse(uri);
        if (parsed.LacksKeyPassword
            || (parsed.TlsCertificateKeyFile is { } file && parsed.TlsCertificateKeyFilePassword is null && PemFiles.IsEncrypted(file)))
        {
            uri = parsed.With(keyPassword: (isUsers ? null : ReadFile()) ?? ask($"password of {parsed.TlsCertificateKeyFile}: ")
                ?? throw Missing("the password of tlsCertificateKeyFile", isUsers ? KeyOptionHint : KeyHint));
        }

        if (parsed.LacksProperties)
            throw Missing("authMechanismProperties, which is never stored,", WholeHint);
        return uri;
    }

    private static bool Lacks(ConnectionString uri) => uri.LacksPassword || uri.LacksKeyPassword || uri.LacksProperties;

    private static UserException Missing(string what, string hint) =>
        new(ExitCode.WrongUsage, $"{what} is missing, and there is no terminal to prompt for it", hint);

    /// <returns>Null when no file is named.</returns>
    private string? ReadFile()
    {
        if (passwordFile is null)
            return null;
        _fileWasUsed = true;
        return PasswordFile.Read(passwordFile);
    }
}
