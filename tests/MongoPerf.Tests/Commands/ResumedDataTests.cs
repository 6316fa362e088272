using MongoPerf.Deployments;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Growth;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Tests.Load.Growth;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Commands;

/// <summary>What must be on the server before an interrupted run continues.</summary>
public sealed class ResumedDataTests : IDisposable
{
    private const string Growing = "data: {users: {document: {n: ^number}}}\n"
        + "phases: [{grow: users, to: 20, step: 10, writes: [{name: one, share: 1, batch: 1}]}]\n";
    private const string Loaded = GrowthHarness.Users
        + "phases:\n  - {load: users, batch: 1}\n  - {name: mix, count: 50, operations: [{find: users, key: uniform}]}\n";

    private static readonly ResumedPlace Place = new("1-a", "mine", "perf", "b:27017", "a:27017", IsExisting: false);

    private GrowthHarness? _run;

    public void Dispose() => _run?.Dispose();

    [Fact]
    public void A_growth_vouches_for_its_last_checkpoint_and_no_more()
    {
        VouchedDocuments vouched = Assert.Single(Interrupt(Growing, at: 15));
        Assert.Equal(("users", 10L, false), (vouched.Collection.Name, vouched.Documents, vouched.MayHaveShrunk));
        Assert.Empty(Interrupt(Growing, at: 5));
    }

    [Fact]
    public void A_finished_load_vouches_for_its_documents()
    {
        Assert.Equal((100L, false), Told(Interrupt(Loaded, at: 110)));
        Assert.Empty(Interrupt(Loaded, at: 50));
    }

    [Theory]
    [InlineData("{users: {count: 100, document: {n: ^number}}}", "{delete: users, key: uniform}")]
    [InlineData("{users: {count: 100, document: {n: ^number}, options: {capped: true, size: 4096}}}", "{find: users, key: uniform}")]
    [InlineData("{users: {count: 100, document: {n: ^number}, indexes: [{key: {n: 1}, expireAfterSeconds: 60}]}}",
        "{find: users, key: uniform}")]
    public void Documents_that_may_be_gone_by_right_are_not_counted(string data, string operation) =>
        Assert.Equal((100L, true), Told(Interrupt(
            $"data: {data}\nphases:\n  - {{load: users, batch: 1}}\n  - {{name: mix, count: 50, operations: [{operation}]}}\n", at: 110)));

    [Fact]
    public void A_collection_that_is_whole_lets_the_run_continue()
    {
        IReadOnlyList<VouchedDocuments> vouched = Interrupt(Loaded, at: 110);
        Mark(documents: 100);
        ResumedData.Require(_run!.Data, vouched, Place);
        Mark(documents: 100, token: null);
        ResumedData.Require(_run.Data, vouched, Place);
    }

    [Fact]
    public void An_empty_server_is_refused_with_what_is_needed_and_where_the_run_was()
    {
        IReadOnlyList<VouchedDocuments> vouched = Interrupt(Growing, at: 15);
        UserException e = Assert.Throws<UserException>(() => ResumedData.Require(new MemoryData(new ManualClock()), vouched, Place));
        Assert.Equal(ExitCode.Refused, e.Code);
        Assert.Equal(
            "perf.users on b:27017 does not exist; to continue, run 1-a needs the 10 documents that were there when it was interrupted",
            e.Message);
        Assert.Equal("the run was on a:27017: resume it there", e.Hint);
    }

    [Theory]
    [InlineData("2-b", "mine", 100, "now belongs to run 2-b;")]
    [InlineData("1-a", "other", 100, "now belongs to another run of this name;")]
    [InlineData("1-a", "mine", 99, "holds 99 documents according to its marker;")]
    [InlineData(null, null, 0, "was not created by MongoPerf;")]
    public void A_marker_of_something_else_is_refused(string? run, string? token, long documents, string found)
    {
        IReadOnlyList<VouchedDocuments> vouched = Interrupt(Loaded, at: 110);
        if (run is not null)
            _run!.Data.Markers["users"] = new CollectionMarker(42, "", run, documents, IsGrown: false) { Token = token };
        AssertRefused(vouched, found);
    }

    [Fact]
    public void Another_run_may_have_continued_a_growth()
    {
        IReadOnlyList<VouchedDocuments> vouched = Interrupt(Growing, at: 15);
        Assert.True(Assert.Single(vouched).Collection.IsGrown);
        _run!.Data.Markers["users"] = new CollectionMarker(42, "", "2-b", 15, IsGrown: true);
        ResumedData.Require(_run.Data, vouched, Place);
    }

