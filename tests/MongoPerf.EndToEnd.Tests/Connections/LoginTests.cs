using MongoPerf.Driver;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Load.Executors;
using MongoPerf.Load.Phases;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Connections;

/// <summary>Logins at a real mongod with --auth.</summary>
[Collection(OtherTests.Name)]
public sealed class LoginTests(LoginTests.Server server) : IClassFixture<LoginTests.Server>
{
    private const string Secret = "p@ss:w/rd%";

    private static readonly string Encoded = Uri.EscapeDataString(Secret);

    [MongodTheory]
    [InlineData("both", "", "SCRAM-SHA-256")]
    [InlineData("both", "authMechanism=SCRAM-SHA-256", "SCRAM-SHA-256")]
    [InlineData("both", "authMechanism=SCRAM-SHA-1", "SCRAM-SHA-1")]
    [InlineData("old", "", "SCRAM-SHA-1")]
    [InlineData("old", "authMechanism=SCRAM-SHA-1", "SCRAM-SHA-1")]
    [InlineData("new", "", "SCRAM-SHA-256")]
    public void A_user_is_logged_in_by_the_mechanism_that_he_has(string user, string options, string mechanism)
    {
        long before = server.Successes(mechanism);
        using MongoConnection connection = server.Mongod.Open(server.Mongod.Uri($"{user}:{Encoded}", options + "&authSource=admin"));
        Assert.True(connection.RunCommand("any", BsonDocument.Of(("dbStats", 1))).IsTrue("ok"));
        Assert.Equal(user,
            connection.RunCommand("admin", BsonDocument.Of(("connectionStatus", 1))).FindString("authInfo.authenticatedUsers.0.user"));
        Assert.Equal(before + 1, server.Successes(mechanism));
    }

    [MongodTheory]
    [InlineData("both", "", "SCRAM-SHA-256")]
    [InlineData("both", "&authMechanism=SCRAM-SHA-1", "SCRAM-SHA-1")]
    [InlineData("old", "", "SCRAM-SHA-1")]
    [InlineData("new", "&authMechanism=SCRAM-SHA-256", "SCRAM-SHA-256")]
    public void The_official_driver_logs_in_by_the_same_mechanisms(string user, string options, string mechanism)
    {
        long before = server.Successes(mechanism);
        ConnectThroughDriver(server.Mongod, server.Mongod.Uri($"{user}:{Encoded}", "authSource=admin" + options));
        Assert.True(server.Successes(mechanism) > before, $"nobody logged in by {mechanism}");
    }

    [MongodFact]
    public void A_user_of_another_database_logs_in_there()
    {
        using MongoConnection connection = server.Mongod.Open($"mongodb://local%3Duser%2C:{Encoded}@{server.Mongod.Address}/shop");
        Assert.Equal("shop",
            connection.RunCommand("admin", BsonDocument.Of(("connectionStatus", 1))).FindString("authInfo.authenticatedUsers.0.db"));
        Assert.Throws<AuthenticationFailedException>(() =>
            server.Mongod.Open(server.Mongod.Uri($"local%3Duser%2C:{Encoded}", "authSource=admin")));
    }

    [MongodTheory]
    [InlineData("IX", "IX")]
    [InlineData("IX", "I\u00adX")]
    [InlineData("\u2168", "IV")]
    [InlineData("\u2168", "I\u00adV")]
    [InlineData("\u2168", "\u2163")]
    public void What_looks_alike_is_one_password(string user, string password)
    {
        using MongoConnection connection = server.Mongod.Open(
            server.Mongod.Uri($"{Uri.EscapeDataString(user)}:{Uri.EscapeDataString(password)}", "authMechanism=SCRAM-SHA-256"));
        Assert.True(connection.RunCommand("admin", BsonDocument.Of(("dbStats", 1))).IsTrue("ok"));
    }

