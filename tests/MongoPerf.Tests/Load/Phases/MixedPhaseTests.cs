using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>A phase of several operations: each is counted, timed and tallied by itself.</summary>
public sealed class MixedPhaseTests : PhaseTest
{
    private static readonly Operation Read = new FindDocuments("read", "c", DocumentValue.Empty);
    private static readonly Operation Update = new UpdateDocuments("update", "c", DocumentValue.Empty, DocumentValue.Empty);

    [Fact]
    public void Operations_are_drawn_by_their_weights_and_counted_apart()
    {
        GroupResult result = Run(Mix(95, 5) with { Count = 20_000, Threads = 3 }, _ => Scripted.Ok());
        Assert.Equal(["read", "update"], result.Parts.Select(p => p.Operation.Name));
        Assert.Equal(20_000, result.Parts.Sum(p => p.Operations));
        // Chi-square of one degree of freedom; 15 is exceeded once in ten thousand.
        double[] expected = [19_000, 1_000];
        Assert.InRange(result.Parts.Zip(expected).Sum(p => Math.Pow(p.First.Operations - p.Second, 2) / p.Second), 0, 15);
        Assert.Equal(result.Operations, result.Parts.Sum(p => p.Service.TotalCount));
        Assert.Equal(20_000, result.Accounting.Scheduled);
        Assert.Equal(20_000, result.ThreadOperations.Sum());
        Assert.Equal(3, result.ThreadOperations.Count);
    }

    [Fact]
    public void Operations_of_one_name_on_several_collections_are_counted_together()
    {
        WeightedOperation[] mix =
        [
            new(Read, 3), new(Update, 1), new(Read with { Collection = "d" }, 3), new(Update with { Collection = "d" }, 1),
        ];
        GroupResult result = Run(Mix(1, 1) with { Operations = mix, Count = 8000 }, _ => Scripted.Ok());
        Assert.Equal(["read", "update"], result.Parts.Select(p => p.Operation.Name));
        Assert.Equal(8000, result.Parts.Sum(p => p.Operations));
        // Five standard deviations of 8,000 draws with a share of three quarters.
        Assert.InRange(result.Parts[0].Operations, 5806, 6194);
        Assert.All(result.Parts, p => Assert.Equal(p.Operations, p.Service.TotalCount));
    }

    [Theory]
    [InlineData(null)]
    [InlineData(200.0)]
    public void The_latencies_of_an_intervals_operations_together_are_those_of_their_histograms(double? rate)
    {
        Run(Mix(3, 1) with { Seconds = 3.5, Rate = rate is { } perSecond ? perSecond : null },
            i => Scripted.Ok((1 + (i * 7 % 13)) * MillisecondSeconds));
        Assert.True(Log.Intervals.Count > 2);
        foreach (LoggedInterval interval in Log.Intervals)
        {
            var sum = new LatencyHistogram();
            foreach (Sample sample in interval.Samples.Where(sample => !sample.ReportedHistogram.IsEmpty))
                HistogramEncoding.DecodeInto(sum, sample.ReportedHistogram.Span);
            Assert.Equal(GroupLatency.Of(sum), interval.Samples[0].OfGroup);
            Assert.All(interval.Samples.Skip(1), sample => Assert.Null(sample.OfGroup));
        }
    }

    [Fact]
    public void A_single_operation_has_no_latencies_of_several_together()
    {
        Run(Queries with { Count = 100 }, _ => Scripted.Ok());
        Assert.All(Log.Intervals, interval => Assert.Null(interval.Samples[0].OfGroup));
    }

    [Fact]
    public void Errors_are_those_of_the_operation_that_failed()
    {
        var refused = new HashSet<int>();
        ScriptedExecutor? executor = null;
        GroupResult result = Run(Mix(1, 1) with { Count = 100 }, () => executor = new ScriptedExecutor(
            Clock, i => i % 10 == 0 && refused.Add(i) ? Scripted.Refused(11000, "DuplicateKey", $"number {i}") : Scripted.Ok()));
        Assert.NotNull(executor);
        Assert.Equal(10, result.Parts.Sum(p => p.Failed));
        Assert.All(result.Parts, p => Assert.Equal(p.Failed, p.Errors.Sum(e => e.Count)));
        Assert.Equal(10, Assert.Single(result.Errors).Count);
        Assert.Equal(0, result.Accounting.Skipped);
    }

    [Fact]
    public void Intervals_tell_what_came_of_each_operation()
    {
        GroupResult result = Run(Mix(3, 1) with { Seconds = 3 }, _ => Scripted.Ok());
        Assert.All(Log.Intervals, i => Assert.Equal(["read", "update"], i.Samples.Select(s => s.Operation)));
        Assert.Equal(result.Operations, Log.Intervals.Sum(i => i.Recorded));
    }

    /// <summary>What reads bring back makes no collection larger.</summary>
    [Fact]
    public void Intervals_tell_how_many_documents_were_inserted()
    {
        Operation insert = new InsertDocuments("insert", "c", new DocumentTemplate(DocumentValue.Empty, 42, "c"), 1,
            Ordered: true) { Keys = new KeySpace(0) };
        GroupPlan plan = Queries with { Operations = [new(Read, 3), new(insert, 1)], CollectionDocuments = 1000, Seconds = 2 };
        GroupResult result = Run(plan, _ => Scripted.Ok());
        OperationCount inserts = Assert.Single(result.Parts, p => p.Operation.Inserts);
        Assert.True(inserts.Documents is > 0 && result.AllDocuments > inserts.Documents);
        Assert.Equal(1000 + inserts.Documents, Log.Intervals[^1].CollectionDocuments);
    }

    [Fact]
    public void Same_seed_draws_the_same_operations()
    {
        long[] first = [.. Run(Mix(1, 1) with { Count = 1000 }, _ => Scripted.Ok()).Parts.Select(p => p.Operations)];
        long[] second = [.. Run(Mix(1, 1) with { Count = 1000 }, _ => Scripted.Ok()).Parts.Select(p => p.Operations)];
        long[] other = [.. Run(Mix(1, 1) with { Count = 1000, Seed = 43 }, _ => Scripted.Ok()).Parts.Select(p => p.Operations)];
        Assert.Equal(first, second);
        Assert.NotEqual(first, other);
    }

    private static GroupPlan Mix(double reads, double updates) => new()
    {
        Name = "mix",
        Operations = [new(Read, reads), new(Update, updates)],
        Threads = 1,
        Seed = 42,
    };
}
