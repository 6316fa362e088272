using System.Net.Sockets;
using MongoPerf.Deployments;
using MongoPerf.Engine.Collections;
using MongoPerf.Engine.Failures;
using MongoPerf.Engine.Phases;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Sharding;
using MongoPerf.Input;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Discovery;
using MongoPerf.Wire.Messages;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Running;

/// <summary>What a failure comes to for whoever reads it: one line, a hint and an exit code.</summary>
internal static class FailureReport
{
    private const int BadValue = 2;
    private const int NotYetInitialized = 94;
    private const int OutOfDiskSpace = 14031;

    /// <summary>ENOSPC of Linux, as the runtime hands it on.</summary>
    private const int NoSpaceLeft = 28;

    /// <summary>Only unexpected failures are shown with their stack: they are faults of the program.</summary>
    public static ExitCode Write(Exception failure, TextWriter errors)
    {
        // The scheduler's exception hides that the system gives no memory for a thread.
        if (failure is TaskSchedulerException { InnerException: OutOfMemoryException inner })
            failure = inner;
        (ExitCode Code, string? Hint)? known = Classify(failure);
        if (known is null)
            errors.WriteLine($"internal error: {Masking.Shown(failure.ToString())}");
        else
            errors.WriteLine($"error: {Masking.Shown(failure is OutOfMemoryException ? "out of memory" : failure.Message)}");
        if (known?.Hint is { } hint)
            errors.WriteLine($"hint:  {Masking.Shown(hint)}");
        ExitCode code = known?.Code ?? ExitCode.InternalError;
        errors.WriteLine($"exit code {(int)code}: {ExitCodes.Describe(code)}");
        return code;
    }

    /// <returns>Null for what is not expected; a hint where there is one.</returns>
    public static (ExitCode Code, string? Hint)? Classify(Exception failure) => failure switch
    {
        UserException e => (e.Code, e.Hint),
        DeploymentException e => ((ExitCode)e.ExitCode, null),
        RunStoreException => (ExitCode.WrongUsage, null),
        RunStoreWriteException => (ExitCode.Refused, "make room on that disk, or name another folder with --out"),
        OutOfMemoryException => (ExitCode.Refused, "this machine, or the limit of this process, has too little memory for the run: use fewer threads, or smaller batches and documents"),
        ConnectionStringException e => (ExitCode.WrongUsage, e.Typed is { } typed ? NearestName.Hint(typed, e.Allowed) : null),
        OperationLimitException => (ExitCode.WrongUsage, null),
        CollectionBusyException e => (ExitCode.Refused, e.Hint),
        ShardingException e => (e.IsServers ? ExitCode.RejectedByServer : ExitCode.WrongUsage, e.Hint),
        DuplicateKeyException => (ExitCode.TooManyErrors, "make the values of that index different in every document, or remove unique; --max-errors N goes on without up to N such documents"),
        ServerRefusesException { Error.Code: OutOfDiskSpace } or ServerCommandException { Code: OutOfDiskSpace } => (ExitCode.Refused, "free some space on the server's disk"),
        ServerRefusesException { Error: var error } when error.Code is 13 or 18 || ErrorTally.MeansNoPrimary(error) || ErrorTally.MeansShardAway(error) =>
            (ExitCode.CannotConnect, "is it the primary, and may this client write?"),
        ServerRefusesException => (ExitCode.RejectedByServer, null),
        SamplingFailedException => (ExitCode.Refused, "is the disk that holds the runs folder full?"),
        MissingDocumentsException => (ExitCode.VerificationFailed, null),
        OperationCanceledException => (ExitCode.Interrupted, null),
        ServerTooOldException => (ExitCode.CannotConnect, null),
        TyrantServerException => (ExitCode.WrongUsage, "start it on the file of a table database: ttserver FILE.tct"),
        AuthenticationFailedException e => (ExitCode.CannotConnect, GivenDeployment.HintFor(e)),
        NoServerException e => (ExitCode.CannotConnect, e.Hint),
        TlsFailedException or WrongReplicaSetException => (ExitCode.CannotConnect, null),
        ConnectionFailedException => (ExitCode.CannotConnect, "is a server running there, and does a firewall block it?"),
        WireProtocolException or BsonFormatException => (ExitCode.CannotConnect, null),
        ServerCommandException { Code: 13 or 18 } => (ExitCode.CannotConnect, "this user is not allowed to do that, or the server requires a login: --uri mongodb://USER:PASSWORD@HOST/?authSource=admin"),
        ServerCommandException { Code: NotYetInitialized } => (ExitCode.CannotConnect, "its replica set is not initiated: run rs.initiate() on it, or start it without --replSet"),
        ServerCommandException { Code: BadValue } e when e.Error.Message.Contains("journal", StringComparison.Ordinal) =>
            (ExitCode.WrongUsage, "what a run has written must be there when it continues after a crash: start the server with its journal (without --nojournal)"),
        ServerCommandException e when ErrorTally.MeansNoPrimary(e.Error) => (ExitCode.CannotConnect, "this member does not accept writes: is there a primary?"),
        ServerCommandException e when ErrorTally.MeansShardAway(e.Error) =>
            (ExitCode.CannotConnect, $"the router answers, but {(ErrorTally.ShardIn(e.Error) is { } shard ? $"shard {shard}" : "a shard")} does not: start it, or check its log"),
        ServerCommandException => (ExitCode.RejectedByServer, null),
        ForeignFolderException or DiskFullException => (ExitCode.Refused, ((StorageException)failure).Hint),
        StorageException e => (ExitCode.WrongUsage, e.Hint),
        SocketException => (ExitCode.CannotConnect, "is another program using the port? choose another --port, or omit it to use a free one"),
        IOException { HResult: NoSpaceLeft } => (ExitCode.Refused, "make room there; if no file is named, standard output goes to the full disk"),
        UnauthorizedAccessException => (ExitCode.WrongUsage, "does this user have permission to read and write there?"),
        IOException => (ExitCode.WrongUsage, "is it the right folder or file, and is the disk full?"),
        _ => null,
    };
}
