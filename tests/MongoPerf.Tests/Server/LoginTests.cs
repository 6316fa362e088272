using System.Net.Sockets;
using System.Text;
using MongoPerf.Server;
using MongoPerf.Server.Commands;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Users;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Authentication;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Tests.Server;

/// <summary>Users of the embedded server, and what it does for clients that have not logged in.</summary>
public sealed class LoginTests : IDisposable
{
    private const string Password = "p@ss:w/rd%";

    private readonly TemporaryFolder _folder = new();
    private readonly UserStore _users;
    private EmbeddedServer _server;

    public LoginTests()
    {
        _users = new UserStore(_folder.At("data"));
        Assert.True(_users.IsEmpty);
        Assert.False(_users.Put("loader", Password));
        _server = Start();
    }

    [Theory]
    [InlineData("")]
    [InlineData("authMechanism=SCRAM-SHA-256")]
    [InlineData("authMechanism=SCRAM-SHA-1")]
    public void A_user_logs_in_and_may_do_everything(string options)
    {
        using MongoConnection connection = Open("loader", Password, options);
        connection.RunCommand("shop", BsonDocument.Of(("insert", "things"), ("documents", new[] { BsonDocument.Of(("_id", 1)) })));
        Assert.Equal(1, connection.RunCommand("shop", BsonDocument.Of(("count", "things"))).FindInt64("n"));
        BsonDocument status = connection.RunCommand("admin", BsonDocument.Of(("connectionStatus", 1)));
        Assert.Equal(("loader", "admin"),
            (status.FindString("authInfo.authenticatedUsers.0.user"), status.FindString("authInfo.authenticatedUsers.0.db")));
        Assert.Equal("root", status.FindString("authInfo.authenticatedUserRoles.0.role"));
    }

    [Fact]
    public void Before_a_login_only_what_leads_to_one_is_carried_out()
    {
        string[] allowed =
        [
            "hello", "isMaster", "ismaster", "buildInfo", "buildinfo", "ping", "whatsmyuri", "connectionStatus", "saslStart",
            "saslContinue", "authenticate",
        ];
        using var client = new TestClient(_server.Port);
        foreach (string name in CommandTable.Names)
        {
            BsonDocument reply = client.Run($"{{'{name}': 1}}", "admin");
            if (allowed.Contains(name))
                Assert.NotEqual(13, reply.FindInt64("code"));
            else
                Assert.Equal((13L, "Unauthorized", $"command {name} requires authentication"),
                    (reply.FindInt64("code"), reply.FindString("codeName"), reply.FindString("errmsg")));
        }

        Assert.Equal(59, client.Run("{'noSuchCommand': 1}").FindInt64("code"));
        Assert.Equal(0, _server.Defects);
    }

