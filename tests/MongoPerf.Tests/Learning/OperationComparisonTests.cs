using MongoPerf.Learning.Comparing;
using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Writing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Learning;

/// <summary>What differs by chance alone is no deviation; what is missing always is.</summary>
public sealed class OperationComparisonTests
{
    [Theory]
    [InlineData(40, 0.7, true)]
    [InlineData(40, 0, false)]
    [InlineData(10_000, 0.9, true)]
    [InlineData(10_000, 0.8, false)]
    public void Rates_may_differ_by_what_chance_has_it(int count, double share, bool isWithin) =>
        Assert.Equal(isWithin, Compare(count, share * count / 10, 100).Single(one => one.What == "per second").IsWithin);

    [Theory]
    [InlineData(999, true)]
    [InlineData(1000, false)]
    public void The_p99_of_few_operations_is_only_told(int count, bool isWithin) =>
        Assert.Equal(isWithin, Compare(count, count / 10.0, 300).Single(one => one.What == "p99 (µs)").IsWithin);

    /// <summary>Of 2,000 operations 20 are beyond p99: a few more or less of them, and it is another one.</summary>
    [Theory]
    [InlineData(2_000, 1.16, true)]
    [InlineData(2_000, 2, false)]
    [InlineData(200_000, 1.16, false)]
    public void The_p99_may_differ_by_what_chance_has_it(int count, double times, bool isWithin)
    {
        PhaseOperation operation = ListSource.Mix(ListSource.Of(count, _ => "{\"find\": \"orders\"}").Select((one, i) =>
            one with { Microseconds = 100 - (50 * Math.Log(((i * 7919L % count) + 0.5) / count)) })).Phases[0].Operations[0];
        Assert.Equal(isWithin, Compare(operation, null, new MeasuredOperation(10, count / 10.0, operation.Latency!.P99 * times, null))
            .Single(one => one.What == "p99 (µs)").IsWithin);
    }

    /// <summary>A client sends them as fast as it can, and its server may be much slower.</summary>
    [Theory]
    [InlineData(0.0, true)]
    [InlineData(null, false)]
    public void The_rate_of_unacknowledged_writes_in_a_closed_loop_is_only_told(double? think, bool isWithin)
    {
        var operation = new PhaseOperation(new LearnedOperation("shop", "orders", "insert", 5000), 5000, null);
        Assert.Equal(isWithin, Compare(operation, think, new MeasuredOperation(10, 100, null, null)).Single().IsWithin);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(10_000)]
    public void An_operation_that_a_run_does_not_have_deviates_however_rare_it_is(int count)
    {
        Deviation only = Compare(count, new Dictionary<string, MeasuredOperation>()).Single();
        Assert.Equal((null, false), (only.Scenario, only.IsWithin));
    }

    /// <summary>However long the deployment was watched, a short run has a rate by chance.</summary>
    [Theory]
    [InlineData(0.05, 700, true)]
    [InlineData(0.05, 0, false)]
    [InlineData(10, 700, false)]
    public void The_rate_of_a_short_run_may_differ_by_what_chance_has_it(double seconds, double rate, bool isWithin) => Assert.Equal(
        isWithin,
        Compare(10_000, new Dictionary<string, MeasuredOperation> { ["find orders"] = new(seconds, rate, null, null) }).Single().IsWithin);

    [Fact]
    public void A_phase_that_only_the_run_has_deviates()
    {
        var run = new Dictionary<string, MeasuredOperation> { ["fill"] = new(10, 1, null, null), ["find orders"] = new(10, 3, null, null) };
        Deviation[] all = [.. OperationComparison.OnlyInRun("fill", run)];
        Assert.Equal(["fill", "fill: find orders"], all.Select(one => one.Subject));
        Assert.All(all, one => Assert.Equal((null, false), (one.Deployment, one.IsWithin)));
    }

