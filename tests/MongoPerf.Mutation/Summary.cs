using System.Globalization;
using System.Text;

namespace MongoPerf.Mutation;

/// <summary>A room's result as text: a table by folder, then the mutants that no test noticed.</summary>
internal static class Summary
{
    public static string Write(Room room, List<Result> results, int candidates, Session session, string arguments)
    {
        StringBuilder text = new();
        void Line(FormattableString line) => text.AppendLine(line.ToString(CultureInfo.InvariantCulture));
        Line($"scripts/mutate {arguments}: {room.Name}, {results.Count} mutants of {candidates} places, {session.Passed} tests");
        text.AppendLine("| folder | mutants | killed | timeouts | crashes | survived | not covered | score | 95 % |");
        text.AppendLine("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        foreach (var folder in results.GroupBy(r => Path.GetDirectoryName(r.Mutation.File)!["src/MongoPerf.".Length..]))
        {
            Row(text, folder.Key, [.. folder]);
        }
        Row(text, "all", results);
        text.AppendLine();
        foreach (Result result in results.Where(r => !r.IsKilled))
        {
            Mutation m = result.Mutation;
            Line($"{result.Id} {m.File}:{m.Line} {m.Operator}, {result.Status}");
            Line($"    {m.Original}  →  {m.Mutated}");
            if (!m.Context.StartsWith(m.Original, StringComparison.Ordinal)) Line($"    in: {m.Context}");
            if (result.Covering > 0) Line($"    {result.Tried} of {result.Covering} tests: {string.Join(", ", result.Tests.Select(Name))}");
        }
        if (!session.LeftOut.IsEmpty)
        {
            text.AppendLine().AppendLine("Tests that don't pass here without a mutant and were not used:");
            foreach (string test in session.LeftOut.Order(StringComparer.Ordinal)) text.AppendLine(test);
        }
        return text.ToString();
    }

    /// <summary>Wilson's interval for a proportion, at 95 %.</summary>
    public static (double Low, double High) Interval(int hits, int of)
    {
        const double z = 1.959964;
        double p = (double)hits / of, n = of;
        double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
        double half = z * Math.Sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
        return (Math.Max(0, middle - half), Math.Min(1, middle + half));
    }

    private static string Name(string unit) => string.Join('.', unit.Split('.')[^2..]);

    private static void Row(StringBuilder text, string name, List<Result> results)
    {
        int Count(string status) => results.Count(r => r.Status == status);
        int killed = results.Count(r => r.IsKilled);
        if (results.Count == 0) return;
        (double low, double high) = Interval(killed, results.Count);
        string counts = string.Join(" | ", new[] { "killed", "timeout", "crash", "survived", "not covered" }.Select(Count));
        text.AppendLine(string.Create(CultureInfo.InvariantCulture,
            $"| {name} | {results.Count} | {counts} | {100.0 * killed / results.Count:F1} % | {100 * low:F1} to {100 * high:F1} % |"));
    }
}
