using System.Net.Sockets;
using MongoPerf.Deployments;
using MongoPerf.Load.Phases;
using MongoPerf.Running;
using MongoPerf.Server.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Discovery;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Tests.Commands;

/// <summary>What a failure that may happen to anybody looks like: what, a hint, an exit code. No stack.</summary>
public sealed class FailureReportTests
{
    public static TheoryData<string, int, string> Failures() => new()
    {
        { "storage", 2, "error: RocksDB is missing|hint:  do without it" },
        { "storage without a hint", 2, "error: the store is damaged" },
        { "taken port", 3, "error: Address already in use|hint:  is another program using the port? choose another --port, "
            + "or omit it to use a free one" },
        { "refused command", 7, "error: collStats: no such thing (code 59 CommandNotFound)" },
        { "refused for good", 7, "error: the server has rejected every operation for 5 s; last error: "
            + "no such thing (code 59 CommandNotFound)" },
        { "duplicates", 4, "error: c: 1 document can't be stored: E11000 duplicate key error collection: p.c index: u_1|hint:  make the "
            + "values of that index different in every document, or remove unique; --max-errors N (maxErrors in a file) goes on without up "
            + "to N such documents" },
        { "refused shards", 7, "error: p.c can't be sharded by {a: 1}: no|hint:  try another" },
        { "no primary", 3, "error: insert: not primary (code 10107 NotWritablePrimary)|hint:  this member does not accept writes: "
            + "is there a primary?" },
        { "full disk", 6, "error: insert: no room (code 14031 OutOfDiskSpace)|hint:  free some space on the server's disk" },
        { "full disk all along", 6, "error: the server has rejected every operation for 5 s; last error: "
            + "no room (code 14031 OutOfDiskSpace)|hint:  free some space on the server's disk" },
        { "refused all along", 3, "error: the server has rejected every operation for 5 s; last error: "
            + "no (code 13 Unauthorized)|hint:  this user is not allowed to do that, or the server requires a login: "
            + "--uri mongodb://USER@HOST/?authSource=admin" },
        { "no file", 2, "error: /x is not there|hint:  is it the right folder or file, and is the disk full?" },
        { "no access", 2, "error: Access to '/x' is denied|hint:  does this user have permission to read and write there?" },
        { "no table", 2, "error: news:1978: this Tokyo Tyrant server's database is of type 'hash', a table database is needed|hint:  start "
            + "it on the file of a table database: ttserver FILE.tct" },
        { "login", 3, "error: db:27017: authentication failed|hint:  check user name and password (@ : / % as %40 %3A %2F %25), "
            + "authSource and authMechanism in --uri" },
        { "certificate login", 3, "error: db:27017: authentication failed|hint:  the subject of the certificate in tlsCertificateKeyFile "
            + "must be a user of the server's database $external" },
        { "typo", 2, "error: connection string: unknown option 'tlsAllowInvalidHostname'|hint:  did you mean 'tlsAllowInvalidHostnames'?" },
        { "wrong word", 2, "error: connection string: readPreference is 'secondry'; allowed: primary, primaryPreferred, secondary, "
            + "secondaryPreferred, nearest|hint:  did you mean 'secondary'?" },
        { "tls", 3, "error: db:27017: the certificate expired" },
        { "other set", 3, "error: db:27017: this server's replica set is 'rs0', not 'rs1' (replicaSet=)" },
        { "no journal", 2, "error: update: cannot use 'j' option when a host does not have journaling enabled (code 2 BadValue)|hint:  "
            + "what a run has written must be there when it continues after a crash: "
            + "start the server with its journal (without --nojournal)" },
        { "not initiated", 3, "error: find: no replset config has been received (code 94 NotYetInitialized)|hint:  its replica set is not "
            + "initiated: run rs.initiate() on it, or start it without --replSet" },
        { "no server", 3, "error: db:27017: nobody|hint:  try another" },
        { "deployment", 6, "error: two|hint:  lines" },
        { "disk", 6, "error: the disk that holds this server's data is full: /d/1.log|hint:  make room there" },
        { "memory", 6, "error: out of memory|hint:  this machine, or the limit of this process, has too little memory for the run: "
            + "use fewer threads, or smaller batches and documents" },
        { "thread", 6, "error: out of memory|hint:  this machine, or the limit of this process, has too little memory for the run: "
            + "use fewer threads, or smaller batches and documents" },
    };