    [Theory]
    [InlineData("loader", "wrong", "")]
    [InlineData("loader", Password + "x", "authMechanism=SCRAM-SHA-1")]
    [InlineData("nobody", Password, "")]
    [InlineData("nobody", Password, "authMechanism=SCRAM-SHA-1")]
    [InlineData("loader", Password, "authSource=shop")]
    public void A_login_that_fails_says_the_same_whatever_was_wrong(string user, string password, string options)
    {
        var e = Assert.Throws<AuthenticationFailedException>(() => Open(user, password, options));
        Assert.EndsWith(": Authentication failed (code 18 AuthenticationFailed)", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Nobody_learns_which_users_there_are()
    {
        using var client = new TestClient(_server.Port);
        string nobody = FirstAnswer(client, "nobody");
        Assert.Equal(nobody, FirstAnswer(client, "nobody"));
        Assert.NotEqual(nobody, FirstAnswer(client, "somebody"));
        Assert.Equal(nobody.Length, FirstAnswer(client, "loader").Length);
        Assert.Equal(
            ExtendedJson.Write(client.Run("{'hello': 1, 'saslSupportedMechs': 'admin.loader'}").FindDocument("saslSupportedMechs")!.Bytes),
            ExtendedJson.Write(client.Run("{'hello': 1, 'saslSupportedMechs': 'admin.nobody'}").FindDocument("saslSupportedMechs")!.Bytes));
        _server.Stop();
        _server = Start();
        using var later = new TestClient(_server.Port);
        Assert.Equal(nobody, FirstAnswer(later, "nobody"));
    }

    /// <summary>
    /// Counted, not timed: a login opens, checks and reads the same number of different files of about the same length, whoever it is of.
    /// </summary>
    [Theory]
    [InlineData("SCRAM-SHA-256")]
    [InlineData("SCRAM-SHA-1")]
    public void A_login_is_the_same_work_for_users_who_are_there_and_who_are_not(string mechanism)
    {
        List<string> read = [];
        var users = new UserStore(_folder.At("data")) { OnRead = read.Add };
        users.Put("anna", Password);
        (int Files, long Bytes)[] works =
            [.. new[] { ("admin", "anna"), ("admin", "bert"), ("shop", "anna"), ("admin", "loader"), ("admin", "") }.Select(login =>
            {
                read.Clear();
                ScramCredential found = users.Find(mechanism, login.Item1, login.Item2);
                Assert.Equal(login is ("admin", "anna" or "loader"), read.Any(file => file.EndsWith(".user", StringComparison.Ordinal)));
                Assert.NotEmpty(found.Salt);
                Assert.Equal(read.Count, read.Distinct().Count());
                return (read.Count, read.Sum(file => new FileInfo(file).Length));
            })];
        Assert.All(works, work => Assert.Equal(2, work.Files));
        Assert.InRange(works.Max(work => work.Bytes) - works.Min(work => work.Bytes), 0, 64);
    }

    [Fact]
    public void A_new_password_counts_at_once_and_the_old_one_no_more()
    {
        Open("loader", Password).Dispose();
        Assert.True(_users.Put("loader", "other"));
        Assert.Throws<AuthenticationFailedException>(() => Open("loader", Password));
        Open("loader", "other").Dispose();
        Assert.False(_users.Put("\u00e4 ../, =", "third"));
        Open("\u00e4 ../, =", "third").Dispose();
    }

    [Fact]
    public void A_user_who_was_removed_logs_in_no_more()
    {
        _users.Put("other", Password);
        using MongoConnection before = Open("loader", Password);
        Assert.True(_users.Remove("loader"));
        Assert.False(_users.Remove("loader"));
        Assert.Throws<AuthenticationFailedException>(() => Open("loader", Password));
        Open("other", Password).Dispose();
        before.RunCommand("shop", BsonDocument.Of(("count", "things")));
        Assert.True(_users.Remove("other"));
        Assert.True(_users.IsEmpty);
    }

    [Fact]
    public void After_a_logout_all_is_refused_again()
    {
        using MongoConnection connection = Open("loader", Password);
        connection.RunCommand("shop", BsonDocument.Of(("logout", 1)));
        connection.RunCommand("shop", BsonDocument.Of(("count", "things")));
        connection.RunCommand("admin", BsonDocument.Of(("logout", 1)));
        Assert.Equal(
            13, Assert.Throws<ServerCommandException>(() => connection.RunCommand("shop", BsonDocument.Of(("count", "things")))).Code);
    }

    [Fact]
    public void A_failed_login_leaves_the_one_before_as_it_was()
    {
        using MongoConnection connection = Open("loader", Password);
        connection.RunUnchecked(
            "admin", BsonDocument.Of(("saslStart", 1), ("mechanism", "SCRAM-SHA-1"), ("payload", "n,,n=nobody,r=abc"u8.ToArray())));
        connection.RunUnchecked(
            "admin", BsonDocument.Of(("saslContinue", 1), ("conversationId", 1), ("payload", "c=biws,r=abc,p=AAAA"u8.ToArray())));
        Assert.Equal("loader",
            connection.RunCommand("admin", BsonDocument.Of(("connectionStatus", 1))).FindString("authInfo.authenticatedUsers.0.user"));
    }

    [Theory]
    [InlineData("{'saslStart': 1, 'payload': ''}", 40414, "'saslStart.mechanism' is missing")]
    [InlineData("{'saslStart': 1, 'mechanism': 'SCRAM-SHA-256'}", 40414, "'saslStart.payload' is missing")]
    [InlineData("{'saslStart': 1, 'mechanism': 'SCRAM-SHA-256', 'payload': 5}", 2,
        "Invalid SASLPayload type. Expected Base64 or BinData, got: int")]
    [InlineData("{'saslStart': 1, 'mechanism': 'SCRAM-SHA-256', 'payload': '!'}", 2, "base64")]
    [InlineData("{'saslStart': 1, 'mechanism': 'SCRAM-SHA-256', 'payload': 'eHg='}", 18, "Authentication failed.")]
    [InlineData(
        "{'saslStart': 1, 'mechanism': 'PLAIN', 'payload': ''}", 334, "Received authentication for mechanism PLAIN which is not enabled")]
    [InlineData("{'saslStart': 1, 'mechanism': 7, 'payload': ''}", 14, "wrong type")]
    [InlineData("{'authenticate': 1, 'mechanism': 'MONGODB-X509'}", 334, "MONGODB-X509 which is not enabled")]
    [InlineData("{'saslContinue': 1, 'conversationId': 1, 'payload': ''}", 17, "No SASL session state found")]
    [InlineData("{'saslContinue': 1, 'payload': ''}", 40414, "'saslContinue.conversationId' is missing")]
    [InlineData("{'hello': 1, 'saslSupportedMechs': 'loader'}", 2, "database.user")]
    [InlineData("{'hello': 1, 'speculativeAuthenticate': 1}", 14, "wrong type")]
    public void A_login_that_makes_no_sense_fails_as_on_mongod(string command, int code, string text)
    {
        using var client = new TestClient(_server.Port);
        BsonDocument reply = client.Run(command, "admin");
        Assert.Equal(code, reply.FindInt64("code"));
        Assert.Contains(text, reply.FindString("errmsg"), StringComparison.Ordinal);
    }

    [Fact]
    public void A_login_that_can_not_succeed_is_passed_over_in_hello()
    {
        using var client = new TestClient(_server.Port);
        foreach (string login in (string[])["{'saslStart': 1, 'mechanism': 'PLAIN', 'payload': ''}", "{'saslStart': 1}",
            "{'authenticate': 1, 'mechanism': 'MONGODB-X509'}", "{}"])
        {
            BsonDocument reply = client.Run($"{{'hello': 1, 'speculativeAuthenticate': {login}}}", "admin");
            Assert.True(reply.IsTrue("ok") && reply.Find("speculativeAuthenticate") is null, ExtendedJson.Write(reply.Bytes));
        }
    }

    [Fact]
    public void The_third_exchange_that_old_clients_want_is_answered()
    {
        using var client = new TestClient(_server.Port);
        var conversation = new ScramConversation(
            Scram.Sha256, new MongoCredential("loader", Password, "admin", Scram.Sha256, new Dictionary<string, string>()));
        BsonDocument first = client.Run(
            BsonDocument.Of(("saslStart", 1), ("mechanism", Scram.Sha256), ("payload", Convert.ToBase64String(conversation.Start()))),
            "admin");
        byte[] proof = conversation.Continue(first.Find("payload")!.Value.ToBinary().Span);
        BsonDocument second = client.Run(BsonDocument.Of(("saslContinue", 1), ("conversationId", 1), ("payload", proof)), "admin");
        Assert.False(second.IsTrue("done"));
        Assert.Equal(13, client.Run("{'count': 'c'}").FindInt64("code"));
        Assert.True(client.Run(BsonDocument.Of(("saslContinue", 1), ("conversationId", 1), ("payload", Array.Empty<byte>())), "admin")
            .IsTrue("done"));
        Assert.True(client.Run("{'count': 'c'}").IsTrue("ok"));
    }

    [Fact]
    public void Who_guesses_is_cut_off()
    {
        using var client = new TestClient(_server.Port);
        for (int i = 0; i < Login.MostFailures; i++)
            Assert.Equal(18, client.Run("{'saslStart': 1, 'mechanism': 'SCRAM-SHA-256', 'payload': 'eHg='}", "admin").FindInt64("code"));
        // Closed: seen by the send, which the system resets, or by the receive, as it comes.
        Assert.True(Record.Exception(() => client.Run("{'ping': 1}")) is IOException or SocketException);
    }

    [Fact]
    public void Who_guesses_within_hello_is_cut_off_too()
    {
        using var client = new TestClient(_server.Port);
        for (int i = 0; i < Login.MostFailures; i++)
            Assert.True(client
                .Run("{'hello': 1, 'speculativeAuthenticate': {'saslStart': 1, 'mechanism': 'SCRAM-SHA-256', 'payload': 'eHg='}}", "admin")
                .IsTrue("ok"));
        Assert.True(Record.Exception(() => client.Run("{'ping': 1}")) is IOException or SocketException);
    }

    /// <summary>Drivers watch servers over connections that never log in, and say something every ten seconds.</summary>
    [Fact]
    public async Task Who_has_spoken_does_not_make_room_for_others_before_who_never_has()
    {
        _server.Stop();
        _server = Start(mostConnections: 4);
        using var monitor = new TestClient(_server.Port);
        Assert.True(monitor.Run("{'hello': 1}").IsTrue("ok"));
        using var silent = new TcpClient("localhost", _server.Port);
        await Eventually.IsAsync(IsServed);
        Assert.True(monitor.Run("{'hello': 1}").IsTrue("ok"));
        // Nothing is ever sent to it: what can be read is its end.
        Assert.True(silent.Client.Poll(TimeSpan.FromMinutes(1), SelectMode.SelectRead));
    }

    [Fact]
    public void Before_a_login_a_long_message_ends_the_connection()
    {
        BsonDocument Ping(int bytes) => BsonDocument.Of(("ping", 1), ("comment", new string('x', bytes)));
        using (var client = new TestClient(_server.Port))
        {
            Assert.True(client.Run(Ping(16_000)).IsTrue("ok"));
            // Closed before all of it was read.
            Assert.True(Record.Exception(() => client.Run(Ping(Connection.LongestOfNewcomer))) is IOException or SocketException);
        }

        using MongoConnection connection = Open("loader", Password);
        Assert.True(connection.RunCommand("admin", Ping(10_000_000)).IsTrue("ok"));
    }

    [Fact]
    public void Without_auth_a_login_is_possible_and_not_needed()
    {
        _server.Stop();
        _server = Start(requiresLogin: false);
        using (MongoConnection connection = Open("loader", Password))
            Assert.Equal("loader",
                connection.RunCommand("admin", BsonDocument.Of(("connectionStatus", 1))).FindString("authInfo.authenticatedUsers.0.user"));
        Assert.Throws<AuthenticationFailedException>(() => Open("loader", "wrong"));
        using var client = new TestClient(_server.Port);
        Assert.True(client.Run("{'count': 'c'}").IsTrue("ok"));
    }

    [Fact]
    public void A_server_in_memory_has_no_users()
    {
        using EmbeddedServer memory = EmbeddedServer.Start(new EmbeddedServerOptions { CacheBytes = 64 << 20 });
        Assert.Throws<AuthenticationFailedException>(() =>
            MongoConnection.Open(new ServerAddress("localhost", memory.Port), Settings("loader", Password, "")));
    }

    [Fact]
    public void Users_are_for_the_owners_eyes_and_hold_no_password()
    {
        string folder = Path.Combine(_folder.At("data"), UserStore.FolderName);
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute, File.GetUnixFileMode(folder));
        string[] files = Directory.GetFiles(folder);
        Assert.Equal(3, files.Length);
        foreach (string file in files)
        {
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(file));
            Assert.DoesNotContain(Password, Encoding.Latin1.GetString(File.ReadAllBytes(file)), StringComparison.Ordinal);
        }
    }

