using System.Reflection;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>What workers count is added up once, whatever it is that they count, and forgotten whole.</summary>
public sealed class CountersTests
{
    /// <summary>Any number that is counted, now or by a later version, has its place in sums.</summary>
    [Fact]
    public void Every_number_and_every_latency_is_added_and_forgotten()
    {
        Counters one = Counted(1), other = Counted(1000), sum = All();
        sum.Add(one);
        Assert.Equal(Leaves(one).Where(leaf => leaf.Name != ClientLateness), Leaves(sum).Where(leaf => leaf.Name != ClientLateness));
        sum.Add(other);
        // How long the slowest lasted is the greater one; lateness of the client itself is added for whole phases only.
        Assert.Equal(
            Leaves(one).Zip(Leaves(other), (a, b) => (a.Name, Value: a.Name == ClientLateness ? 0
                : a.Name.EndsWith("LongestNanoseconds", StringComparison.Ordinal) ? Math.Max(a.Value, b.Value) : a.Value + b.Value)),
            Leaves(sum));
        Assert.All(Leaves(one), leaf => Assert.True(leaf.Value > 0, leaf.Name));
        one.Clear();
        Assert.All(Leaves(one), leaf => Assert.True(leaf.Value == 0, leaf.Name));
    }

    [Fact]
    public void Of_a_whole_phase_the_clients_own_lateness_is_added_too()
    {
        Counters one = new(isPaced: true);
        one.Paced!.ClientLateness.RecordNanoseconds(5_000_000);
        Assert.Equal(2, Counters.Sum([one, one], SeriesFile.Find("q4"), isPaced: true).Paced!.ClientLateness.TotalCount);
    }

    [Fact]
    public void Steps_are_timed_where_they_succeed_and_counted_where_they_fail()
    {
        var log = new StepLog { Committed = 1, Aborted = 2, RolledBack = 3, Retried = 4, CommitRetried = 5, Unknown = 6, RetryTicks = 7 };
        log.TransactionTicks = 8;
        log.Add(0, 2000, succeeded: true);
        log.Add(1, 9000, succeeded: false);
        log.Add(1, 5000, succeeded: true);
        var counters = new StepCounters(2);
        counters.Add(log, 1000);
        counters.Add(log, 1000);
        Assert.Equal([(2L, 0L), (2L, 2L)], counters.Each.Select(step => (step.Operations, step.Failed)));
        Assert.Equal(2_000, counters.Each[0].Service.Maximum!.Value, 20.0);
        Assert.Equal(5_000, counters.Each[1].Service.Maximum!.Value, 50.0);
        Assert.Equal(
            (2L, 4L, 6L, 8L, 10L, 12L, 14L, 16L),
            (counters.Committed, counters.Aborted, counters.RolledBack, counters.Retried, counters.CommitRetried, counters.Unknown,
                counters.RetryTicks, counters.TransactionTicks));
    }

    /// <summary>What was recorded of a reply is timed where it succeeds now, or fails as it did.</summary>
    [Fact]
    public void A_reply_counts_under_its_first_difference_and_the_first_of_each_kind_is_kept()
    {
        var counters = new ReplyCounters();
        counters.Add(new ReplyComparison(false, Facts(1), Facts(2), 1000));
        counters.Add(Reply(Facts(0, 3, 30), Facts(0, 3, 30)));
        counters.Add(Reply(Facts(0, 3, 30), Facts(0, 3, 30)) with { HasOtherContent = true });
        counters.Add(Reply(Facts(0, 3, 30), Facts(0, 3, 31)) with { HasOtherContent = true });
        counters.Add(Reply(Facts(0, 3, 30), Facts(0, 4, 40)));
        counters.Add(Reply(Facts(11000, 3, 30), Facts(0, 4, 40)));
        counters.Add(Reply(Facts(0, 3, 30), Facts(13, 0, 0)));
        counters.Add(Reply(Facts(26), Facts(26)));
        counters.Add(Reply(Facts(0, 3), Facts(0, 3)) with { Modified = (2, 2) });
        counters.Add(Reply(Facts(0, 3), Facts(0, 3)) with { Modified = (2, 1), HasOtherContent = true });
        counters.Add(Reply(Facts(0, 3), Facts(0, 2)) with { Modified = (2, 1) });
        var sum = new ReplyCounters();
        counters.AddTo(sum);
        counters.Add(Reply(Facts(0, 7, 70), Facts(0, 9, 90)));
        counters.AddTo(sum);
        ReplayResult result = sum.ToResult();
        Assert.Equal((21, 4, 5, 2, 2, 2),
            (result.Compared, result.Codes, result.Counts, result.Modified, result.Sizes, result.Contents));
        Assert.Equal(13, result.Different);
        Assert.Equal(
            (new ReplayPair(11000, 0), new ReplayPair(3, 4), new ReplayPair(2, 1), new ReplayPair(30, 31)),
            (result.FirstCode, result.FirstCount, result.FirstModified, result.FirstSize));
        // All but the one that fails now and did not then.
        Assert.Equal(19, sum.Recorded.TotalCount);
        Assert.Null(new ReplyCounters().ToResult().RecordedMicroseconds);

        static ReplyFacts Facts(int code, long documents = 0, long bytes = 0) => new(code, documents, bytes);

        static ReplyComparison Reply(ReplyFacts recorded, ReplyFacts now) => new(true, recorded, now, 1000);
    }

