using MongoPerf.Measurement;
using MongoPerf.Platforms;
using MongoPerf.Running.Agents;
using MongoPerf.Storage;
using MongoPerf.Tests.Server;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Running.Agents;

/// <summary>Plans, parts and runs as the coordinator's collections keep them, on the embedded server.</summary>
public sealed class CoordinatorTests : ServerTest
{
    private const string Database = "mongoperf";

    private readonly Coordinator _starter;
    private readonly Coordinator _agent;
    private readonly RunSettings _settings;

    public CoordinatorTests()
    {
        _starter = Connect();
        _agent = Connect();
        _settings = RunParts.Settings();
    }

    [Fact]
    public void Each_agent_gets_a_part_of_its_own_with_the_whole_plan()
    {
        string plan = _starter.Offer(_settings, ulong.MaxValue, 2);
        AgentClaim anna = Claim("anna"), ben = Claim("ben");
        Assert.Equal(new ClientPart(plan, "anna", 1, 2), anna.Part);
        Assert.Equal(new ClientPart(plan, "ben", 2, 2), ben.Part);
        Assert.Equal((plan, ulong.MaxValue, _settings.ToJson()), (ben.Plan, ben.Seed, ben.Settings.ToJson()));
        Assert.Null(_agent.TryClaim("carl", null, out bool isAgain));
        Assert.False(isAgain || _agent.IsNameTaken);
        Assert.Equal(
            [(1, "anna", Coordinator.Claimed, 0L), (2, "ben", Coordinator.Claimed, 0L)],
            from part in _starter.ReadParts(plan, out _) select (part.Number, part.Label, part.State, part.Position));
    }

    [Fact]
    public void An_agent_may_ask_for_one_part_only()
    {
        string plan = _starter.Offer(_settings, 1, 3);
        Assert.Equal(3, Claim("anna", 3).Part.Number);
        Assert.Null(_agent.TryClaim("ben", 3, out _));
        Assert.Equal(1, Claim("carl").Part.Number);
        Assert.Equal(["carl", "part 2", "anna"], _starter.ReadParts(plan, out _).Select(part => part.Label));
    }

    [Fact]
    public void A_name_that_is_heard_of_is_taken()
    {
        _starter.Offer(_settings, 1, 2);
        Claim("anna");
        using Coordinator other = Connect();
        Assert.Null(other.TryClaim("anna", null, out bool isAgain));
        Assert.True(other.IsNameTaken);
        Assert.False(isAgain);
        Assert.NotNull(other.TryClaim("ben", null, out _));
        Assert.False(other.IsNameTaken);
    }

    /// <summary>Its agent was killed: nothing was heard of it for longer than is allowed.</summary>
    [Fact]
    public void A_silent_agents_part_goes_to_the_one_that_comes_back_under_its_name()
    {
        string plan = _starter.Offer(_settings, 1, 2);
        Claim("anna");
        MakeOld($"{plan}/1", TimeSpan.FromSeconds(Coordinator.LostAfterSeconds + 5));
        using Coordinator other = Connect();
        Assert.Equal(1, other.TryClaim("anna", null, out bool isAgain)?.Part.Number);
        Assert.True(isAgain);
        Assert.False(other.IsNameTaken);
    }

    [Fact]
    public void An_agent_that_ended_gets_its_part_again_once_the_plan_is_offered_again()
    {
        string plan = _starter.Offer(_settings, 1, 2);
        AgentClaim anna = Claim("anna");
        Claim("ben");
        _agent.AgreeOnStart(anna, 4, 1000);
        _agent.Publish(anna, "what it found");
        _agent.End(anna, "it failed");
        _starter.Stop(plan, "enough");
        _starter.Close(plan, isDone: false);
        Assert.Null(_agent.TryClaim("anna", null, out _));
        _starter.Reopen(plan);
        Assert.Equal(1, Claim("anna", isAgain: true).Part.Number);
        AgentState part = _starter.ReadParts(plan, out string? stop)[0];
        Assert.Equal((null, null, 0L), (stop, part.Why, part.Position));
        Assert.Null(_agent.FindPublished(anna));
        Assert.Equal(0, Count("{'kind': 'start'}"));
    }