    /// <summary>It stays when the user gets another password.</summary>
    [Fact]
    public void What_stands_for_unknown_users_holds_nobodys_credentials()
    {
        string folder = Path.Combine(_folder.At("data"), UserStore.FolderName);
        BsonDocument[] files = [.. Directory.GetFiles(folder).Select(file => new BsonDocument(File.ReadAllBytes(file)))];
        Assert.Equal(3, files.Length);
        Assert.All(["SCRAM-SHA-256", "SCRAM-SHA-1"], mechanism =>
            Assert.Equal(3, files.Select(file => Convert.ToHexString(file.FindDocument(mechanism)!.Bytes)).Distinct().Count()));
    }

    [Fact]
    public void Users_are_not_written_through_a_link()
    {
        string elsewhere = Directory.CreateDirectory(_folder.At("elsewhere")).FullName;
        string data = Directory.CreateDirectory(_folder.At("planted")).FullName;
        Directory.CreateSymbolicLink(Path.Combine(data, UserStore.FolderName), elsewhere);
        Assert.Contains("is a link",
            Assert.Throws<StorageException>(() => new UserStore(data).Put("loader", Password)).Message, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFileSystemEntries(elsewhere));
        Assert.Single(Directory.GetFileSystemEntries(data));
        // Nor removed through one.
        foreach (string file in Directory.GetFiles(Path.Combine(_folder.At("data"), UserStore.FolderName)))
            File.Copy(file, Path.Combine(elsewhere, Path.GetFileName(file)));
        Assert.Throws<StorageException>(() => new UserStore(data).Remove("loader"));
        Assert.Equal(3, Directory.GetFiles(elsewhere).Length);
    }

