using System.Globalization;
using System.Text;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Findings;

/// <summary>Everything that is found in a run, word for word: tests that look for one finding see the others, too.</summary>
internal static class ApprovedFindings
{
    public static void Check(StoredRun run) => ApprovedParts.Check(Text(RunFindings.Of(run)));

    private static string Text(IReadOnlyList<Finding> findings)
    {
        var text = new StringBuilder();
        foreach (Finding one in findings)
        {
            text.Append(CultureInfo.InvariantCulture,
                $"{one.Id}{(one.IsVerdict ? " (a verdict)" : "")}, weight {Number(one.Weight)}: {one.Line}\n");
            if (one.Operations.Count > 0) text.Append($"  of {string.Join(", ", one.Operations)}\n");
            if (one.Range is { } range)
            {
                text.Append($"  {Number(range.FromSeconds)} to {Number(range.ToSeconds)} s, ");
                text.Append($"{range.FromDocuments} to {range.ToDocuments} documents\n");
            }

            if (one.Rate is { } rate) text.Append($"  rate {Effect(rate)}\n");
            if (one.P99 is { } p99) text.Append($"  p99 {Effect(p99)}\n");
            foreach (FindingEvidence evidence in one.Evidence) text.Append($"  {evidence.Chart ?? "no chart"}: {evidence.Text}\n");
            text.Append($"  refute: {one.Refute}\n");
        }

        return text.Length == 0 ? "nothing" : text.ToString();
    }

    private static string Effect(FindingEffect effect) =>
        $"{Number(effect.Ratio)} ({Number(effect.Low)} to {Number(effect.High)}){(effect.By is null ? "" : $", {effect.By}")}";

    /// <summary>To three digits: the last ones are the processor's.</summary>
    private static string Number(double? value) => value?.ToString("G3", CultureInfo.InvariantCulture) ?? "?";
}
