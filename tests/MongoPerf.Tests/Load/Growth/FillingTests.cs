using MongoPerf.Load.Documents;
using MongoPerf.Load.Growth;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Tests.Load.Growth;

/// <summary>How the result of writing follows from what was sent and what is there.</summary>
public sealed class FillingTests : IDisposable
{
    private static readonly PlanCollection Series = new()
    {
        Name = "series", Count = 0, Documents = new DocumentTemplate(DocumentValue.Empty, 42, "series"),
    };

    private GrowthHarness _run = new();

    public void Dispose() => _run.Dispose();

    [Fact]
    public void Acknowledged_inserts_without_failures_are_not_read_back()
    {
        OperationResult result = Settle("{w: 1}", 10, _ => Scripted.Ok() with { Arrives = false });
        Assert.Equal(0, result.Repaired);
        Assert.Empty(_run.Data.Numbers("series"));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(3)]
    [InlineData(100)]
    public void Unacknowledged_inserts_are_counted_by_what_arrived(int lost)
    {
        OperationResult result = Settle("{w: 0}", 100, i => Scripted.Ok() with { Arrives = i >= lost });
        Assert.Equal((100, 100 - lost, lost), (result.Unacknowledged!.Sent, result.Unacknowledged.Arrived, result.Unacknowledged.Lost));
        Assert.Equal(lost, result.Repaired);
        Assert.Equal((100 - lost) / 0.1, result.DocumentsPerSecond, 6);
        Assert.Equal((100 - lost) / 0.1 * 1024 / 1e6, result.MegabytesPerSecond, 6);
        Assert.Equal(100, _run.Data.Numbers("series").Count);
        Assert.Equal(lost == 0 ? 0 : 1, _run.Heard.Troubles.Count());
    }

    [Fact]
    public void What_was_never_sent_is_repaired_but_not_lost()
    {
        // 5 sends break before anything leaves, 2 that are sent do not arrive.
        OperationResult result = Settle(
            "{w: 0}", 100, i => i % 20 == 0 ? Scripted.Broken() : Scripted.Ok() with { Arrives = i is not (7 or 8) });
        Assert.Equal((95, 93, 2), (result.Unacknowledged!.Sent, result.Unacknowledged.Arrived, result.Unacknowledged.Lost));
        Assert.Equal(7, result.Repaired);
        Assert.Equal(100, _run.Data.Numbers("series").Count);
    }

    [Fact]
    public void The_fence_is_part_of_the_rate_of_unacknowledged_inserts()
    {
        OperationResult result = Settle("{w: 0}", 100, _ => Scripted.Ok(), fenceSeconds: 0.3);
        Assert.Equal(0.3, result.Unacknowledged!.DrainSeconds);
        Assert.Equal(250, result.DocumentsPerSecond, 6);
    }

    [Fact]
    public void A_repair_writes_only_the_holes()
    {
        foreach (long number in new long[] { 0, 1, 4, 9 })
            _run.Data.Insert("series", number);
        _run.WithContext(context =>
        {
            Assert.Equal(6, new Filling(context).Repair(Series, new NumberRange(0, 10)));
            Assert.Equal([new NumberRange(2, 4), new NumberRange(5, 9)], _run.Data.Written);
            Assert.Equal(0, new Filling(context).Repair(Series, new NumberRange(0, 10)));
        });
    }

    [Fact]
    public void A_repair_looks_again_and_gives_up_after_five_rounds()
    {
        _run.Data.ForgetsWrites = true;
        _run.WithContext(context =>
        {
            var e = Assert.Throws<MongoPerfException>(() => new Filling(context).Repair(Series, new NumberRange(1000, 1003)));
            Assert.Equal("series: documents are still missing between 1,000 and 1,002 after 5 repairs", e.Message);
        });
        Assert.Equal(5, _run.Data.Written.Count);
        Assert.Single(_run.Heard.Events);
    }

    /// <summary>It may be one that arrived between look and write.</summary>
    [Fact]
    public void A_document_whose_id_is_there_already_is_looked_for_once_more()
    {
        _run.Data.Duplicate = "E11000 duplicate key error collection: perf.c index: _id_ dup key: { _id: 7 }";
        _run.Data.Twice.Add(1001);
        _run.WithContext(context =>
            Assert.Throws<RefusedDocumentsException>(() => new Filling(context).Repair(Series, new NumberRange(1000, 1003))));
        Assert.Equal([3L, 1], _run.Data.Written.Select(range => range.Count));
    }

    [Fact]
    public void A_document_that_a_unique_index_refuses_is_named_after_one_repair()
    {
        _run.Data.Twice.Add(1001);
        _run.WithContext(context =>
        {
            var e = Assert.Throws<RefusedDocumentsException>(() => new Filling(context).Repair(Series, new NumberRange(1000, 1003)));
            Assert.Equal("series: 1 document can't be stored: E11000 duplicate key error collection: perf.c index: u_1 dup key: { u: 7 }",
                e.Message);
        });
        Assert.Single(_run.Data.Written);
    }

    [Theory]
    [InlineData("{w: 1}", null)]
    [InlineData("{w: 0}", 98L)]
    public void Documents_that_a_unique_index_refuses_are_accepted_as_far_as_errors_may_be(string concern, long? arrived)
    {
        OperationResult result = Settle(concern, 100, i => i is 3 or 4 ? Refused(concern) : Scripted.Ok(), twice: [3, 4]);
        Assert.Equal(0, result.Repaired);
        Assert.Equal(arrived, result.Unacknowledged?.Arrived);
        Assert.Equal(98, _run.Data.Numbers("series").Count);

        static Scripted Refused(string concern) =>
            concern == "{w: 0}" ? Scripted.Ok() with { Arrives = false } : Scripted.Refused(11000, "DuplicateKey", "E11000");
    }

    /// <summary>They would push out others, and be written again for ever.</summary>
    [Fact]
    public void What_the_server_removes_by_itself_is_not_written_again()
    {
        PlanCollection capped = Series with { Options = BsonDocument.Of(("capped", true), ("size", 1000)) };
        _run.WithContext(context => Assert.Equal(0, new Filling(context).Repair(capped, new NumberRange(0, 10))));
        Assert.Empty(_run.Data.Written);
    }

    [Fact]
    public void A_collection_that_was_left_in_the_middle_is_whole_below_where_writing_goes_on()
    {
        foreach (long number in new long[] { 0, 1, 2, 5, 7 })
            _run.Data.Insert("series", number);
        _run.WithContext(context => Assert.Equal(8, new Filling(context).FindWholeEnd(Series, 2)));
        Assert.Equal([new NumberRange(3, 5), new NumberRange(6, 7)], _run.Data.Written);
        _run.Dispose();
        _run = new GrowthHarness();
        // Nothing beyond what was durable.
        _run.WithContext(context => Assert.Equal(2, new Filling(context).FindWholeEnd(Series, 2)));
    }

    private OperationResult Settle(
        string writeConcern, long documents, Func<int, Scripted> script, double fenceSeconds = 0, params long[] twice)
    {
        _run = new GrowthHarness
        {
            MaxErrors = twice.Length,
            Text = $"data: {{series: {{document: {{n: ^number}}}}}}\nphases:\n"
                + $"  - {{grow: series, to: {documents}, step: {documents}, writes: [{{name: w, writeConcern: {writeConcern}}}]}}\n",
        };
        _run.Data.Twice.UnionWith(twice);
        Assert.True(_run.RunWith(script, int.MaxValue, fenceSeconds));
        return _run.Records.Single().Operations.Single();
    }
}