    [Fact]
    public void Why_users_can_not_be_read_is_said_with_what_helps()
    {
        string file = Assert.Single(Directory.GetFiles(Path.Combine(_folder.At("data"), UserStore.FolderName), "*.user"));
        using (File.Open(file, FileMode.Open, FileAccess.ReadWrite, FileShare.None))
        {
            StorageException locked = Assert.Throws<StorageException>(() => _users.Find(Scram.Sha256, UserStore.Database, "loader"));
            Assert.Equal("the users of this server can't be read: reading a file failed", locked.Message);
            Assert.Contains("is the disk in order", locked.Hint, StringComparison.Ordinal);
            Assert.IsType<IOException>(locked.InnerException);
        }

        File.WriteAllText(file, "nonsense");
        StorageException damaged = Assert.Throws<StorageException>(() => _users.Find(Scram.Sha256, UserStore.Database, "loader"));
        Assert.StartsWith("the users of this server can't be read: a file is damaged: ", damaged.Message, StringComparison.Ordinal);
        Assert.Contains("--add-user NAME writes it anew", damaged.Hint, StringComparison.Ordinal);
        File.WriteAllBytes(file, BsonDocument.Of(("user", "loader")).Memory.ToArray());
        damaged = Assert.Throws<StorageException>(() => _users.Find(Scram.Sha256, UserStore.Database, "loader"));
        Assert.Equal("the users of this server can't be read: a file is damaged: SCRAM-SHA-256.salt is missing", damaged.Message);
    }