    /// <summary>What an operation finds, matches and changes says whether it is the same work; how fast it is does not.</summary>
    [Theory]
    // The same, and what chance has it.
    [InlineData("find", 0.8, 0.4, 0.2, null, 300, 0.75, 0.25, null, null)]
    // A delete that never matched, and its copy that does.
    [InlineData("delete", 0, 0, 1.0, null, 400, 0.5, 0.5, null, "documents of an operation")]
    [InlineData("delete", 0, 0, 1.0, null, 400, 0, 1.0, null, null)]
    // A hundred open ones, and all that are done; how many of a hundred a copy has is chance.
    [InlineData("find", 100, 0, 0.0, null, 300, 9904, 0.0, null, "documents of an operation")]
    [InlineData("find", 100, 0, 0.0, null, 300, 120, 0.0, null, null)]
    // Pages of a chat, of other lengths.
    [InlineData("find", 18.6, 4.0, 0.0, null, 500, 6.8, 0.0, null, "documents of an operation")]
    // Misses at another share.
    [InlineData("find", 0.75, 0.43, 0.25, null, 2000, 1, 0.0, null, "documents of an operation")]
    [InlineData("findAndModify", 0.9, 0.3, 0.1, null, 8000, 0.81, 0.19, null, "finds nothing (%)")]
    // Matched as often, and nothing changed.
    [InlineData("update", 1, 0, 0.0, 1.0, 500, 1, 0.0, 0.6, "changes a document (%)")]
    [InlineData("update", 1, 0, 0.0, 1.0, 500, 1, 0.0, 0.0, null)]
    [InlineData("update", 1, 0, 0.0, 0.4, 500, 1, 0.0, 0.61, null)]
    public void What_operations_find_and_change_is_judged(string kind, double documents, double deviation, double nothing, double? modified,
        int count, double run, double runNothing, double? unchanged, string? wrong)
    {
        var operation = new PhaseOperation(new LearnedOperation("shop", "orders", kind, count)
        {
            Replies = new ObservedReplies(count, documents, deviation, nothing, modified, new Dictionary<int, double>()),
        }, count, null);
        Deviation[] all = Compare(operation, null, new MeasuredOperation(10, count / 10.0, null, null)
        {
            Replies = new MeasuredReplies(count, run, runNothing, unchanged),
        });
        Assert.Contains(all, one => one.What == "documents of an operation");
        Assert.Equal(wrong, all.FirstOrDefault(one => !one.IsWithin)?.What);
    }

    /// <summary>Of a tenth of the documents, a tenth may be found or as many, and more often nothing; all else is wrong.</summary>
    [Theory]
    [InlineData(2, 0.0, null)]
    [InlineData(20, 0.0, null)]
    [InlineData(9, 0.3, null)]
    [InlineData(30, 0.0, "documents of an operation")]
    [InlineData(1, 0.0, "documents of an operation")]
    [InlineData(2, 0.0, "documents of an operation", 15)]
    [InlineData(20, 0.0, "finds nothing (%)", null, 0.3)]
    public void What_is_found_of_a_part_of_the_documents_may_grow_with_them(
        double run, double runNothing, string? wrong, int? limit = null, double nothing = 0)
    {
        var operation = new PhaseOperation(new LearnedOperation("shop", "orders", "find", 5000)
        {
            Limit = limit, Replies = new ObservedReplies(5000, 20, 3, nothing, null, new Dictionary<int, double>()),
        }, 5000, null);
        Assert.Equal(wrong, OperationComparison.OfReplies("it", operation, new MeasuredOperation(10, 500, null, null)
        {
            Replies = new MeasuredReplies(5000, run, runNothing, null) { Share = 0.1 },
        }).FirstOrDefault(one => !one.IsWithin)?.What);
    }

