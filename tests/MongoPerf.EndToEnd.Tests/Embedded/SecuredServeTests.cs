using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Embedded;

/// <summary><c>serve</c> with users and TLS, and runs that start it so.</summary>
[Collection(OtherTests.Name)]
public sealed class SecuredServeTests(SecuredServeTests.Server server) : IClassFixture<SecuredServeTests.Server>
{
    private const string Password = "p@ss:w/rd%";

    [Fact]
    public void A_client_logs_in_over_tls()
    {
        using MongoConnection connection = server.Open("loader", Password);
        connection.RunCommand(
            "shop", BsonDocument.Of(("insert", "things"), ("documents", new[] { BsonDocument.Of(("t", new string('x', 1_000_000))) })));
        Assert.Equal(1_000_000,
            connection.RunCommand("shop", BsonDocument.Of(("find", "things"), ("limit", 1))).FindString("cursor.firstBatch.0.t")!.Length);
        Assert.Throws<AuthenticationFailedException>(() => server.Open("loader", "wrong"));
    }

    [PymongoFact]
    public void A_Python_program_logs_in_over_tls_and_is_refused_without()
    {
        string said = PymongoTests.RunScript("pymongo_login.py", $"{server.Port}", server.Certificates.AuthorityFile, "loader", Password);
        Assert.True(said.Contains(": done", StringComparison.Ordinal), said);
    }

    [Fact]
    public void The_program_runs_as_a_user_and_each_refusal_has_its_line()
    {
        using var runs = new RunsFolder();
        string[] Call(string user, string tls) => ["run", "q4", "--records", "200", "--operations", "10", "--threads", "1",
            "--uri", $"mongodb://{user}localhost:{server.Port}/?{tls}", "--out", runs.Path];
        string encoded = Uri.EscapeDataString(Password);
        ProgramRun.Run(Call($"loader:{encoded}@", server.TlsOptions)).Expect(0);
        ProgramRun.Run(Call("loader:wrong@", server.TlsOptions)).Expect(3).Says($"error: localhost:{server.Port}: authentication failed "
            + "for user 'loader' of database 'admin' by SCRAM-SHA-256: Authentication failed (code 18 AuthenticationFailed)");
        ProgramRun.Run(Call("", server.TlsOptions)).Expect(3).Says("requires authentication (code 13 Unauthorized)");
        ProgramRun.Run(Call("", "")).Expect(3)
            .Says($"error: localhost:{server.Port}: this server takes TLS connections only: add tls=true");
    }

    [Fact]
    public void A_user_who_is_added_while_the_server_runs_logs_in_at_once()
    {
        string[] call = ["serve", "--data", server.Data, "--add-user", "later"];
        (int exitCode, string shown) = ProgramRun.Answer(
            [("new password of later: ", "first"), ("new password of later once more: ", "first")], call);
        Assert.True(exitCode == 0 && shown.Contains("user later added", StringComparison.Ordinal), shown);
        server.Open("later", "first").Dispose();
        (exitCode, shown) = ProgramRun.Answer(
            [("new password of later: ", "second"), ("new password of later once more: ", "sekond")], call);
        Assert.True(exitCode == 2 && shown.Contains("the two passwords differ; nothing was changed", StringComparison.Ordinal), shown);
        Assert.DoesNotContain("sekond", shown, StringComparison.Ordinal);
        server.Open("later", "first").Dispose();
        ProgramRun.Run([.. call, "--password-file", server.PasswordFile]).Expect(0);
        server.Open("later", Password).Dispose();
        string[] removal = ["serve", "--data", server.Data, "--remove-user", "later"];
        ProgramRun.Run(removal).Expect(0);
        Assert.Throws<AuthenticationFailedException>(() => server.Open("later", Password));
        ProgramRun.Run(removal).Expect(2).Says("has no user later");
    }

