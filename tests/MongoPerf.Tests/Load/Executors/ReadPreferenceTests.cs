using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Discovery;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>Which server each of a worker's operations goes to, and what it is told.</summary>
public sealed class ReadPreferenceTests : IDisposable
{
    private static readonly DocumentTemplate Documents = new(DocumentValue.Of(("n", new SequenceValue(NumberKind.Int64, 0, 1))), 42, "c");
    private static readonly ReadPreference Secondary = ReadPreference.Of("secondary");

    private readonly FakeSet _set = new(3);
    private readonly List<WireExecutor> _executors = [];

    public void Dispose()
    {
        foreach (WireExecutor executor in _executors)
            executor.Dispose();
        _set.Dispose();
    }

    [Fact]
    public void A_read_goes_where_its_own_preference_says_and_a_write_to_the_primary()
    {
        WireExecutor executor = Open(0, FakeSet.Settings);
        Run(executor, Find() with
        {
            Concerns = OperationConcerns.Default.Preferring("secondary", [new Dictionary<string, string> { ["n"] = "2" }], 120),
        });
        Run(executor, new InsertDocuments("insert", "c", Documents, 1, true) { Keys = new KeySpace(0) });
        Run(executor, Find());
        BsonDocument asked = Assert.Single(_set[2].Heard, command => command.First().Key == "find");
        Assert.Equal(("secondary", "2", 120), (asked.FindString("$readPreference.mode"), asked.FindString("$readPreference.tags.0.n"),
            asked.FindInt64("$readPreference.maxStalenessSeconds")));
        Assert.Equal((1, 1, 0), (_set[0].Count("insert"), _set[0].Count("find"), _set[1].Count("find")));
        Assert.Null(_set[0].Heard.Last().Find("$readPreference"));
    }

    [Fact]
    public void Reads_without_a_preference_have_the_connection_strings()
    {
        WireExecutor executor = Open(1, FakeSet.Settings with { ReadPreference = Secondary });
        string? member = Run(executor, Find());
        Assert.Equal($"{_set[Behind(1)].Address}", member);
        Assert.Equal("secondary", _set[Behind(1)].Heard.Last().FindString("$readPreference.mode"));
        Run(executor, Find() with { Concerns = OperationConcerns.Default.Preferring("primary") });
        Assert.Equal(1, _set[0].Count("find"));
        Run(executor, new CountDocuments("count", "c", DocumentValue.Of()));
        Assert.Equal(1, _set[Behind(1)].Count("count"));
    }

    [Theory]
    [InlineData("$out", true)]
    [InlineData("$merge", true)]
    [InlineData("$match", false)]
    public void An_aggregation_that_writes_goes_to_the_primary(string stage, bool isForPrimary)
    {
        var pipeline =
            DocumentValue.Array([DocumentValue.Of(("$match", DocumentValue.Of())), DocumentValue.Of((stage, DocumentValue.Of()))]);
        Run(Open(0, FakeSet.Settings with { ReadPreference = Secondary }), new AggregateDocuments("aggregate", "c", pipeline));
        Assert.Equal(isForPrimary ? 1 : 0, _set[0].Count("aggregate"));
    }

    [Fact]
    public void Each_command_of_a_sequence_goes_its_own_way()
    {
        var update = new UpdateDocuments("update", "c", DocumentValue.Of(), DocumentValue.Of(("$set", DocumentValue.Of())));
        Run(Open(0, FakeSet.Settings with { ReadPreference = Secondary }), new OperationSequence("both", "c", [Find(), update]));
        Assert.Equal((1, 1), (_set[0].Count("update"), _set[Behind(0)].Count("find")));
    }

    [Fact]
    public void Preferences_that_lead_to_one_server_share_a_connection()
    {
        ServerAddress primary = _set[0].Address;
        using var executor = new WireExecutor(_ => primary, FakeSet.Settings, "d") { Preferences = [ReadPreference.Primary, Secondary] };
        executor.Connect();
        Assert.Same(executor.RouteOf(ReadPreference.Primary).Connection, executor.RouteOf(Secondary).Connection);
        Assert.Same(executor.RouteOf(ReadPreference.Primary).Connection, executor.RouteOf(ReadPreference.Of("nearest")).Connection);
    }