    /// <summary>How many documents one value has is drawn once; those of many values are as many on average as they are.</summary>
    [Theory]
    [InlineData(true, true)]
    [InlineData(false, false)]
    public void Chance_explains_the_documents_of_one_value_and_not_of_many(bool isOne, bool isWithin)
    {
        var values = new ObservedValues(new Dictionary<BsonType, long>(), isOne ? 1 : 100, default)
        {
            Few = isOne ? [new(BsonDocument.Of(("v", 7)).First().Value, 400)] : [],
        };
        var operation = new PhaseOperation(new LearnedOperation("shop", "orders", "find", 400)
        {
            Filter = new DocumentShape([new("customer", new ValueShape("customer", ValueRole.Equal, values))], IsArray: false),
            Replies = new ObservedReplies(400, 20, 0, 0, null, new Dictionary<int, double>()),
        }, 400, null);
        Assert.Equal(isWithin, OperationComparison.OfReplies("it", operation, new MeasuredOperation(10, 40, null, null)
        {
            Replies = new MeasuredReplies(400, 10, 0, null),
        }).Single(one => one.What == "documents of an operation").IsWithin);
    }

    /// <summary>Errors by their shares, whichever side has them; inserts that failed are not in the file, so that fewer are told.</summary>
    [Theory]
    [InlineData("update", 0.05, 0.05, null)]
    [InlineData("update", 0.05, 0.0, "fails with 11000 (%)")]
    [InlineData("update", 0.0, 0.05, "fails with 11000 (%)")]
    [InlineData("find", 0.0, 0.004, null)]
    [InlineData("insert", 0.05, 0.0, null)]
    [InlineData("insert", 0.0, 0.05, "fails with 11000 (%)")]
    public void Errors_are_judged_by_their_shares(string kind, double seen, double run, string? wrong)
    {
        var operation = new PhaseOperation(new LearnedOperation("shop", "orders", kind, 4000)
        {
            Replies = new ObservedReplies(4000, 1 - seen, 0.2, 0, null, new Dictionary<int, double> { [11000] = 4000 * seen }),
        }, 4000, null);
        Assert.Equal(wrong, Compare(operation, null, new MeasuredOperation(10, 400, null, null)
        {
            Replies = new MeasuredReplies(4000, 1, 0, null), Tried = 4000, Errors = new Dictionary<int, double> { [11000] = run },
        }).FirstOrDefault(one => !one.IsWithin)?.What);
    }

    /// <summary>An update of many documents says how many it changed, however many it matched.</summary>
    [Theory]
    [InlineData(100, null)]
    [InlineData(9904, "documents changed by an operation")]
    [InlineData(0, "documents changed by an operation")]
    public void What_an_update_of_many_changes_is_judged(double run, string? wrong)
    {
        var operation = new PhaseOperation(new LearnedOperation("shop", "queue", "update", 400)
        {
            IsMany = true, Replies = new ObservedReplies(400, 10_000, 0, 0, 100, new Dictionary<int, double>()),
        }, 400, null);
        Assert.Equal(wrong, Compare(operation, null, new MeasuredOperation(10, 40, null, null)
        {
            Replies = new MeasuredReplies(400, 10_000, 0, 0) { Modified = run },
        }).FirstOrDefault(one => !one.IsWithin)?.What);
    }

    /// <summary>
    /// What a server examines: on average of all operations, or of one that was explained, which is another one by chance.
    /// </summary>
    [Theory]
    [InlineData(100, 3, 104, 1000, null)]
    [InlineData(100, 3, 9904, 1000, "documents examined by an operation")]
    [InlineData(100, 3, 9904, 1, "documents examined by an operation")]
    [InlineData(100, 80, 300, 1, null)]
    [InlineData(100, 80, 300, 1000, "documents examined by an operation")]
    [InlineData(1, 0, 2, 1000, null)]
    [InlineData(0, 0, 2, 1000, null)]
    [InlineData(0, 0, 50, 1000, "documents examined by an operation")]
    public void What_a_server_examines_is_judged(double seen, double deviation, double run, double count, string? wrong)
    {
        var operation = new PhaseOperation(new LearnedOperation("shop", "queue", "find", 1000)
        {
            Replies = new ObservedReplies(1000, 1, 0, 0, null, new Dictionary<int, double>())
            {
                Examined = new ObservedExamined(1000, 1, 0, seen, deviation),
            },
        }, 1000, null);
        Assert.Equal(wrong, Compare(operation, null, new MeasuredOperation(10, 100, null, null)
        {
            Replies = new MeasuredReplies(1000, 1, 0, null), Examined = (1, run, count),
        }).FirstOrDefault(one => !one.IsWithin)?.What);
    }