    [Fact]
    public void Documents_that_are_gone_under_a_good_marker_are_refused()
    {
        IReadOnlyList<VouchedDocuments> vouched = Interrupt(Loaded, at: 110);
        Mark(documents: 100);
        _run!.Data.Remove("users", 7);
        AssertRefused(vouched, "holds 99 documents;");
        // One beyond the load makes up for it in the count.
        _run.Data.Insert("users", 100);
        AssertRefused(vouched, "holds 100 documents, but not number 7;");
    }

    [Fact]
    public void Existing_data_need_only_be_there()
    {
        IReadOnlyList<VouchedDocuments> vouched = Interrupt(Loaded, at: 110);
        ResumedPlace place = Place with { IsExisting = true };
        _run!.Data.Markers["users"] = new CollectionMarker(42, "", "2-b", 10, IsGrown: false);
        _run.Data.Remove("users", 7);
        ResumedData.Require(_run.Data, vouched, place);
        for (long number = 0; number < 100; number++)
            _run.Data.Remove("users", number);
        Assert.Contains("holds 0 documents;",
            Assert.Throws<UserException>(() => ResumedData.Require(_run.Data, vouched, place)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_data_folder_that_is_gone_is_told()
    {
        using var folder = new TemporaryFolder();
        var data = new RunDataFolder(folder.At("run"), "mine");
        UserException e = Assert.Throws<UserException>(() => ResumedData.RequireFolder(data, "1-a"));
        Assert.Equal((ExitCode.Refused, $"{data.Path} does not exist, but run 1-a kept its server's data there"), (e.Code, e.Message));
        Directory.CreateDirectory(data.Path);
        ResumedData.RequireFolder(data, "1-a");
    }

    /// <summary>Found by a review: exit code 6 for a growth that had gone on without two documents.</summary>
    [Fact]
    public void What_a_unique_index_refused_is_not_looked_for()
    {
        IReadOnlyList<VouchedDocuments> vouched = Interrupt(Growing, at: 15, refused: [3, 9]);
        Mark(documents: 10);
        ResumedData.Require(_run!.Data, vouched, Place);
        _run.Data.Remove("users", 7);
        AssertRefused(vouched, "holds 13 documents, but not number 7;");
    }

    /// <summary>Found by a review: a client of several knew only the documents that were refused to itself, and was not resumed.</summary>
    [Fact]
    public void What_a_unique_index_refused_to_other_clients_is_not_looked_for()
    {
        IReadOnlyList<VouchedDocuments> vouched = Interrupt(Growing, at: 15);
        Mark(documents: 10);
        _run!.Data.Remove("users", 3);
        AssertRefused(vouched, "holds 15 documents, but not number 3;");
        _run.Data.Markers["users"] = _run.Data.Markers["users"] with { Refused = [NumberRange.Of(3)] };
        ResumedData.Require(_run.Data, vouched, Place);
    }

    private static (long Documents, bool MayHaveShrunk) Told(IReadOnlyList<VouchedDocuments> vouched) =>
        (vouched.Single().Documents, vouched.Single().MayHaveShrunk);

    private void AssertRefused(IReadOnlyList<VouchedDocuments> vouched, string found) =>
        Assert.Contains($"perf.users on b:27017 {found}",
            Assert.Throws<UserException>(() => ResumedData.Require(_run!.Data, vouched, Place)).Message, StringComparison.Ordinal);

    private void Mark(long documents, string? token = "mine") =>
        _run!.Data.Markers["users"] = new CollectionMarker(42, "", Place.RunId, documents, IsGrown: false) { Token = token };

    /// <param name="text">A scenario.</param>
    /// <param name="at">The operation at which Ctrl+C comes.</param>
    /// <param name="refused">Documents that a unique index refuses.</param>
    private IReadOnlyList<VouchedDocuments> Interrupt(string text, int at, params long[] refused)
    {
        _run?.Dispose();
        _run = new GrowthHarness { Text = text, MaxErrors = refused.Length };
        _run.Data.Twice.UnionWith(refused);
        using var stop = new CancellationTokenSource();
        _run.Run(
            i =>
            {
                if (i == at)
                    stop.Cancel();
                return Scripted.Ok();
            },
            stop.Token);
        using StoredRun stored = _run.OpenStored();
        return VouchedDocuments.Of(_run.Plan, new RunProgress(stored, new Dictionary<string, long>()));
    }
}
