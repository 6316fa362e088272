using MongoPerf.Deployments;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Cli;

/// <summary>Runs a command's body and turns what it throws into one line, a hint and an exit code.</summary>
internal static class CommandRunner
{
    public static int Run(Func<ExitCode> body)
    {
        try
        {
            ExitCode code = body();
            if (code != ExitCode.Done)
                Console.Error.WriteLine($"exit code {(int)code}: {ExitCodes.Describe(code)}");
            return (int)code;
        }
        catch (Exception e)
        {
            return Report(e);
        }
    }

    private static int Report(Exception failure)
    {
        (ExitCode code, string? hint) = Classify(failure);
        if (code == ExitCode.InternalError)
        {
            Console.Error.WriteLine($"internal error: {failure}");
        }
        else
        {
            Console.Error.WriteLine($"error: {failure.Message}");
            if (hint is not null)
                Console.Error.WriteLine($"hint:  {hint}");
        }

        Console.Error.WriteLine($"exit code {(int)code}: {ExitCodes.Describe(code)}");
        return (int)code;
    }

    private static (ExitCode Code, string? Hint) Classify(Exception failure) => failure switch
    {
        UserException e => (e.Code, e.Hint),
        DeploymentException e => ((ExitCode)e.ExitCode, null),
        RunStoreException => (ExitCode.WrongUsage, null),
        ConnectionStringException => (ExitCode.WrongUsage, null),
        OperationLimitException => (ExitCode.WrongUsage, null),
        MissingDocumentsException => (ExitCode.VerificationFailed, null),
        ServerTooOldException => (ExitCode.CannotConnect, null),
        ConnectionFailedException => (ExitCode.CannotConnect, "is a server running there, and does a firewall let you through?"),
        WireProtocolException or BsonFormatException => (ExitCode.CannotConnect, null),
        ServerCommandException { Code: 13 or 18 } => (ExitCode.CannotConnect, "authentication is not supported yet: use a deployment that lets this client in without it"),
        ServerCommandException => (ExitCode.InternalError, null),
        _ => (ExitCode.InternalError, null),
    };
}
