using MongoPerf.Running.Agents;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Commands;
using MongoPerf.Tests.Server;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Running.Agents;

/// <summary>A plan's way from its starter to two agents and back, in one process, on the embedded server.</summary>
[Collection(ConsoleTests.Name)]
public sealed class AgentsSessionTests : ServerTest
{
    private const string Text = """
        data: {c: {count: 100, document: {_id: ^number, n: 1}}}
        phases:
          - {name: load, load: c, threads: 2}
          - {name: reads, count: 40, threads: 2, operations: [{name: read, find: c, filter: {_id: {^field: _id}}}]}
        """;

    private readonly TemporaryFolder _folder = new();
    private readonly Shown _results = new();

    private string Uri => $"mongodb://127.0.0.1:{Port}/";

    [Fact]
    public async Task Two_agents_do_a_plan_and_leave_one_run_and_nothing_at_the_coordinator()
    {
        try
        {
            Task<ExitCode>[] all =
            [
                Task.Run(() => AgentsSession.Start(Request(), 2, Uri, 60)), Task.Run(() => AgentSession.Run(Agent("anna"))),
                Task.Run(() => AgentSession.Run(Agent("ben"))),
            ];
            Assert.All(await Task.WhenAll(all).WaitAsync(TimeSpan.FromMinutes(3)), code => Assert.Equal(ExitCode.Done, code));
            RunFolder merged = Assert.Single(
                _results.Folders, folder => folder.Path.StartsWith(_folder.At("starter"), StringComparison.Ordinal));
            using StoredRun run = StoredRun.Open(merged.Path);
            Assert.Equal(["anna", "ben"], run.Run.Clients.Select(client => client.Name).Order());
            Assert.Equal(RunState.Finished, run.Run.State);
            Assert.Equal("mongoperf run agents.yaml", run.Run.CommandLine);
            Assert.Equal([("load", 100L), ("read", 40L)], run.Results.Select(one => (one.Operation, one.Documents)));
            Assert.All(run.Phases, phase => Assert.True(phase.IsComplete && phase.Clock is null));
            Assert.Equal(100, Succeed("{'count': 'c'}", "d").FindInt64("n"));
            Assert.Equal(0, Succeed("{'count': 'agents'}", "mongoperf").FindInt64("n"));
            Assert.Equal(0, Succeed("{'count': 'agents.chunks'}", "mongoperf").FindInt64("n"));
            Assert.Empty(Directory.GetDirectories(_folder.At("starter"), ".agents-*"));
        }
        finally
        {
            _folder.Dispose();
        }
    }

    private RunRequest Request()
    {
        ReadPlan Read(ulong seed) => PlanReader.Read(new ScenarioFile("agents.yaml", "agents.yaml", Text), new PlanOverrides(), seed);
        return new RunRequest
        {
            Settings = RunParts.Settings() with
            {
                Deployment = new DeploymentSettings { Uri = Uri },
                Data = new DataSettings { Database = "d" },
                Plan = RunParts.Settings().Plan with { Text = Text, Parameters = [] },
            },
            Plan = Read(42), ReadPlan = Read, Seed = 42, CommandLine = "mongoperf run agents.yaml", Uri = Uri, Output = Output("starter"),
        };
    }

    private AgentRequest Agent(string name) =>
        new(Uri, name, null, null, null, [], 60, false, $"mongoperf agent --name {name}", Output(name));

    private OutputRequest Output(string folder) => new(_folder.At(folder), "text", true, true, _results) { WritesReport = false };

    private sealed class Shown : IRunResults
    {
        public List<RunFolder> Folders { get; } = [];

        public void Show(RunFolder folder, OutputRequest output)
        {
            lock (Folders)
                Folders.Add(folder);
        }

        public void Show(RateSearchResult found, OutputRequest output) => throw new InvalidOperationException();

        public string Next(StoredRun run, RunFolder folder) => "";

        public IReadOnlyList<string> FailedAssertions(StoredRun run) => [];

        public ExitCode Compare(IReadOnlyList<string> runs, OutputRequest output) => throw new InvalidOperationException();
    }
}
