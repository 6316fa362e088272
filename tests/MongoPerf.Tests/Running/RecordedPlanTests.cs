using MongoPerf.Commands.Results;
using MongoPerf.Running.Agents;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Tests.Traffic;
using MongoPerf.Texts.Input;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Traffic.Replaying;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Running;

/// <summary>An agent replays a file of its own as a command could ask it to, whatever the coordinator says.</summary>
public sealed class RecordedPlanTests : IDisposable
{
    private static readonly ClientPart Half = new("group", "anna", 1, 2);

    private readonly TemporaryFolder _folder = new();
    private readonly PlanSettings _plan;

    public RecordedPlanTests()
    {
        var file = new TrafficFile();
        foreach (int connection in (int[])[1, 2])
            file.Exchange(connection, 1, BsonDocument.Of(("insert", "a"), ("$db", "d")), ServerRecordingTests.Ok());
        using Recording recording = Recording.Open(file.Write(_folder.At("recorded.bin")));
        _plan = RunParts.Settings().Plan with
        {
            Recording = "/elsewhere/recorded.bin", Replay = new ReplaySettings { Hash = recording.Hash() },
        };
    }

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void What_a_coordinator_may_not_ask_for_is_refused()
    {
        ReplaySettings replay = _plan.Replay!;
        foreach ((PlanSettings lie, string why) in ((PlanSettings, string)[])
        [
            (_plan with { Recording = "a/.." }, "is outside"),
            (_plan with { Recording = "a/" }, "is outside"),
            (_plan with { Recording = "a/\0" }, "zero character"),
            (_plan with { Recording = null }, "is not a replay"),
            (_plan with { Replay = null }, "is not a replay"),
            (_plan with { Replay = replay with { Hash = null } }, "is not a replay"),
            (_plan with { Replay = replay with { Hash = "" } }, "it has another SHA-256"),
            (_plan with { Replay = replay with { KeepsDependencies = true } }, "is not a replay"),
            (_plan with { Replay = replay with { Speed = double.NaN } }, "is not a replay"),
            (_plan with { Replay = replay with { Speed = 1e9 } }, "is not a replay"),
            (_plan with { Replay = replay with { Copies = int.MaxValue } }, "is not a replay"),
            (_plan with { Replay = replay with { Copies = 2 } }, "copies would write the same documents"),
            (_plan with { Replay = replay with { Rate = 1 } }, "the recording has 2000 requests per second"),
            (_plan with { Replay = replay with { Rate = double.PositiveInfinity } }, "the recording has 2000 requests per second"),
            (_plan with { Replay = replay with { Databases = new Dictionary<string, string> { ["d"] = "config" } } }, "is reserved"),
        ])
            Assert.Contains(why, Assert.Throws<UserException>(() => Read(lie).Recording.Dispose()).Message, StringComparison.Ordinal);
        Assert.Contains("only in a folder that you name", Assert.Throws<UserException>(() =>
            RecordedPlan.ReadPart(_plan, Half, FilesFolder.None)).Message, StringComparison.Ordinal);
        ReplayScript script = Read(_plan);
        script.Recording.Dispose();
        Assert.Equal(1, script.Count);
    }

    [Fact]
    public void An_agent_changes_no_cluster_and_makes_no_data_for_a_replay()
    {
        RunSettings settings = RunParts.Settings();
        settings = settings with
        {
            Deployment = settings.Deployment with { Uri = "mongodb://h/", CacheBytes = null }, Plan = _plan,
            Data = new DataSettings { Database = "admin", Sharding = new ShardingSettings { Balancer = "off" } },
        };
        var agent = new AgentRequest("mongodb://c/", "anna", null, "mongodb://h/", null, ["d.*"], 1, false, "mongoperf agent",
            new OutputRequest("runs", "text", true, true, new ResultPrinter())) { Files = new FilesFolder(_folder.Path) };
        RunRequest part = agent.ForPart(new AgentClaim("plan", Half, settings, 42), null!);
        using (part.Engine as IDisposable)
        {
            Assert.Equal(new DataSettings { Database = "d", IsExisting = true }, part.Settings.Data);
            Assert.Equal(["d.*"], part.MayWrite);
            Assert.Equal("d.a", Assert.Single(part.ReplayedWrites).Name);
        }
    }

    /// <summary>An agent that stays would otherwise keep one handle for each plan that it can't run.</summary>
    [Fact]
    public void A_recording_is_closed_when_the_password_can_not_be_read()
    {
        RunSettings settings = RunParts.Settings() with { Plan = _plan };
        settings = settings with { Deployment = settings.Deployment with { Uri = "mongodb://h/", CacheBytes = null } };
        var agent = new AgentRequest("mongodb://c/", "anna", null, "mongodb://h/", _folder.At("none"), ["d.*"], 1, false, "mongoperf agent",
            new OutputRequest("runs", "text", true, true, new ResultPrinter())) { Files = new FilesFolder(_folder.Path) };
        Assert.Throws<UserException>(() => agent.ForPart(new AgentClaim("plan", Half, settings, 42), null!));
        using FileStream alone = File.Open(_folder.At("recorded.bin"), FileMode.Open, FileAccess.ReadWrite, FileShare.None);
    }

    private ReplayScript Read(PlanSettings plan) => RecordedPlan.ReadPart(plan, Half, new FilesFolder(_folder.Path));
}