    /// <summary>Plans are the same if they read by the same indexes, under the file's names.</summary>
    [Theory]
    [InlineData("IXSCAN { customer: 1, at: -1 }", "FETCH > IXSCAN", "CUSTOMER_1_AT_-1", null)]
    [InlineData("IXSCAN { customer: 1, at: -1 }", "FETCH > IXSCAN", "CUSTOMER_1", "reads by CUSTOMER_1_AT_-1 (1: yes)")]
    [InlineData("IXSCAN { customer: 1 }", "COLLSCAN", null, "scans the collection (1: yes)")]
    [InlineData("IXSCAN { a: 1 }, IXSCAN { b.c: 1 }", "FETCH > OR > IXSCAN + IXSCAN", "B.C_1, A_1", null)]
    [InlineData("IDHACK", "EXPRESS_IXSCAN", "_id_", null)]
    [InlineData("EXPRESS_IXSCAN { _id: 1 }", "IDHACK", "_id_", null)]
    [InlineData("COLLSCAN", "COLLSCAN", null, null)]
    [InlineData("IXSCAN { _fts: \"text\", _ftsx: 1 }", "TEXT_MATCH", "it", null)]
    public void Plans_are_judged_by_their_indexes(string seen, string stages, string? index, string? wrong)
    {
        var operation = new PhaseOperation(new LearnedOperation("shop", "orders", "find", 1000) { Plan = seen }, 1000, null);
        Assert.Equal(wrong, Compare(operation, null, new MeasuredOperation(10, 100, null, stages) { Index = index })
            .FirstOrDefault(one => !one.IsWithin)?.What);
    }

    /// <summary>Replies with errors are about no document; what succeeded is compared.</summary>
    [Fact]
    public void Operations_that_failed_are_left_out()
    {
        var operation = new PhaseOperation(new LearnedOperation("shop", "orders", "update", 400)
        {
            Replies = new ObservedReplies(400, 0.5, 0.5, 0, 0.5, new Dictionary<int, double> { [11000] = 200 }),
        }, 400, null);
        Assert.All(Compare(operation, null, new MeasuredOperation(10, 40, null, null) { Replies = new MeasuredReplies(400, 1, 0, 0) }),
            one => Assert.True(one.IsWithin, $"{one}"));
    }

    /// <summary>The file's names; that of _id stays.</summary>
    private static string Upper(string path) => path == "_id" ? path : path.ToUpperInvariant();

    private static List<Deviation> Compare(int count, double rate, double p99) =>
        Compare(count, new Dictionary<string, MeasuredOperation> { ["find orders"] = new(10, rate, p99, null) });

    private static Deviation[] Compare(PhaseOperation operation, double? think, MeasuredOperation run) =>
    [
        .. OperationComparison.Of(new WrittenPhase("learned", new ObservedPhase(10, [operation]) { Think = think }, [(operation, "it")]),
            isNamed: false, areTimesJudged: true, new Dictionary<string, MeasuredOperation> { ["it"] = run }, Upper),
    ];

    private static List<Deviation> Compare(int count, Dictionary<string, MeasuredOperation> run)
    {
        var operation = new PhaseOperation(new LearnedOperation("shop", "orders", "find", count), count, new ObservedLatency(50, 90, 100));
        var phase = new WrittenPhase("learned", new ObservedPhase(10, [operation]), [(operation, "find orders")]);
        return [.. OperationComparison.Of(phase, isNamed: false, areTimesJudged: true, run, Upper)];
    }
}
