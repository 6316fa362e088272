using MongoPerf.Reports.Charts;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Charts;

/// <summary>The axis of time spent inserting, and the migrations shaded on it.</summary>
public sealed class MigrationDataTests : IDisposable
{
    private const double Hour = 3600;

    private static readonly long Start = RunParts.Start.ToUnixTimeMilliseconds();

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void What_lies_between_inserts_is_cut_out_of_their_axis()
    {
        var axis = new WorkAxis([.. Seconds(1, 10), .. Seconds(31, 35)]);

        Assert.Equal(15, axis.Seconds);
        Assert.Equal(4, axis.At(Start + 4000));
        Assert.Equal(10, axis.At(Start + 20_000));
        Assert.Equal(12, axis.At(Start + 32_000));
        Assert.Equal(15, axis.At(Start + 99_000));
        Assert.Equal(0, axis.At(Start - 5000));
    }

    [Fact]
    public void Bands_that_nobody_could_tell_apart_are_one_however_many_chunks_moved()
    {
        using StoredRun run = Write(Enumerable.Range(0, 2000).Select(static i => Migration(i, i * 1800, (i * 1800) + 1000)));

        IReadOnlyList<Band> bands = Happenings.Migrations(run, static at => (at - Start) / 1000.0, Hour);

        Band only = Assert.Single(bands);
        Assert.Equal(new Band(0, Hour, "migration"), only);
    }

    [Fact]
    public void A_short_migration_is_wide_enough_to_be_seen_and_a_failed_one_has_its_own_colour()
    {
        using StoredRun run = Write(
        [
            Migration(1, 100_000, 100_050), Migration(2, 2_000_000, 2_060_000) with { Outcome = ChunkEventOutcome.Failed },
            Migration(3, 3_000_000, 0) with { EndMilliseconds = null, Outcome = ChunkEventOutcome.Running },
            Migration(4, 500_000, 500_000) with { Kind = ChunkEventKind.Split },
        ]);

        IReadOnlyList<Band> bands = Happenings.Migrations(run, static at => (at - Start) / 1000.0, Hour);

        Assert.Equal(
            [new Band(100, 103.6, "migration"), new Band(3000, Hour, "migration"), new Band(2000, 2060, "migration_failed")], bands);
    }

    [Fact]
    public void A_migration_while_nothing_was_inserted_is_not_on_the_axis_of_inserts()
    {
        var axis = new WorkAxis([.. Seconds(1, 10), .. Seconds(31, 35)]);
        using StoredRun run = Write([Migration(1, 15_000, 20_000), Migration(2, 8000, 33_000)]);

        Assert.Equal([new Band(8, 13, "migration")], Happenings.Migrations(run, axis.At, axis.Seconds));
    }

    private static IEnumerable<OperationSecond> Seconds(int from, int to) =>
        Enumerable.Range(from, to - from + 1).Select(second => new OperationSecond(Start + (second * 1000L), 0, 1, 500, 200));

    private static ChunkEvent Migration(int id, long begin, long end) => new()
    {
        Id = $"m{id}", Kind = ChunkEventKind.Migration, AtMilliseconds = Start + begin,
        EndMilliseconds = Start + end, From = "s0", To = "s1",
        Outcome = ChunkEventOutcome.Done,
    };

    private StoredRun Write(IEnumerable<ChunkEvent> events)
    {
        using (RunStore store = RunStore.Create(_runs.At("run"), RunParts.Run(), RunParts.Settings()))
            store.AddChunkEvents([.. events]);
        return StoredRun.Open(_runs.At("run"));
    }
}
