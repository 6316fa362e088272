using MongoPerf.Load.Phases;
using MongoPerf.Measurement;
using MongoPerf.Running.Agents;
using MongoPerf.Storage;
using MongoPerf.Tests.Server;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Running.Agents;

/// <summary>How agents wait for one another, on the embedded server as their coordinator.</summary>
public sealed class AgentRoleTests : ServerTest
{
    /// <summary>The first meeting at which all agree on a time.</summary>
    private static readonly long Start = Meeting.PositionOf(0, MeetingStage.Start);

    private readonly Coordinator _coordinator;
    private readonly string _plan;
    private readonly AgentRole _anna;
    private readonly AgentRole _ben;

    public AgentRoleTests()
    {
        _coordinator = Connect();
        _plan = _coordinator.Offer(RunParts.Settings(), 42, 2);
        _anna = Role("anna");
        _ben = Role("ben");
    }

    [Fact]
    public void Each_agent_has_its_share()
    {
        Assert.Equal((1, 0, 2, true), (_anna.Part.Number, _anna.Share.Index, _anna.Share.Count, _anna.Share.IsFirst));
        Assert.Equal((2, 1, 2, false), (_ben.Part.Number, _ben.Share.Index, _ben.Share.Count, _ben.Share.IsFirst));
    }

    [Fact]
    public async Task All_begin_at_one_moment_once_all_are_ready()
    {
        Task<Meeting> first = Task.Run(() => _anna.Meet(Start, CancellationToken.None));
        Meeting second = await Task.Run(() => _ben.Meet(Start, CancellationToken.None));
        Meeting met = await first;
        Assert.Equal((null, null), (met.Reason, second.Reason));
        Assert.NotNull(met.Clock);
        // Of one machine, they know its clock equally well.
        Assert.Equal(met.Clock!.OffsetMilliseconds, second.Clock!.OffsetMilliseconds);
        long apart = Math.Abs(met.StartAt!.Value - second.StartAt!.Value);
        Assert.InRange(SystemClock.Instance.SecondsBetween(0, apart), 0, 0.002);
    }

    [Fact]
    public void One_that_is_farther_is_not_waited_for_and_nothing_is_agreed_on_but_starts()
    {
        _coordinator.SetPosition(new AgentClaim(_plan, _ben.Part, RunParts.Settings(), 42), 100, null);
        Meeting met = _anna.Meet(Meeting.PositionOf(1, MeetingStage.Before), CancellationToken.None);
        Assert.Equal((null, 100L, null, null), (met.Reason, met.Farthest, met.StartAt, met.Clock));
    }

    [Fact]
    public void One_that_ended_before_is_not_waited_for()
    {
        _coordinator.End(new AgentClaim(_plan, _ben.Part, RunParts.Settings(), 42), "its disk is full");
        Assert.Equal("agent ben ended: its disk is full", _anna.Meet(8, CancellationToken.None).Reason);
    }

    [Fact]
    public void A_stop_ends_the_wait_of_all()
    {
        _coordinator.Stop(_plan, "interrupted");
        Assert.Equal("interrupted", _anna.Meet(8, CancellationToken.None).Reason);
        _coordinator.Close(_plan, isDone: true);
        Assert.Equal("the coordinator does not know the plan any more", _anna.Meet(8, CancellationToken.None).Reason);
    }

    [Fact]
    public void Ctrl_C_ends_the_wait_without_a_reason()
    {
        Meeting met = _anna.Meet(8, new CancellationToken(canceled: true));
        Assert.Equal((null, null, 0L), (met.Reason, met.StartAt, met.Farthest));
    }

    [Fact]
    public async Task A_part_that_nobody_has_taken_is_waited_for_while_its_starter_is_there()
    {
        string plan = _coordinator.Offer(RunParts.Settings(), 42, 2);
        using AgentRole carl = Role("carl", plan);
        using var stop = new CancellationTokenSource();
        Task<Meeting> waits = Task.Run(() => carl.Meet(1, stop.Token));
        Assert.False(waits.IsCompleted);
        await stop.CancelAsync();
        Assert.Null((await waits).Reason);
        Succeed("{'delete': 'agents', 'deletes': [{'q': {'_id': '" + plan + "'}, 'limit': 1}]}", "mongoperf");
        Assert.Equal(
            "the command that offered the plan is gone, and no agent has taken part 2", carl.Meet(1, CancellationToken.None).Reason);
    }

    [Fact]
    public async Task What_the_first_agent_prepared_reaches_the_others()
    {
        Task<(ulong Seed, IReadOnlyDictionary<string, long> StartDocuments)> waits =
            Task.Run(() => _ben.AwaitPrepared(CancellationToken.None));
        _anna.Publish(ulong.MaxValue, new Dictionary<string, long> { ["users"] = 0, ["orders"] = long.MaxValue });
        (ulong seed, IReadOnlyDictionary<string, long> start) = await waits;
        Assert.Equal(ulong.MaxValue, seed);
        Assert.Equal([("orders", long.MaxValue), ("users", 0)], start.Select(one => (one.Key, one.Value)).OrderBy(one => one.Key));
    }

    [Theory]
    [InlineData("nonsense")]
    [InlineData("null")]
    [InlineData("{\"Seed\": 1}")]
    [InlineData("{\"Seed\": 1, \"Start\": {\"users\": -1}}")]
    [InlineData("{\"Seed\": -1, \"Start\": {}}")]
    public void What_is_no_preparation_is_refused(string text)
    {
        _coordinator.Publish(new AgentClaim(_plan, _anna.Part, RunParts.Settings(), 42), text);
        var e = Assert.Throws<UserException>(() => _ben.AwaitPrepared(CancellationToken.None));
        Assert.Equal((ExitCode.WrongUsage, "what the first agent said about the data can't be read"), (e.Code, e.Message));
    }

    [Fact]
    public void A_preparation_that_failed_is_not_waited_for()
    {
        _coordinator.End(new AgentClaim(_plan, _anna.Part, RunParts.Settings(), 42), "no such database");
        var e = Assert.Throws<UserException>(() => _ben.AwaitPrepared(CancellationToken.None));
        Assert.Equal(
            (ExitCode.CannotConnect, "agent anna ended before it had prepared the data: no such database"), (e.Code, e.Message));
        Assert.Throws<OperationCanceledException>(() => _ben.AwaitPrepared(new CancellationToken(canceled: true)));
    }

    [Fact]
    public void A_sign_of_life_is_postponed_around_a_start_only()
    {
        var clock = new ManualClock();
        clock.Advance(10);
        using AgentRole role = new(new AgentClaim(_plan, _ben.Part, RunParts.Settings(), 42), _coordinator, clock);
        Assert.Null(role.Postpone());
        Assert.Null(role.ReasonToStop());
        _coordinator.Stop(_plan, "enough");
        clock.Advance(Coordinator.SaySeconds + 0.001);
        Assert.Equal("enough", role.ReasonToStop());
    }

    private AgentRole Role(string name, string? plan = null)
    {
        AgentClaim claim = _coordinator.TryClaim(name, null, out _)!;
        Assert.Equal(plan ?? _plan, claim.Plan);
        return new AgentRole(claim, Connect(), SystemClock.Instance);
    }

    private Coordinator Connect() => new($"mongodb://127.0.0.1:{Port}", CancellationToken.None);
}