    [Fact]
    public void A_worker_that_only_reads_from_secondaries_needs_no_primary()
    {
        _set[0].IsPrimary = false;
        Operation find = Find() with { Concerns = OperationConcerns.Default.Preferring("secondary") };
        IReadOnlyCollection<ReadPreference> needed = WireExecutor.PreferencesOf([find], ReadPreference.Primary);
        Assert.Equal([Secondary], needed);
        Assert.Equal([Secondary, ReadPreference.Primary],
            WireExecutor.PreferencesOf([find, Find(), find with { Name = "again" }], ReadPreference.Primary));
        Assert.NotNull(Run(Open(0, FakeSet.Settings, needed), find));
        Assert.Throws<NoServerException>(() => Open(0, FakeSet.Settings));
    }

    [Fact]
    public void After_a_failure_each_server_is_chosen_anew()
    {
        WireExecutor executor = Open(0, FakeSet.Settings with { ReadPreference = Secondary, HeartbeatFrequency = TimeSpan.Zero });
        IPreparedOperation find = executor.Prepare(Find(), new OperationContext(42, 0, null));
        FakeSet.Member first = _set[Behind(0)];
        Assert.Equal($"{first.Address}", Execute(find));
        first.IsAway = true;
        Assert.Throws<ConnectionFailedException>(() => find.Execute());
        Assert.Equal($"{first.Address}", find.Member);
        // Nothing is known to be too old within the same tick of the clock.
        Eventually.Is(() => TryConnect(executor));
        Assert.Equal($"{_set[Behind(1)].Address}", Execute(find));
    }

    [Fact]
    public void A_document_that_a_secondary_has_not_got_yet_is_no_wrong_one()
    {
        FindDocuments byKey = Find() with { Expected = Documents, IsOfKey = true, Chooser = new UniformKeys(new KeySpace(10)) };
        Assert.Equal(new VerificationOutcome(1, 1), Verify(byKey));
        Assert.Equal(new VerificationOutcome(0, 0), Verify(byKey with { Concerns = OperationConcerns.Default.Preferring("nearest") }));

        VerificationOutcome Verify(Operation operation)
        {
            IPreparedOperation prepared = Open(0, FakeSet.Settings).Prepare(operation, new OperationContext(42, 0, null));
            Execute(prepared);
            return prepared.Verify();
        }
    }

    private static FindDocuments Find() => new("find", "c", DocumentValue.Of());

    /// <summary>The secondary of a worker.</summary>
    private int Behind(int worker)
    {
        int[] byAddress = [.. Enumerable.Range(1, 2).OrderBy(i => $"{_set[i].Address}", StringComparer.Ordinal)];
        return byAddress[worker % 2];
    }

    private static bool TryConnect(WireExecutor executor)
    {
        try
        {
            executor.Connect();
            return true;
        }
        catch (ConnectionFailedException)
        {
            return false;
        }
    }

    private WireExecutor Open(int worker, ConnectionSettings settings, IReadOnlyCollection<ReadPreference>? needed = null)
    {
        var servers = new ServerDirectory(_set.Addresses, settings);
        var executor = new WireExecutor(preference => servers.Select(preference, worker), settings,
            "d") { Preferences = needed ?? [ReadPreference.Primary] };
        _executors.Add(executor);
        executor.Connect();
        return executor;
    }

    private static string? Run(WireExecutor executor, Operation operation) =>
        Execute(executor.Prepare(operation, new OperationContext(42, 0, null)));

    private static string? Execute(IPreparedOperation operation)
    {
        Assert.True(operation.Draw());
        Assert.True(operation.Execute().Succeeded);
        return operation.Member;
    }
}
