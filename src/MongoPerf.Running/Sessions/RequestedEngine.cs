using MongoPerf.Driver;
using MongoPerf.Load.Executors;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Running.Systems;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>Gives requests the client that their settings ask for, before the first of them runs.</summary>
internal static class RequestedEngine
{
    /// <summary>The same requests, ready to run. The official driver is loaded when one of them asks for it.</summary>
    /// <param name="requests">The requests of one command.</param>
    /// <exception cref="UserException">It is not possible on that deployment.</exception>
    /// <exception cref="Load.Collections.OperationLimitException">It can't do what a plan asks for.</exception>
    public static IReadOnlyList<RunRequest> Open(IReadOnlyList<RunRequest> requests) => Open(requests, static () => new DriverEngine());

    /// <inheritdoc cref="Open(IReadOnlyList{RunRequest})"/>
    /// <param name="requests">The requests of one command.</param>
    /// <param name="load">Loads the driver.</param>
    internal static IReadOnlyList<RunRequest> Open(IReadOnlyList<RunRequest> requests, Func<IClientEngine> load)
    {
        IReadOnlyList<RunRequest> through = ThroughDriver(requests);
        if (through.Count == 0)
            return requests;
        IClientEngine driver = load();
        return [.. requests.Select(request => through.Contains(request) ? Through(request, driver) : request)];
    }

    /// <summary>Those that ask for the official driver.</summary>
    /// <exception cref="UserException">It can't speak to a deployment of theirs.</exception>
    public static IReadOnlyList<RunRequest> ThroughDriver(IReadOnlyList<RunRequest> requests)
    {
        RunRequest[] through = [.. requests.Where(request => request.Settings.Engine.Kind == EngineKind.Driver)];
        foreach (RunRequest request in through)
        {
            if (request.System != DatabaseSystems.MongoDb)
            {
                throw new UserException(
                    ExitCode.WrongUsage, $"--engine driver speaks MongoDB's protocol only; {request.System.Name} has one of its own",
                    "omit --engine");
            }

            // It takes such a connection string, and fails with "Unable to create an authenticator" when it connects.
            if (request.Uri is { } uri && ServerUri.Parse(uri).AuthMechanism == "MONGODB-AWS")
            {
                throw new UserException(
                    ExitCode.WrongUsage,
                    "--engine driver can't log in by MONGODB-AWS: MongoDB.Driver needs another package for it "
                    + "(MongoDB.Driver.Authentication.AWS), which MongoPerf does not contain",
                    "omit --engine: MongoPerf's own client can");
            }

            if (request.Plan.Plan.Phases.SelectMany(phase => phase.AllGroups.Select(group => (Phase: phase.Name, group.Connections)))
                .FirstOrDefault(group => group.Connections is { Kind: not ConnectionKind.Pool }) is { Connections: { } use } wrong)
            {
                throw new UserException(
                    ExitCode.WrongUsage,
                    $"phase '{wrong.Phase}': connections: {{{use.Kind.ToString().ToLowerInvariant()}: …}} is not possible with "
                    + "MongoDB.Driver, which opens connections of its pool as it needs them",
                    "omit --engine, or use connections: {pool: N}");
            }
        }

        return through;
    }

    private static RunRequest Through(RunRequest request, IClientEngine driver)
    {
        if (request.Settings.Engine.Version is { } before && before != driver.Version)
        {
            throw new UserException(
                ExitCode.WrongUsage,
                $"this run began with MongoDB.Driver {before}, and this MongoPerf has {driver.Version}: "
                + "results from before and after would not be comparable",
                "start a new run, or resume it with the MongoPerf that began it");
        }

        foreach (Operation operation in request.Plan.Plan.Operations)
            driver.Check(operation);

        return request with
        {
            Engine = driver, Settings = request.Settings with { Engine = new EngineSettings(EngineKind.Driver, driver.Version) },
        };
    }
}