    [Theory]
    [MemberData(nameof(Failures))]
    public void A_failure_is_told_in_a_line_with_a_hint(string kind, int exitCode, string text)
    {
        using var errors = new StringWriter();
        Assert.Equal(exitCode, (int)FailureReport.Write(Make(kind), errors));
        string[] lines = errors.ToString().TrimEnd().Split('\n');
        Assert.Equal(text.Split('|'), lines[..^1]);
        Assert.StartsWith($"exit code {exitCode}: ", lines[^1], StringComparison.Ordinal);
    }

    [Fact]
    public void An_interrupt_promises_resuming_to_most_runs()
    {
        using var errors = new StringWriter();
        Assert.Equal(ExitCode.Interrupted, FailureReport.Write(new OperationCanceledException(), errors));
        Assert.EndsWith("exit code 130: interrupted; what was measured is saved, and 'resume' continues most runs\n",
            errors.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void What_nobody_foresaw_is_shown_whole()
    {
        using var errors = new StringWriter();
        Assert.Equal(ExitCode.InternalError, FailureReport.Write(new InvalidOperationException("a fault of ours"), errors));
        Assert.StartsWith("internal error: System.InvalidOperationException: a fault of ours", errors.ToString(), StringComparison.Ordinal);
    }

    private static Exception Make(string kind) => kind switch
    {
        "disk" => new DiskFullException("/d/1.log"),
        "memory" => new InsufficientMemoryException(),
        "thread" => new TaskSchedulerException(new InsufficientMemoryException()),
        "storage" => new StorageException("RocksDB is missing", "do without it"),
        "no journal" => new ServerCommandException(
            "update", new ServerError(2, "BadValue", "cannot use 'j' option when a host does not have journaling enabled", [])),
        "not initiated" =>
            new ServerCommandException("find", new ServerError(94, "NotYetInitialized", "no replset config has been received", [])),
        "no server" => new NoServerException(new ServerAddress("db", 27017), "nobody", "try another"),
        "storage without a hint" => new StorageException("the store is damaged"),
        "taken port" => new SocketException((int)SocketError.AddressAlreadyInUse),
        "refused command" => new ServerCommandException("collStats", new ServerError(59, "CommandNotFound", "no such thing", [])),
        "refused for good" => new ServerRefusesException(new ServerError(59, "CommandNotFound", "no such thing", []), 5),
        "duplicates" => new RefusedDocumentsException("c", 1, "E11000 duplicate key error collection: p.c index: u_1"),
        "refused shards" => new MongoPerfException(Fault.RejectedByServer, "p.c can't be sharded by {a: 1}: no", "try another"),
        "no primary" => new ServerCommandException("insert", new ServerError(10107, "NotWritablePrimary", "not primary", [])),
        "full disk" => new ServerCommandException("insert", new ServerError(14031, "OutOfDiskSpace", "no room", [])),
        "full disk all along" => new ServerRefusesException(new ServerError(14031, "OutOfDiskSpace", "no room", []), 5),
        "refused all along" => new ServerRefusesException(new ServerError(13, "Unauthorized", "no", []), 5),
        "no file" => new FileNotFoundException("/x is not there"),
        "no access" => new UnauthorizedAccessException("Access to '/x' is denied"),
        "no table" => new TyrantServerException(new ServerAddress("news", 1978), "hash"),
        "certificate login" =>
            new AuthenticationFailedException(new ServerAddress("db", 27017), "authentication failed") { Mechanism = "MONGODB-X509" },
        "typo" =>
            Assert.Throws<ConnectionStringException>(ConnectionString.Parse("mongodb://h/?tlsAllowInvalidHostname=true").RequireSupport),
        "wrong word" =>
            Assert.Throws<ConnectionStringException>(ConnectionString.Parse("mongodb://h/?readPreference=secondry").RequireSupport),
        "login" => new AuthenticationFailedException(new ServerAddress("db", 27017), "authentication failed"),
        "tls" => new TlsFailedException(new ServerAddress("db", 27017), "the certificate expired"),
        "other set" => new WrongReplicaSetException(new ServerAddress("db", 27017), "rs1", "rs0"),
        _ => new DeploymentException(Fault.Refused, "two\nhint:  lines"),
    };
}
