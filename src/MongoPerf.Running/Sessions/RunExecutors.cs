using MongoPerf.Load.Executors;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Running.Systems;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>Opens the workers' executors: those of the client that was asked for, or our own on the system under load.</summary>
internal sealed class RunExecutors : IDisposable
{
    private readonly RunRequest _request;
    private readonly SystemRun _run;
    private readonly IExecutorSource? _client;

    /// <param name="request">What is run.</param>
    /// <param name="run">The run on its deployment.</param>
    /// <exception cref="ConnectionStringException">The client does not take the connection string.</exception>
    public RunExecutors(RunRequest request, SystemRun run)
    {
        (_request, _run) = (request, run);
        _client = request.Engine?.Open(new ClientOptions
        {
            Uri = request.Uri,
            Address = () => run.Deployment.Address,
            PrimaryOf = worker => run.Deployment.Select(ReadPreference.Primary, worker),
            Members = run.Deployment.Members,
            Connections = run.Connections,
            Database = request.Settings.Data.Database,
            Workers = ConnectionRoom.ThreadsOf(request.Plan.Plan),
            Cluster = run.Cluster,
            BeforeReconnect = run.BeforeReconnect,
        });
    }

    /// <summary>Runs groups of threads on the system that the deployment is.</summary>
    public GroupRunner Open(Plan plan) =>
        new(SystemClock.Instance,
            _client is { } client ? (group, _) => client.OpenExecutor(group) : _request.System.OpenExecutors(_run, plan))
        {
            Hurry = _run.Connections.Stop,
        };

    public void Dispose() => _client?.Dispose();
}