    [Fact]
    public void What_needs_a_terminal_or_another_name_is_said_in_a_line()
    {
        string folder = Path.Combine(server.Folder, "new");
        ProgramRun.Run("serve", "--data", folder, "--add-user", "x").Expect(2)
            .Says("the password is missing, and there is no terminal to prompt for it").Says("--password-file FILE");
        ProgramRun.Run("serve", "--data", folder, "--add-user", "", "--password-file", server.PasswordFile).Expect(2)
            .Says("a user's name has 1 to 128 characters");
        ProgramRun.Run("serve", "--data", folder, "--tls-certificate-key-file", server.Certificates.ForClient("CN=x", "s3cret")).Expect(2)
            .Says("is encrypted, and there is no terminal to prompt for its password");
        ProgramRun.Run("serve", "--listen", "::", "--data", folder).Expect(2).Says("hint:  add --auth");
        Assert.False(Directory.Exists(folder));
    }

    [Fact]
    public void A_run_that_starts_it_with_logins_and_tls_continues_with_the_same_ones()
    {
        using var runs = new RunsFolder();
        string[] series =
        [
            "series", "--target", "1k", "--step", "1k", "--tests", "batch,q4", "--window", "100s", "--rate", "100", "--threads", "1",
            "--auth", "--tls", "--out", runs.Path,
        ];
        using (ProgramRun run = ProgramRun.Start(new ProgramOptions(), series))
        {
            Assert.True(run.WaitForLine("batch "), $"the series ended too early: {run.Errors}");
            Assert.Equal(
                (DeploymentKind.Embedded, true, true), runs.Find(run => (run.Deployment!.Kind, run.Deployment.Auth, run.Deployment.Tls)));
            run.SendInterrupt();
            run.WaitForEnd().Expect(130);
        }

        using ProgramRun again = ProgramRun.Start(
            new ProgramOptions(), "resume", Path.GetFileName(Assert.Single(Directory.GetDirectories(runs.Path))), "--out", runs.Path);
        Assert.True(again.WaitForLine("resumed"), $"the series ended too early: {again.Errors}");
        again.SendInterrupt();
        again.WaitForEnd().Expect(130);
    }

    /// <summary>One server for the class: logins, TLS, a user.</summary>
    public sealed class Server : IDisposable
    {
        private readonly ProgramRun _run;

        public Server()
        {
            PasswordFile = Path.Combine(Folder, "password");
            File.WriteAllText(PasswordFile, Password + "\n");
            File.SetUnixFileMode(PasswordFile, UnixFileMode.UserRead | UnixFileMode.UserWrite);
            ProgramRun.Run("serve", "--data", Data, "--add-user", "loader", "--password-file", PasswordFile).Expect(0);
            Port = FreePort.Find();
            _run = ProgramRun.Start(
                new ProgramOptions(), "serve", "--port", $"{Port}", "--data", Data, "--cache", "64MB", "--auth",
                "--tls-certificate-key-file", Certificates.ForLoopback());
            Assert.True(_run.WaitUntil(Answers, "the server"), _run.Errors);
        }

        internal TestCertificates Certificates { get; } = new();

        /// <summary>The user, as a connection string has it.</summary>
        internal static string Login => $"loader:{Uri.EscapeDataString(Password)}@";

        internal string Folder { get; } = Directory.CreateTempSubdirectory("mongoperf-serve-").FullName;

        internal string Data => Path.Combine(Folder, "data");

        internal string PasswordFile { get; }

        internal int Port { get; }

        internal string TlsOptions => $"tls=true&tlsCAFile={Certificates.AuthorityFile}";

        internal MongoConnection Open(string user, string password) => MongoConnection.Open(
            new ServerAddress("localhost", Port),
            ConnectionSettings.From(ConnectionString.Parse($"mongodb://{user}:{Uri.EscapeDataString(password)}@h/?{TlsOptions}")));

        public void Dispose()
        {
            _run.Dispose();
            Certificates.Dispose();
            Directory.Delete(Folder, recursive: true);
        }

        private bool Answers()
        {
            try
            {
                Open("loader", Password).Dispose();
                return true;
            }
            catch (ConnectionFailedException)
            {
                return false;
            }
        }
    }
}