    [Fact]
    public void A_plan_that_the_coordinator_does_not_have_is_not_offered_again() => Assert.Equal(
        "the coordinator no longer has this plan", Assert.Throws<UserException>(() => _starter.Reopen("none")).Message);

    [Theory]
    [InlineData("{'seed': '2'}", "its hash does not match")]
    [InlineData("{'count': 3}", "its hash does not match")]
    [InlineData("{'count': 0}", "its hash does not match")]
    [InlineData("{'count': 1001}", "its hash does not match")]
    [InlineData("{'settings': ''}", "its hash does not match")]
    [InlineData("{'settings': '{}'}", "its hash does not match")]
    [InlineData("{'seed': 'one'}", "its hash does not match")]
    [InlineData("{'seed': 1.5}", "its hash does not match")]
    [InlineData("{'settings': 7}", "its hash does not match")]
    [InlineData("{'count': 'many'}", "its hash does not match")]
    [InlineData("{'program': '0.0.0'}", "the plan was made by MongoPerf 0.0.0")]
    public void A_plan_that_somebody_changed_is_refused_once_and_then_passed_over(string change, string why)
    {
        string plan = _starter.Offer(_settings, 1, 2);
        Change(plan, "{'$set': " + change + "}");
        Assert.Contains(why, Assert.Throws<UserException>(() => _agent.TryClaim("anna", null, out _)).Message, StringComparison.Ordinal);
        Assert.All(_starter.ReadParts(plan, out _), part => Assert.Equal((Coordinator.Free, null), (part.State, part.Name)));
        Assert.Null(_agent.TryClaim("anna", null, out _));
        string whole = _starter.Offer(_settings, 2, 1);
        Assert.Equal(whole, Claim("anna").Plan);
    }

