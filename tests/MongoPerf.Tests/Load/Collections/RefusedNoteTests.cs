using MongoPerf.Load.Collections;
using MongoPerf.Load.Keys;
using MongoPerf.Measurement;
using MongoPerf.Tests.Server;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Collections;

/// <summary>Which documents a unique index has refused, in the collection's marker.</summary>
public sealed class RefusedNoteTests : ServerTest
{
    private static readonly CollectionMarker Marker = new(42, SeriesFile.Documents().Fingerprint, "run", 0, IsGrown: true);

    [Fact]
    public void Notes_of_several_clients_are_added_up_and_outlive_the_run_that_made_them()
    {
        using (WireCollection collection = Open("first"))
        {
            collection.Create(Marker);
            Assert.Empty(Noted(collection));
            collection.NoteRefused([new NumberRange(3, 5)]);
        }

        using WireCollection later = Open("second");
        later.NoteRefused([NumberRange.Of(3), NumberRange.Of(1L << 40)]);
        later.Create(Marker with { RunId = "second", Documents = 10 });
        Assert.Equal([new NumberRange(3, 5), NumberRange.Of(3), NumberRange.Of(1L << 40)], Noted(later));
    }

    [Fact]
    public void A_collection_that_is_dropped_has_refused_nothing()
    {
        using WireCollection collection = Open("first");
        collection.Create(Marker);
        collection.NoteRefused([new NumberRange(3, 5)]);
        collection.Drop();
        collection.Create(Marker);
        Assert.Empty(Noted(collection));
    }

    [Theory]
    [InlineData("'all'")]
    [InlineData("[1]")]
    [InlineData("[5, 3, -1, 7, 'a', 2, 4, 4]")]
    public void What_is_no_range_is_left_out(string refused)
    {
        using WireCollection collection = Open("first");
        collection.Create(Marker);
        Succeed($"{{'update': 'mongoperf', 'updates': [{{'q': {{'_id': 'c'}}, 'u': {{'$set': {{'refused': {refused}}}}}}}]}}");
        Assert.Empty(Noted(collection));
    }

    private static IReadOnlyList<NumberRange> Noted(WireCollection collection) => collection.Inspect().Marker!.Refused;

    private WireCollection Open(string run) => new(
        new CollectionAccess(
            () => new ServerAddress("127.0.0.1", Port), ConnectionSettings.Default, "test", SystemClock.Instance, TimeSpan.FromSeconds(5))
        {
            Leases = new WriterLeases("test", run, run, TimeSpan.Zero),
        },
        "c", SeriesFile.Documents(), new CollectionShape([]));
}
