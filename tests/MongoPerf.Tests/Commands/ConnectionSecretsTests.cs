using System.Text;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Systems;
using MongoPerf.Secrets;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Commands;

/// <summary>Passwords that are not typed: where they come from, when they are needed, and that the system shows none.</summary>
public sealed class ConnectionSecretsTests : IDisposable
{
    private const string Secret = "p@ss:w/rd%?";

    private readonly TemporaryFolder _folder = new();
    private readonly List<string> _questions = [];

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData("mongodb://loader@h/", true)]
    [InlineData("mongodb://loader:***@h/", true)]
    [InlineData("loader@h", true)]
    [InlineData("mongodb://loader@h/?authMechanism=SCRAM-SHA-1", true)]
    [InlineData("mongodb://key:***@h/?authMechanism=MONGODB-AWS", true)]
    [InlineData("mongodb://loader:known@h/", false)]
    [InlineData("mongodb://loader:@h/", false)]
    [InlineData("mongodb://h/", false)]
    [InlineData("mongodb://CN%3Dloader@h/?tls=true&tlsCertificateKeyFile=/nowhere&authMechanism=MONGODB-X509", false)]
    [InlineData("tyrant://h:1978", false)]
    public void A_password_is_asked_for_where_it_is_missing(string uri, bool isAsked)
    {
        string whole = new ConnectionSecrets(null, Answer).Complete(uri);
        Assert.Equal(isAsked ? 1 : 0, _questions.Count);
        if (isAsked)
            Assert.Equal(Secret, ConnectionString.Parse(whole).Password);
        else
            Assert.Equal(uri, whole);
    }

    [Fact]
    public void A_whole_string_differs_from_the_typed_one_by_the_password_alone()
    {
        const string Options = "?replicaSet=rs0&readPreference=nearest&readPreferenceTags=dc:ny&readPreferenceTags=&tlsCAFile=%2Fca.pem";
        foreach (string hosts in (string[])["h1:27017,[::1]:27018", "%2Ftmp%2Fmongodb-1.sock"])
        {
            string whole = new ConnectionSecrets(null, Answer).Complete($"mongodb://lo%40der@{hosts}/shop{Options}");
            Assert.Equal($"mongodb://lo%40der:p%40ss%3Aw%2Frd%25%3F@{hosts}/shop{Options}", whole);
        }

        Assert.Equal("password of lo@der at h1:27017: ", _questions[0]);
        Assert.Equal("mongodb+srv://loader:p%40ss%3Aw%2Frd%25%3F@cluster.example.net/",
            new ConnectionSecrets(null, Answer).Complete("mongodb+srv://loader@cluster.example.net"));
    }

    [Fact]
    public void The_password_of_a_key_is_asked_for_when_the_key_needs_one()
    {
        string open = Write("-----BEGIN PRIVATE KEY-----");
        string locked = Write("-----BEGIN ENCRYPTED PRIVATE KEY-----");
        Assert.Null(KeyPassword($"mongodb://h/?tls=true&tlsCertificateKeyFile={Uri.EscapeDataString(open)}"));
        Assert.Equal(Secret, KeyPassword($"mongodb://h/?tls=true&tlsCertificateKeyFile={Uri.EscapeDataString(locked)}"));
        Assert.Equal(Secret,
            KeyPassword($"mongodb://h/?tls=true&tlsCertificateKeyFilePassword=***&tlsCertificateKeyFile={Uri.EscapeDataString(locked)}"));
        Assert.Equal("given",
            KeyPassword($"mongodb://h/?tls=true&tlsCertificateKeyFilePassword=given&tlsCertificateKeyFile={Uri.EscapeDataString(locked)}"));
        Assert.Equal([$"password of {locked}: ", $"password of {locked}: "], _questions);

        string? KeyPassword(string uri) =>
            ConnectionString.Parse(new ConnectionSecrets(null, Answer).Complete(uri)).TlsCertificateKeyFilePassword;
    }

    [Theory]
    [InlineData("mongodb://loader@h/", "the password of user 'loader' is missing, and there is no terminal to prompt for it",
        "--password-file FILE reads it; --uri or MONGOPERF_URI may hold the whole connection string")]
    [InlineData(
        "mongodb://h/?tls=true&tlsCertificateKeyFile=/nowhere&tlsCertificateKeyFilePassword=***",
        "the password of tlsCertificateKeyFile is missing, and there is no terminal to prompt for it",
        "--password-file FILE reads it; or add tlsCertificateKeyFilePassword=PASSWORD to the connection string (in MONGOPERF_URI "
        + "other users can't see it)")]
    [InlineData(
        "mongodb://a:b@h/?authMechanism=MONGODB-AWS&authMechanismProperties=***",
        "authMechanismProperties, which is never stored, is missing, and there is no terminal to prompt for it",
        "--uri or MONGOPERF_URI may hold the whole connection string")]
    public void Without_a_terminal_a_missing_secret_is_told_in_one_line(string uri, string message, string hint)
    {
        var e = Assert.Throws<UserException>(() => new ConnectionSecrets(null, _ => null).Complete(uri));
        Assert.Equal((ExitCode.WrongUsage, message), (e.Code, e.Message));
        Assert.Equal(hint, e.Hint);
    }

    [Theory]
    [InlineData("h", "", null, "from the file")]
    [InlineData("u:known@h", "", "known", "from the file")]
    [InlineData("CN%3Dme@h", "&authMechanism=MONGODB-X509", null, "from the file")]
    [InlineData("u@h", "", "from the file", Secret)]
    public void A_password_file_opens_the_key_where_no_user_lacks_a_password(
        string host, string options, string? password, string keyPassword)
    {
        string locked = Uri.EscapeDataString(Write("-----BEGIN ENCRYPTED PRIVATE KEY-----"));
        ConnectionString whole = ConnectionString.Parse(new ConnectionSecrets(Write("from the file\n"), Answer)
            .Complete($"mongodb://{host}/?tls=true&tlsCertificateKeyFile={locked}{options}"));
        Assert.Equal((password, keyPassword), (whole.Password, whole.TlsCertificateKeyFilePassword));
    }

    [Fact]
    public void A_file_that_gave_the_users_password_is_not_the_keys()
    {
        string locked = Uri.EscapeDataString(Write("-----BEGIN ENCRYPTED PRIVATE KEY-----"));
        var e = Assert.Throws<UserException>(() =>
            new ConnectionSecrets(Write("user's"), _ => null).Complete($"mongodb://u@h/?tls=true&tlsCertificateKeyFile={locked}"));
        Assert.StartsWith("--password-file holds the user's password; add tlsCertificateKeyFilePassword=PASSWORD",
            e.Hint, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("mongodb://h/mine", "'/mine' is used for authentication only; --db chooses the database (now 'mongoperf')")]
    [InlineData("mongodb://h/mongoperf", null)]
    [InlineData("mongodb://h/", null)]
    [InlineData("mongodb://u:p@h/admin", null)]
    public void A_database_in_the_path_that_the_run_does_not_use_is_said(string uri, string? line) =>
        Assert.Equal(line, ServerUri.UnusedDatabase(uri, "mongoperf"));

    [Theory]
    [InlineData("p@ss:w/rd%?", "p@ss:w/rd%?")]
    [InlineData("p@ss:w/rd%?\n", "p@ss:w/rd%?")]
    [InlineData("p@ss:w/rd%?\r\nmore", "p@ss:w/rd%?")]
    [InlineData(" blanks stay ", " blanks stay ")]
    public void A_files_first_line_is_the_password(string content, string password)
    {
        string file = Write(content);
        Assert.Equal(password, ConnectionString.Parse(new ConnectionSecrets(file, Answer).Complete("mongodb://loader@h/")).Password);
        Assert.Empty(_questions);
    }

    [Theory]
    [InlineData("", "the first line of")]
    [InlineData("\nsecond", "the first line of")]
    [InlineData(null, "there is no such file")]
    public void A_file_without_a_password_is_refused(string? content, string message)
    {
        string file = content is null ? Path.Combine(_folder.Path, "missing") : Write(content);
        var e = Assert.Throws<UserException>(() => new ConnectionSecrets(file, Answer).Complete("mongodb://loader@h/"));
        Assert.StartsWith("--password-file: ", e.Message, StringComparison.Ordinal);
        Assert.Contains(message, e.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(null, "mongodb://u:***@h/", null, "mongodb://u:***@h/")]
    [InlineData("mongodb://u:typed@h/", "mongodb://u:***@h/", "mongodb://u:env@h/", "mongodb://u:typed@h/")]
    [InlineData(null, "mongodb://u:***@h/", "mongodb://u:env@h/", "mongodb://u:env@h/")]
    [InlineData(null, "mongodb://u@h/", "mongodb://u:env@h/", "mongodb://u:env@h/")]
    [InlineData(null, "mongodb://u:***@h/", "mongodb://u:env@other/", "mongodb://u:***@h/")]
    [InlineData(null, "mongodb://u:***@h/", "mongodb://other:env@h/", "mongodb://u:***@h/")]
    [InlineData(null, "mongodb://h/", "mongodb://h/?appName=other", "mongodb://h/")]
    public void A_run_goes_on_where_it_began_with_the_environments_secrets_if_they_are_for_that(
        string? typed, string stored, string? environment, string chosen) =>
        Assert.Equal(chosen, ConnectionSecrets.Choose(typed, stored, environment));

    [Fact]
    public void What_the_system_shows_of_an_argument_has_no_secret_in_it()
    {
        const string Typed = "mongodb://loader:hunter2@h1,h2/?tls=true&tlsCertificateKeyFilePassword=letmein&appName=x";
        byte[] memory = Encoding.UTF8.GetBytes($"dotnet\0mongoperf.dll\0--uri\0{Typed}\0--out\0{Typed}\0x{Typed}\0");
        Range[] found = [.. ArgumentMemory.FindSecret(memory, Typed, Masking.MaskArgument(Typed))];
        Assert.Equal(2, found.Length);
        foreach (Range range in found)
            Assert.Equal("hunter2@h1,h2/?tls=true&tlsCertificateKeyFilePassword=letmein", Encoding.UTF8.GetString(memory[range]));
    }

    [Theory]
    [InlineData("1 (a b) c) S", 0, 0)]
    [InlineData("1 (dotnet) S 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 "
        + "41 42 43 44 45 1000 1064 49", 1000, 64)]
    public void Where_the_arguments_lie_stands_behind_a_name_that_may_hold_anything(string stat, long start, int length)
    {
        Assert.Equal(start, ArgumentMemory.FindStart(stat, out int found));
        Assert.Equal(length, found);
    }

    private string? Answer(string question)
    {
        _questions.Add(question);
        return Secret;
    }

    private string Write(string content)
    {
        string file = Path.Combine(_folder.Path, Guid.NewGuid().ToString("N"));
        File.WriteAllText(file, content);
        File.SetUnixFileMode(file, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        return file;
    }
}