    [Fact]
    public void Settings_that_are_none_are_refused_whatever_their_hash()
    {
        string plan = _starter.Offer(_settings, 1, 1);
        Change(plan, "{'$set': {'settings': 'nonsense', 'hash': '" + Sha256.Hex("1/1/nonsense") + "'}}");
        Assert.StartsWith("what the coordinator offers is not a plan: ",
            Assert.Throws<UserException>(() => _agent.TryClaim("anna", null, out _)).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("0")]
    [InlineData("2")]
    [InlineData("'two'")]
    public void A_part_that_the_plan_does_not_have_is_nobodys(string number)
    {
        string plan = _starter.Offer(_settings, 1, 1);
        Change($"{plan}/1", "{'$set': {'number': " + number + "}}");
        Assert.Null(_agent.TryClaim("anna", null, out _));
    }

    [Fact]
    public void Of_agents_of_one_name_that_come_at_once_one_gets_a_part()
    {
        Coordinator[] agents = [.. Enumerable.Range(0, 4).Select(_ => Connect())];
        for (int i = 0; i < 10; i++)
        {
            string plan = _starter.Offer(_settings, 42, 4);
            AgentClaim?[] claims = new AgentClaim?[agents.Length];
            Parallel.For(0, agents.Length, new ParallelOptions { MaxDegreeOfParallelism = agents.Length },
                n => claims[n] = agents[n].TryClaim("anna", null, out _));
            AgentClaim claim = Assert.Single(claims.OfType<AgentClaim>());
            AgentState taken = Assert.Single(_starter.ReadParts(plan, out _), part => part.State == Coordinator.Claimed);
            Assert.Equal((claim.Part.Number, "anna"), (taken.Number, taken.Name));
            Assert.Null(agents[0].TryClaim("anna", null, out _));
            Assert.True(agents[0].IsNameTaken);
            _starter.Close(plan, isDone: true);
        }

        foreach (Coordinator agent in agents)
            agent.Dispose();
    }

    [Theory]
    [InlineData(-3600)]
    [InlineData(3600)]
    public void Nobody_is_lost_because_the_coordinators_clock_was_set(int seconds)
    {
        string plan = _starter.Offer(_settings, 42, 1);
        Claim("anna");
        MakeOld($"{plan}/1", TimeSpan.FromSeconds(-seconds));
        Assert.False(Assert.Single(_starter.ReadParts(plan, out _)).IsLost);
        MakeOld(plan, TimeSpan.FromSeconds(-seconds));
        Assert.False(_agent.IsStarterGone(plan));
    }

    [Fact]
    public void An_agent_takes_no_part_in_a_collection_that_is_somebody_elses()
    {
        string plan = _starter.Offer(_settings, 42, 1);
        Succeed("{'delete': 'mongoperf', 'deletes': [{'q': {'_id': 'agents'}, 'limit': 1}]}", Database);
        Assert.Equal(ExitCode.Refused, Assert.Throws<UserException>(() => _agent.TryClaim("anna", null, out _)).Code);
        Assert.Equal(Coordinator.Free, Assert.Single(_starter.ReadParts(plan, out _)).State);
    }

    [Theory]
    [InlineData("agents")]
    [InlineData("agents.files")]
    [InlineData("agents.chunks")]
    public void A_collection_of_somebody_elses_is_left_alone(string name)
    {
        Succeed("{'insert': '" + name + "', 'documents': [{'_id': 1}]}", Database);
        var e = Assert.Throws<UserException>(() => _starter.Offer(_settings, 1, 1));
        Assert.StartsWith($"{Database}.{name} at ", e.Message, StringComparison.Ordinal);
        Assert.Equal(ExitCode.Refused, e.Code);
        Assert.Equal([name],
            TestClient.Batch(Succeed("{'listCollections': 1}", Database), "firstBatch").Select(one => one.FindString("name")));
        Assert.Equal(1, Succeed("{'count': '" + name + "'}", Database).FindInt64("n"));
    }

    [Fact]
    public void Agents_hear_why_they_are_to_stop()
    {
        string plan = _starter.Offer(_settings, 1, 2);
        AgentClaim anna = Claim("anna"), ben = Claim("ben");
        Assert.Null(_agent.Say(anna));
        _starter.Stop(plan, "interrupted");
        Assert.Equal(("interrupted", "interrupted"), (_agent.Say(anna), _agent.Say(ben)));
        _starter.ReadParts(plan, out string? stop);
        Assert.Equal("interrupted", stop);
        _starter.Close(plan, isDone: true);
        Assert.Equal("the coordinator does not know the plan any more", _agent.Say(anna));
    }

    [Fact]
    public void What_an_agent_says_when_it_is_ready_reaches_the_others()
    {
        string plan = _starter.Offer(_settings, 1, 2);
        _agent.SetPosition(Claim("anna"), 11, new AgentReadiness(2.1, "boot", new ClientClock("c", -12.5, 0.25)));
        _agent.SetPosition(Claim("ben"), 8, null);
        IReadOnlyList<AgentState> parts = _starter.ReadParts(plan, out _);
        Assert.Equal(
            new AgentReadiness(3, "boot", new ClientClock($"127.0.0.1:{Port}", -12.5, 0.25)), parts[0].Ready);
        Assert.Null(parts[1].Ready);
        Assert.Equal([11L, 8L], parts.Select(part => part.Position));
    }

    [Theory]
    [InlineData("{'roundTrip': 5000, 'offset': 1.0, 'uncertainty': 2.0}", 1000, 1, 2)]
    [InlineData("{'roundTrip': -1, 'offset': 1.0, 'uncertainty': 0.0}", 0, 1, 0)]
    [InlineData("{'roundTrip': 7, 'offset': 1.0, 'uncertainty': -1.0}", 7, 0, double.PositiveInfinity)]
    [InlineData("{'roundTrip': 7, 'offset': {'$numberDouble': 'NaN'}, 'uncertainty': 1.0}", 7, 0, double.PositiveInfinity)]
    [InlineData("{'roundTrip': 'x'}", 0, 0, double.PositiveInfinity)]
    public void A_readiness_that_somebody_else_wrote_is_kept_within_bounds(
        string ready, double roundTrip, double offset, double uncertainty)
    {
        string plan = _starter.Offer(_settings, 1, 1);
        Change($"{plan}/1", "{'$set': {'ready': " + ready + "}}");
        AgentReadiness read = Assert.Single(_starter.ReadParts(plan, out _)).Ready!;
        Assert.Equal(
            (roundTrip, "", offset, uncertainty),
            (read.RoundTripMilliseconds, read.Machine, read.Clock.OffsetMilliseconds, read.Clock.UncertaintyMilliseconds));
    }

    [Fact]
    public void Texts_of_others_are_one_line_of_limited_length()
    {
        string plan = _starter.Offer(_settings, 1, 1);
        AgentClaim anna = Claim("anna");
        _agent.End(anna, "first\nsecond " + new string('x', 1000));
        string why = Assert.Single(_starter.ReadParts(plan, out _)).Why!;
        Assert.DoesNotContain('\n', why);
        Assert.InRange(why.Length, 400, 510);
    }

    [Fact]
    public void An_agent_ends_well_or_says_why()
    {
        string plan = _starter.Offer(_settings, 1, 2);
        AgentClaim anna = Claim("anna"), ben = Claim("ben");
        _agent.End(anna, null);
        _agent.SetPosition(ben, 5, null);
        _agent.End(ben, "it failed");
        Assert.Equal(
            [(Coordinator.Ended, long.MaxValue, null), (Coordinator.Ended, 5L, "it failed")],
            from part in _starter.ReadParts(plan, out _) select (part.State, part.Position, part.Why));
    }

    [Fact]
    public void Two_agents_agree_on_one_start_for_each_meeting()
    {
        _starter.Offer(_settings, 1, 2);
        AgentClaim anna = Claim("anna"), ben = Claim("ben");
        long before = ServerTime();
        long start = _agent.AgreeOnStart(anna, 3, 60_000);
        Assert.InRange(start, before + 60_000, ServerTime() + 60_000);
        Assert.Equal(start, _starter.AgreeOnStart(ben, 3, 1));
        Assert.InRange(_starter.AgreeOnStart(ben, 11, 1), before, start - 1);
    }

    [Fact]
    public void What_the_first_agent_found_is_for_all()
    {
        _starter.Offer(_settings, 1, 2);
        AgentClaim anna = Claim("anna"), ben = Claim("ben");
        Assert.Null(_starter.FindPublished(ben));
        _agent.Publish(anna, "{}");
        Assert.Equal("{}", _starter.FindPublished(ben));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(255 * 1024)]
    [InlineData((255 * 1024) + 1)]
    [InlineData(600_000)]
    public void A_run_arrives_as_it_was_sent(int length)
    {
        using var folder = new TemporaryFolder();
        byte[] sent = new byte[length];
        new Random(length).NextBytes(sent);
        File.WriteAllBytes(folder.At("sent"), sent);
        string plan = _starter.Offer(_settings, 1, 2);
        Claim("anna");
        AgentClaim ben = Claim("ben");
        Assert.False(_starter.TryDownload(plan, 2, folder.At("early")));
        _agent.Upload(ben, folder.At("sent"));
        Assert.True(_starter.TryDownload(plan, 2, folder.At("received")));
        Assert.Equal(sent, File.ReadAllBytes(folder.At("received")));
        Assert.False(_starter.TryDownload(plan, 1, folder.At("of another")));
        // Sent once more after a lost connection, it is the same.
        _agent.Upload(ben, folder.At("sent"));
        Assert.True(_starter.TryDownload(plan, 2, folder.At("again")));
        Assert.Equal(sent, File.ReadAllBytes(folder.At("again")));
    }

    [Theory]
    [InlineData("{'delete': 'agents.chunks', 'deletes': [{'q': {'n': 1}, 'limit': 1}]}")]
    [InlineData("{'update': 'agents.chunks', 'updates': [{'q': {'n': 1}, 'u': {'$set': {'data': 'text'}}}]}")]
    [InlineData("{'update': 'agents.files', 'updates': [{'q': {}, 'u': {'$inc': {'length': -1}}}]}")]
    [InlineData("{'update': 'agents.files', 'updates': [{'q': {}, 'u': {'$inc': {'length': 1}}}]}")]
    [InlineData("{'update': 'agents.files', 'updates': [{'q': {}, 'u': {'$set': {'length': 0}}}]}")]
    [InlineData("{'update': 'agents.files', 'updates': [{'q': {}, 'u': {'$set': {'length': -1}}}]}")]
    [InlineData("{'update': 'agents.files', 'updates': [{'q': {}, 'u': {'$set': {'length': 'long'}}}]}")]
    [InlineData("{'update': 'agents.files', 'updates': [{'q': {}, 'u': {'$set': {'length': {'$numberLong': '4294967297'}}}}]}")]
    public void A_run_that_is_not_all_there_is_none(string damage)
    {
        using var folder = new TemporaryFolder();
        File.WriteAllBytes(folder.At("sent"), new byte[300_000]);
        string plan = _starter.Offer(_settings, 1, 1);
        _agent.Upload(Claim("anna"), folder.At("sent"));
        Succeed(damage, Database);
        Assert.False(_starter.TryDownload(plan, 1, folder.At("received")));
    }

    [Fact]
    public void A_plan_that_is_taken_back_leaves_what_it_can_be_continued_with()
    {
        using var folder = new TemporaryFolder();
        File.WriteAllBytes(folder.At("sent"), new byte[10]);
        string other = _starter.Offer(_settings, 1, 1), plan = _starter.Offer(_settings, 1, 2);
        foreach (int number in (int[])[1, 2])
            _agent.Upload(new AgentClaim(plan, new ClientPart(plan, "a", number, 2), _settings, 1), folder.At("sent"));
        _agent.Upload(new AgentClaim(other, new ClientPart(other, "a", 1, 1), _settings, 1), folder.At("sent"));
        _starter.Close(plan, isDone: false);
        Assert.Equal((1, 1), (Count("{}", "agents.files"), Count("{}", "agents.chunks")));
        Assert.Equal(2, _starter.ReadParts(plan, out _).Count);
        _starter.Close(plan, isDone: true);
        Assert.Empty(_starter.ReadParts(plan, out _));
        Assert.Equal(2, Count("{}"));
        Assert.True(_starter.TryDownload(other, 1, folder.At("received")));
    }

    [Fact]
    public void Plans_of_starters_that_were_not_heard_of_for_a_month_are_removed()
    {
        string old = _starter.Offer(_settings, 1, 1), younger = _starter.Offer(_settings, 1, 1);
        MakeOld(old, TimeSpan.FromDays(30.5));
        MakeOld(younger, TimeSpan.FromDays(29.5));
        _starter.Offer(_settings, 1, 1);
        Assert.Empty(_starter.ReadParts(old, out _));
        Assert.Single(_starter.ReadParts(younger, out _));
    }

    [Fact]
    public void A_plan_is_taken_only_while_its_starter_is_heard_of()
    {
        string plan = _starter.Offer(_settings, 1, 1);
        MakeOld(plan, TimeSpan.FromSeconds(Coordinator.LostAfterSeconds + 5));
        Assert.Null(_agent.TryClaim("anna", null, out _));
        _starter.SayStarter(plan);
        Assert.False(_agent.IsStarterGone(plan));
        _starter.Withdraw(plan);
        Assert.Null(_agent.TryClaim("anna", null, out _));
        Assert.True(_agent.IsStarterGone("none"));
    }

    [Fact]
    public void A_round_trip_is_measured_by_the_callers_clock()
    {
        var clock = new ManualClock();
        Assert.Equal(0, _starter.MeasureRoundTrip(clock));
        Assert.InRange(_starter.MeasureRoundTrip(SystemClock.Instance), 0.001, 60_000);
    }

    private Coordinator Connect() => new($"mongodb://127.0.0.1:{Port}", CancellationToken.None);

    private AgentClaim Claim(string name, int? number = null, bool isAgain = false)
    {
        AgentClaim? claim = _agent.TryClaim(name, number, out bool was);
        Assert.NotNull(claim);
        Assert.Equal(isAgain, was);
        return claim;
    }

    private void Change(string id, string change) => Assert.Equal(1, Succeed(
        "{'update': 'agents', 'updates': [{'q': {'_id': '" + id + "'}, 'u': " + change + "}]}", Database).FindInt64("nModified"));

    /// <summary>Lets a sign of life be that old.</summary>
    private void MakeOld(string id, TimeSpan age) =>
        Change(id, "{'$set': {'seen': {'$date': {'$numberLong': '" + (ServerTime() - (long)age.TotalMilliseconds) + "'}}}}");

    private long ServerTime() => Succeed("{'hello': 1}", "admin").FindInt64("localTime")!.Value;

    private int Count(string filter, string collection = "agents") =>
        (int)Succeed("{'count': '" + collection + "', 'query': " + filter + "}", Database).FindInt64("n")!;
}
