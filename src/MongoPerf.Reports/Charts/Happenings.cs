using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>What happened while a run ran, as marks and bands over time: charts and page show the same ones.</summary>
internal static class Happenings
{
    /// <summary>The kind of the bands of other programs, which may lie over any other.</summary>
    public const string OtherPrograms = "others";

    private const string Migration = "migration";
    private const string FailedMigration = "migration_failed";
    private const string Resharding = "resharding";
    private const string IndexBuild = "index_build";

    /// <summary>The kind of a band, and of an event.</summary>
    private const string Outage = RunEvent.Outage;

    /// <summary>The names of the kinds of bands; explore.js has the same words.</summary>
    public static IEnumerable<(string Kind, string Name)> BandNames =>
    [
        (Migration, Words.Of("chunk migrating")), (FailedMigration, Words.Of("failed migration")),
        (Resharding, Words.Of("resharding")), (IndexBuild, Words.Of("index build")),
        (Outage, Words.Of("outage")),
        (OtherPrograms, Words.Of("other programs")),
    ];

    /// <summary>Makes the marks of events, then those of pauses.</summary>
    /// <param name="run">The run whose events are marked.</param>
    /// <param name="axis">The axis of time.</param>
    public static IEnumerable<Mark> Marks(StoredRun run, TimeAxis axis) =>
        run.Events.Select(happened => MarkOf(happened, axis.At(happened.AtMilliseconds)))
            .Concat(axis.Pauses.Select(static pause => MarkOf(pause.At, Units.Duration(pause.Pause))));

    /// <summary>The seconds at which one session ends and the next begins, whether their pause is cut out or too short for that.</summary>
    /// <param name="run">The run whose events are looked at.</param>
    /// <param name="axis">The axis of time.</param>
    public static IEnumerable<double> Ends(StoredRun run, TimeAxis axis) => axis.Pauses.Select(static pause => pause.At)
        .Concat(run.Events.Where(happened => happened.Kind == RunEvent.Resumed && happened.AtMilliseconds < axis.EndMilliseconds)
            .Select(happened => axis.At(happened.AtMilliseconds)));

    /// <summary>Makes the bands of migrations, reshardings, index builds, outages, and of when other programs used the machine.</summary>
    /// <param name="run">The run whose events, chunk events, server and host samples are read.</param>
    /// <param name="axis">The axis of time.</param>
    public static IReadOnlyList<Band> Bands(StoredRun run, TimeAxis axis) =>
        [
            .. Migrations(run, axis.At, axis.Seconds),
            .. ServersAt(run, axis, "index_builds", IndexBuild),
            .. Outages(run, axis),
            .. OtherLoads(run, axis),
        ];

    /// <summary>Makes the bands of checkpoints, which only the page shows: there are too many for a chart.</summary>
    /// <param name="run">The run whose server samples are read.</param>
    /// <param name="axis">The axis of time.</param>
    public static IEnumerable<Band> Checkpoints(StoredRun run, TimeAxis axis) => ServersAt(run, axis, "checkpoint_running", "checkpoint");

    /// <param name="run">The run whose chunk events are read.</param>
    /// <param name="at">Turns Unix milliseconds into seconds on the axis.</param>
    /// <param name="seconds">The length of the axis.</param>
    public static IReadOnlyList<Band> Migrations(StoredRun run, Func<long, double> at, double seconds)
    {
        ChunkEvent[] lasting =
            [.. run.ReadChunkEvents().Where(static one => one.Kind is ChunkEventKind.Migration or ChunkEventKind.Resharding)];
        return [.. Of(Migration, static one => one is { Kind: ChunkEventKind.Migration, Outcome: not ChunkEventOutcome.Failed }),
            .. Of(FailedMigration, static one => one is { Kind: ChunkEventKind.Migration, Outcome: ChunkEventOutcome.Failed }),
            .. Of(Resharding, static one => one.Kind == ChunkEventKind.Resharding)];

        IEnumerable<Band> Of(string kind, Func<ChunkEvent, bool> isOfIt) => Band.Joined(
            lasting.Where(isOfIt)
                .Select(one => new Band(at(one.AtMilliseconds), one.EndMilliseconds is { } end ? at(end) : seconds, kind)), seconds);
    }

    private static Mark MarkOf(RunEvent happened, double at)
    {
        var mark = new Mark(at, Words.Of(happened.Kind), happened.Text);
        // That a phase began is plain from its name.
        return happened.Kind == RunEvent.Phase ? mark with { Label = happened.Text } : mark;
    }

    private static Mark MarkOf(double at, string pause) => new(at, Words.Of("pause"), pause) { Label = Words.Of($"pause of {pause}") };

    private static IEnumerable<Band> Outages(StoredRun run, TimeAxis axis) => Band.Joined(
        run.Events.Where(static happened => happened is { Kind: Outage, Seconds: > 0 })
            .Select(happened => new Band(
                axis.At(happened.StartMilliseconds), axis.At(happened.AtMilliseconds), Outage, happened.Text))
            .OrderBy(static band => band.From),
        axis.Seconds);

    /// <summary>Makes the bands of when a server was at something, as far as its one-second samples saw it.</summary>
    private static IEnumerable<Band> ServersAt(StoredRun run, TimeAxis axis, string gauge, string kind)
    {
        List<Band> bands = [];
        foreach (var member in run.ReadServerSamples(MetricCatalogue.Only(MetricCatalogue.Server, gauge))
            .GroupBy(static sample => sample.Member))
        {
            double? before = null;
            foreach (MetricSample sample in member)
            {
                double at = axis.At(sample.AtMilliseconds);
                bool isAtIt = sample.Values[0] > 0;
                if (isAtIt)
                    bands.Add(new Band(before ?? Math.Max(0, at - 1), at, kind));
                before = isAtIt ? at : null;
            }
        }

        return Band.Joined(bands.OrderBy(static band => band.From), axis.Seconds);
    }

    /// <summary>Makes the bands of the seconds in which other programs used as much as a verdict would name.</summary>
    private static IEnumerable<Band> OtherLoads(StoredRun run, TimeAxis axis) =>
        run.Environment is not { CpuCount: > 0 } ? [] : Band.Joined(
            HostSecond.Of(run)
                .Where(second => second.OtherCores >= OtherLoad.NotedShare * second.Cores).OrderBy(second => second.FromMilliseconds)
                .Select(second => new Band(axis.At(second.FromMilliseconds), axis.At(second.ToMilliseconds), OtherPrograms)),
            axis.Seconds);
}