    [Fact]
    public void Who_writes_begins_when_all_who_watch_are_ready()
    {
        var watch = new PhaseGroup
        {
            Threads = 1, Operations = [new(new WatchChanges("watch", "series", SeriesFile.Documents()), 1)],
        };
        var write = new PhaseGroup { Threads = 1, Operations = [new(SeriesFile.Find("q4"), 1)] };
        using var writes = new PhaseWrites(
            new Phase { Name = "p", Groups = [watch, watch with { Threads = 2 }, write] }, new Dictionary<string, KeySpace>(), null);
        var ended = new CancellationToken(canceled: true);
        Assert.False(writes.Await(write, ended));
        Assert.True(writes.Await(watch, ended));
        Assert.False(writes.Await(write, ended));
        Assert.True(writes.Await(watch, ended));
        Assert.True(writes.Await(write, ended));
    }

    private const string ClientLateness = "Paced.ClientLateness";

    private static Counters All() => new(isPaced: true, steps: 2, watches: true, isRecorded: true);

    /// <summary>Numbers that all differ.</summary>
    private static Counters Counted(long from)
    {
        Counters counters = All();
        Visit(counters, "", (owner, field, _) => field.SetValue(owner, from++), (histogram, _) =>
        {
            for (from++; histogram.TotalCount < from;)
                histogram.RecordNanoseconds(1_000_000);
        });
        return counters;
    }

    private static List<(string Name, long Value)> Leaves(Counters counters)
    {
        var leaves = new List<(string, long)>();
        Visit(counters, "", (owner, field, name) => leaves.Add((name, (long)field.GetValue(owner)!)),
            (histogram, name) => leaves.Add((name, histogram.TotalCount)));
        return leaves;
    }

    private static void Visit(
        object owner, string path, Action<object, FieldInfo, string> onNumber, Action<LatencyHistogram, string> onHistogram)
    {
        foreach (FieldInfo field in owner.GetType().GetFields(BindingFlags.Instance | BindingFlags.Public))
        {
            if (field.FieldType == typeof(long))
            {
                onNumber(owner, field, path + field.Name);
            }
            else if (field.GetValue(owner) is InFlight inFlight)
            {
                object boxed = inFlight;
                Visit(boxed, path + field.Name + ".", onNumber, onHistogram);
                field.SetValue(owner, boxed);
            }
        }

        foreach (PropertyInfo property in owner.GetType().GetProperties())
        {
            string name = path + property.Name;
            if (property.GetValue(owner) is LatencyHistogram histogram)
                onHistogram(histogram, name);
            else if (property.GetValue(owner) is IEnumerable<Counters> several)
                Assert.All(several.Index(), one => Visit(one.Item, $"{name}{one.Index}.", onNumber, onHistogram));
            else if (property.PropertyType.Namespace == typeof(Counters).Namespace && property.GetValue(owner) is { } part)
                Visit(part, name + ".", onNumber, onHistogram);
        }
    }
}
