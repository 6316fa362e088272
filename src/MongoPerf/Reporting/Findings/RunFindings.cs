using System.Runtime.CompilerServices;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Findings;

/// <summary>What a run shows, the most important first. The same run gives the same findings.</summary>
internal static class RunFindings
{
    /// <summary>Chance of any false finding, at most, in each of the analysers that test: five of them make the 5 % that all may have together.</summary>
    private const double Level = 0.01;

    // The report is made in several formats from one opened run, whose samples need to be read only once for them.
    private static readonly ConditionalWeakTable<StoredRun, IReadOnlyList<Finding>> Known = [];

    /// <summary>Reads the run's samples. May be called from several threads.</summary>
    public static IReadOnlyList<Finding> Of(StoredRun run) => Known.GetValue(run, static run => Of(RunSeries.Read(run)));

    /// <summary>Those that no verdict says already.</summary>
    public static IReadOnlyList<Finding> Shown(StoredRun run) => [.. Of(run).Where(finding => !finding.IsVerdict)];

    private static IReadOnlyList<Finding> Of(RunSeries series) =>
    [
        .. SizeFindings.Find(series, Level).Concat(Stalls.Find(series)).Concat(SecondFindings.Find(series, Level)).Concat(ServerFindings.Find(series)).OrderByDescending(finding => finding.Weight),
        .. Verdict.Of(series.Run).Where(verdict => verdict.Finding is not null).Select(OfVerdict),
    ];

    private static Finding OfVerdict(Verdict verdict) => new() { Id = verdict.Finding!.Id, Text = verdict.Text, Refute = verdict.Finding.Refute, IsVerdict = true };
}