    [Theory]
    [InlineData("")]
    [InlineData("a\nb")]
    public void A_name_that_is_none_is_refused(string name) => Assert.Throws<FormatException>(() => _users.Put(name, Password));

    [Fact]
    public void A_damaged_file_fails_the_login_and_not_the_server()
    {
        foreach (string file in Directory.GetFiles(Path.Combine(_folder.At("data"), UserStore.FolderName), "*.user"))
            File.WriteAllText(file, "nonsense");
        Assert.Throws<AuthenticationFailedException>(() => Open("loader", Password));
        Assert.Equal(0, _server.Defects);
        _users.Put("loader", Password);
        Open("loader", Password).Dispose();
    }

    public void Dispose()
    {
        _server.Dispose();
        _folder.Dispose();
    }

    private static string FirstAnswer(TestClient client, string user)
    {
        BsonDocument reply = client.Run(
            BsonDocument.Of(("saslStart", 1), ("mechanism", Scram.Sha256), ("payload", Encoding.UTF8.GetBytes($"n,,n={user},r=abc"))),
            "admin");
        return Encoding.UTF8.GetString(reply.Find("payload")!.Value.ToBinary().Span).Split(',', 2)[1];
    }

    private static ConnectionSettings Settings(string user, string password, string options) =>
        ConnectionSettings.From(
            ConnectionString.Parse($"mongodb://{Uri.EscapeDataString(user)}:{Uri.EscapeDataString(password)}@h/?{options}"));

    private MongoConnection Open(string user, string password, string options = "") =>
        MongoConnection.Open(new ServerAddress("localhost", _server.Port), Settings(user, password, options));

    private bool IsServed()
    {
        try
        {
            using var client = new TestClient(_server.Port);
            return client.Run("{'ping': 1}").IsTrue("ok");
        }
        catch (Exception error) when (error is IOException or SocketException)
        {
            return false;
        }
    }

    private EmbeddedServer Start(bool requiresLogin = true, int? mostConnections = null) => EmbeddedServer.Start(new EmbeddedServerOptions
    {
        DataPath = _folder.At("data"),
        CacheBytes = 64 << 20,
        Listen = new ListenOptions { RequiresLogin = requiresLogin, MaximumConnections = mostConnections },
    });
}
