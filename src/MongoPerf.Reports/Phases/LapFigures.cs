using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Phases;

/// <summary>One lap of one task: a thread of a phase.</summary>
/// <param name="Number">Its place among the task's laps, 1-based: what had been done by its end, in whole laps.</param>
/// <param name="Done">What was done by its end, since the phase's start.</param>
/// <param name="EndSeconds">When it ended, in seconds since the phase's start.</param>
/// <param name="Seconds">How long it took; where a batch reached over a border, for as many as a lap has.</param>
internal sealed record TaskLap(long Number, long Done, double EndSeconds, double Seconds);

/// <summary>The laps of one phase with one value of each parameter.</summary>
/// <param name="Phase">Which.</param>
/// <param name="Length">Documents or operations of a lap.</param>
/// <param name="Tasks">The laps of each thread that finished one, by thread.</param>
internal sealed record LapFigures(PhaseRecord Phase, long Length, IReadOnlyList<IReadOnlyList<TaskLap>> Tasks)
{
    /// <summary>The laps in the order in which the phases ran; those without a whole lap are left out.</summary>
    public static IReadOnlyList<LapFigures> Of(StoredRun run)
    {
        ILookup<int, StoredLap> laps = run.Laps.ToLookup(lap => lap.Phase);
        return
        [
            .. run.Phases.Where(phase => phase.Lap is not null && laps[phase.Number].Any())
                .Select(phase => new LapFigures(phase, phase.Lap!.Value,
                    [.. laps[phase.Number].GroupBy(lap => lap.Thread).Select(task => TimesOf([.. task], phase.Lap.Value))])),
        ];
    }

    /// <summary>Laps of a load are counted in documents, those of any other phase in operations.</summary>
    public bool IsOfDocuments => Phase.Kind is PhaseKind.Load;

    /// <summary>How long a lap is, such as "10,000 documents".</summary>
    public string LengthText => Words.Counted(Length, IsOfDocuments ? "document" : "operation");

    public IEnumerable<TaskLap> All => Tasks.SelectMany(task => task);

    /// <summary>Seconds; the median over the tasks.</summary>
    public double First => MedianOf(Tasks.Select(task => task[0].Seconds));

    /// <inheritdoc cref="First"/>
    public double Last => MedianOf(Tasks.Select(task => task[^1].Seconds));

    /// <summary>The median of all laps of all tasks, in seconds.</summary>
    public double Median => MedianOf(All.Select(lap => lap.Seconds));

    /// <inheritdoc cref="Median"/>
    public double Slowest => All.Max(lap => lap.Seconds);

    /// <summary>When the first task had done its last lap, and when the last had: seconds since the phase's start.</summary>
    public (double Fastest, double Slowest) Ends => (Tasks.Min(task => task[^1].EndSeconds), Tasks.Max(task => task[^1].EndSeconds));

    public static double MedianOf(IEnumerable<double> values) => Quantiles.Median([.. values]);

    private static TaskLap[] TimesOf(IReadOnlyList<StoredLap> stored, long length)
    {
        var laps = new TaskLap[stored.Count];
        (long done, double at) = (0, 0);
        for (int i = 0; i < laps.Length; i++)
        {
            laps[i] = new TaskLap(stored[i].Done / length, stored[i].Done, stored[i].Seconds,
                (stored[i].Seconds - at) * length / (stored[i].Done - done));
            (done, at) = (stored[i].Done, stored[i].Seconds);
        }

        return laps;
    }
}