    [MongodTheory]
    [InlineData("both", "hunter2", "", "SCRAM-SHA-256")]
    [InlineData("both", "hunter2", "&authMechanism=SCRAM-SHA-1", "SCRAM-SHA-1")]
    [InlineData("nobody", "hunter2", "", "SCRAM-SHA-256")]
    public void A_wrong_login_is_refused_in_one_line_without_the_password(string user, string password, string options, string mechanism)
    {
        var e = Assert.Throws<AuthenticationFailedException>(() =>
            server.Mongod.Open(server.Mongod.Uri($"{user}:{password}", "authSource=admin" + options)));
        Assert.StartsWith($"{server.Mongod.Address}: authentication failed for user '{user}' of database 'admin' by {mechanism}: ",
            e.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', e.Message);
        Assert.DoesNotContain(password, e.ToString(), StringComparison.Ordinal);
    }

    [MongodFact]
    public void A_login_takes_two_exchanges_and_not_three()
    {
        // Speculative: hello brings the server's first message along.
        long before = server.Count("speculativeAuthenticate");
        using MongoConnection connection = server.Mongod.Open(server.Mongod.Uri($"both:{Encoded}", "authSource=admin"));
        Assert.Equal(before + 1, server.Count("speculativeAuthenticate"));
    }

    [MongodFact]
    public void Plain_works_where_the_server_offers_it_over_tls()
    {
        using var certificates = new TestCertificates();
        using var mongod = SecuredMongod.Start(
            "--auth", "--tlsMode", "requireTLS", "--tlsCertificateKeyFile", certificates.ForLoopback(),
            "--tlsCAFile", certificates.AuthorityFile,
            "--tlsAllowConnectionsWithoutCertificates", "--setParameter", "authenticationMechanisms=PLAIN,SCRAM-SHA-256");
        string tls = $"tls=true&tlsCAFile={certificates.AuthorityFile}";
        mongod.CreateUser("plain", Secret, "admin", ConnectionSettings.From(ConnectionString.Parse(mongod.Uri(options: tls))));
        using MongoConnection connection = mongod.Open(mongod.Uri($"plain:{Encoded}", $"{tls}&authMechanism=PLAIN&authSource=admin"));
        Assert.Equal("plain",
            connection.RunCommand("admin", BsonDocument.Of(("connectionStatus", 1))).FindString("authInfo.authenticatedUsers.0.user"));
        Assert.Throws<AuthenticationFailedException>(() =>
            mongod.Open(mongod.Uri("plain:wrong", $"{tls}&authMechanism=PLAIN&authSource=admin")));
        ConnectThroughDriver(mongod, mongod.Uri($"plain:{Encoded}", $"{tls}&authMechanism=PLAIN&authSource=admin"));
        Assert.ThrowsAny<ConnectionFailedException>(() =>
            ConnectThroughDriver(mongod, mongod.Uri("plain:wrong", $"{tls}&authMechanism=PLAIN&authSource=admin")));
    }

    [MongodFact]
    public void The_program_runs_a_series_as_a_user_and_shows_no_password()
    {
        using var runs = new RunsFolder();
        string uri = server.Mongod.Uri($"both:{Encoded}", "authSource=admin");
        ProgramResult result = ProgramRun.Run("series", "--target", "2k", "--step", "1k", "--tests", "unack,batch,safe,q4,size",
            "--window", "1s", "--rate", "100", "--max-skipped", "100%", "--threads", "2", "--uri", uri, "--out", runs.Path);
        result.Expect(0);
        Assert.DoesNotContain("p@ss", result.All, StringComparison.Ordinal);
        Assert.DoesNotContain(Encoded, result.All, StringComparison.Ordinal);
        foreach (string file in Directory.EnumerateFiles(runs.Path, "*", SearchOption.AllDirectories))
            Assert.DoesNotContain(Encoded, File.ReadAllText(file), StringComparison.Ordinal);
    }

    [MongodFact]
    public void A_run_whose_password_came_from_a_file_needs_it_again_to_resume_and_to_clean_and_not_to_report()
    {
        using var runs = new RunsFolder();
        string uri = server.Mongod.Uri("both", "authSource=admin");
        string file = runs.At("password");
        Directory.CreateDirectory(runs.Path);
        File.WriteAllText(file, Secret + "\n");
        File.SetUnixFileMode(file, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        string[] series =
        [
            "series", "--target", "1k", "--step", "1k", "--tests", "batch,q4", "--window", "100s", "--rate", "100", "--db", "resumed",
            "--uri", uri, "--out", runs.At("runs"),
        ];
        ProgramRun.Run(series).Expect(2)
            .Says("the password of user 'both' is missing, and there is no terminal to prompt for it").Says("--password-file FILE");

        using (ProgramRun run = ProgramRun.Start(new ProgramOptions(), [.. series, "--password-file", file]))
        {
            Assert.True(run.WaitForLine("batch "), "the series ended too early");
            Assert.DoesNotContain(Secret, File.ReadAllText($"/proc/{run.Id}/cmdline"), StringComparison.Ordinal);
            run.SendInterrupt();
            run.WaitForEnd().Expect(130);
        }

        string id = Path.GetFileName(Assert.Single(Directory.GetDirectories(runs.At("runs"))));
        ProgramRun.Run("report", id, "--out", runs.At("runs")).Expect(0);
        ProgramRun.Run("resume", id, "--out", runs.At("runs")).Expect(2).Says("the password of user 'both' is missing");
        var environment = new ProgramOptions
        {
            Environment = new Dictionary<string, string?> { ["MONGOPERF_URI"] = server.Mongod.Uri($"both:{Encoded}", "authSource=admin") },
        };
        using (ProgramRun run = ProgramRun.Start(environment, "resume", id, "--out", runs.At("runs")))
        {
            Assert.True(run.WaitForLine("resumed"), "the series ended too early");
            run.SendInterrupt();
            run.WaitForEnd().Expect(130);
        }

        using (ProgramRun run = ProgramRun.Start(new ProgramOptions(), "resume", id, "--password-file", file, "--out", runs.At("runs")))
        {
            Assert.True(run.WaitForLine("resumed"), "the series ended too early");
            run.SendInterrupt();
            Assert.DoesNotContain(Secret, run.WaitForEnd().Expect(130).All, StringComparison.Ordinal);
        }

        ProgramRun.Run("clean", id, "--out", runs.At("runs")).Expect(2)
            .Says("the password of user 'both' is missing").Says("--password-file FILE");
        Assert.Equal(
            "resumed.series dropped\n", ProgramRun.Run("clean", id, "--password-file", file, "--out", runs.At("runs")).Expect(0).Output);
        ProgramRun.Run("resume", id, "--password-file", file, "--out", runs.At("runs")).Expect(2).Says("its server data have been deleted");
        foreach (string stored in Directory.EnumerateFiles(runs.At("runs"), "*", SearchOption.AllDirectories))
        {
            string text = File.ReadAllText(stored);
            Assert.False(text.Contains(Secret, StringComparison.Ordinal) || text.Contains(Encoded, StringComparison.Ordinal),
                $"{stored} holds the password");
        }
    }

    [MongodFact]
    public void A_password_is_asked_for_at_the_terminal_and_not_shown_there()
    {
        using var runs = new RunsFolder();
        string[] call =
        [
            "run", "q4", "--records", "1k", "--operations", "10", "--db", "asked", "--uri", server.Mongod.Uri("both", "authSource=admin"),
            "--out", runs.Path,
        ];
        (int exitCode, string shown) = ProgramRun.Answer($"password of both at {server.Mongod.Address}: ", Secret, call);
        Assert.True(exitCode == 0, shown);
        Assert.DoesNotContain(Secret, shown, StringComparison.Ordinal);
        (exitCode, shown) = ProgramRun.Answer($"password of both at {server.Mongod.Address}: ", "wrong", call);
        Assert.True(exitCode == 3, shown);
        Assert.Contains("authentication failed for user 'both'", shown, StringComparison.Ordinal);
    }

    [Fact]
    public void A_server_that_is_started_inherits_no_connection_string()
    {
        using var runs = new RunsFolder();
        var options = new ProgramOptions
        {
            Environment = new Dictionary<string, string?> { ["MONGOPERF_URI"] = $"mongodb://both:{Encoded}@127.0.0.1:1/" },
        };
        using ProgramRun run = ProgramRun.Start(options, "series", "--target", "1k", "--step", "1k", "--tests", "batch,q4",
            "--window", "100s", "--rate", "100", "--cache", "256MB", "--out", runs.Path);
        Assert.True(run.WaitForLine("batch "), "the series ended too early");
        int server = runs.Find(run => run.Deployment!.ProcessId)!.Value;
        Assert.NotEqual(run.Id, server);
        Assert.DoesNotContain("MONGOPERF_URI", File.ReadAllText($"/proc/{server}/environ"), StringComparison.Ordinal);
        run.SendInterrupt();
        run.WaitForEnd().Expect(130);
    }

    [MongodFact]
    public void A_password_that_was_typed_is_shown_by_no_process()
    {
        using var runs = new RunsFolder();
        string uri = server.Mongod.Uri($"both:{Encoded}", "authSource=admin");
        using ProgramRun run = ProgramRun.Start(
            new ProgramOptions { Environment = new Dictionary<string, string?> { ["MONGOPERF_URI"] = uri } },
            "run", "q4", "--records", "1k", "--rate", "100", "--duration", "100s", "--db", "typed", "--uri", uri, "--out", runs.Path);
        Assert.True(run.WaitForLine("phase: q4"), "the phase ended too early");
        string shown = File.ReadAllText($"/proc/{run.Id}/cmdline");
        Assert.DoesNotContain(Encoded, shown, StringComparison.Ordinal);
        Assert.Contains("mongodb://both:*", shown, StringComparison.Ordinal);
        Assert.Contains("--duration\0100s\0--db\0typed\0", shown, StringComparison.Ordinal);
        run.SendInterrupt();
        run.WaitForEnd().Expect(130);
    }

    [MongodFact]
    public void The_program_ends_with_code_3_and_a_hint_when_a_login_fails()
    {
        using var runs = new RunsFolder();
        ProgramRun.Run("run", "q4", "--uri", server.Mongod.Uri("both:wrong", "authSource=admin"), "--out", runs.Path)
            .Expect(3).Says("authentication failed for user 'both' of database 'admin'").Says("hint:  check user name and password");
        ProgramRun.Run("run", "q4", "--uri", server.Mongod.Uri(), "--out", runs.Path).Expect(3);
        ProgramRun.Run("run", "q4", "--uri", server.Mongod.Uri("both", "authMechanism=GSSAPI"), "--out", runs.Path).Expect(2)
            .Says("authentication by GSSAPI is not supported");
    }

    private static void ConnectThroughDriver(SecuredMongod mongod, string uri)
    {
        using IExecutorSource source = new DriverEngine().Open(new ClientOptions
        {
            Uri = uri, Address = () => mongod.Address, Connections = ConnectionSettings.From(ConnectionString.Parse(uri)),
            Database = "driver", Workers = 1,
        });
        using IOperationExecutor executor = source.OpenExecutor();
        executor.Connect();
    }

    /// <summary>One mongod for the class.</summary>
    public sealed class Server : IDisposable
    {
        private readonly MongoConnection? _connection;

        public Server()
        {
            if (new MongodFactAttribute().Skip is not null)
                return;
            Mongod = SecuredMongod.Start("--auth", "--setParameter", "authenticationMechanisms=SCRAM-SHA-1,SCRAM-SHA-256");
            Mongod.CreateUser("root", "root", "admin");
            _connection = Mongod.Open(Mongod.Uri("root:root"));
            SecuredMongod.AddUser(_connection, "both", Secret, "admin", "SCRAM-SHA-1", "SCRAM-SHA-256");
            SecuredMongod.AddUser(_connection, "old", Secret, "admin", "SCRAM-SHA-1");
            SecuredMongod.AddUser(_connection, "new", Secret, "admin", "SCRAM-SHA-256");
            SecuredMongod.AddUser(_connection, "IX", "IX", "admin", "SCRAM-SHA-256");
            SecuredMongod.AddUser(_connection, "\u2168", "\u2163", "admin", "SCRAM-SHA-256");
            SecuredMongod.AddUser(_connection, "local=user,", Secret, "shop");
        }

        internal SecuredMongod Mongod { get; } = null!;

        internal long Successes(string mechanism) =>
            Status().FindInt64($"security.authentication.mechanisms.{mechanism}.authenticate.successful") ?? 0;

        internal long Count(string what) => Status().FindInt64($"security.authentication.mechanisms.SCRAM-SHA-256.{what}.successful") ?? 0;

        public void Dispose()
        {
            _connection?.Dispose();
            Mongod?.Dispose();
        }

        private BsonDocument Status() => _connection!.RunCommand("admin", BsonDocument.Of(("serverStatus", 1)));
    }
}
