using System.Globalization;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting;

/// <summary>The tables of a run's report.</summary>
internal static class ReportTables
{
    /// <summary>Longer ones are thinned: a hundred sizes by eight operations is nothing to read.</summary>
    private const int MaxRows = 25;

    public static ReportTable? Errors(StoredRun run) => run.Errors.Count == 0 ? null : new ReportTable(
        Words.Of("Errors"),
        ["count", "code", "<name", "<first message"],
        [.. run.Errors.Select(e => (IReadOnlyList<string>)[Units.Exact(e.Count), e.Code.ToString(), e.Name, e.FirstMessage])]);

    public static ReportTable? Events(StoredRun run)
    {
        // Phases have tables of their own.
        RunEvent[] events = [.. run.Events.Where(e => e.Kind != RunEvent.Phase)];
        if (events.Length == 0)
            return null;
        var rows = events.Select(e => (IReadOnlyList<string>)
            [
                DateTimeOffset.FromUnixTimeMilliseconds(e.AtMilliseconds).ToString("yyyy-MM-dd HH:mm:ss", CultureInfo.InvariantCulture),
                Words.Of(e.Kind),
                e.Seconds is { } seconds ? Units.Duration(TimeSpan.FromSeconds(seconds)) : "",
                e.Text,
            ]).ToList();
        return Thinned(Words.Of("Events (UTC)"), ["<time", "<event", "took", "<details"], rows);
    }

    /// <summary>All rows of a table that is short enough to be read, otherwise every nth.</summary>
    public static ReportTable Thinned(string title, IReadOnlyList<string> columns, List<IReadOnlyList<string>> rows)
    {
        if (rows.Count <= MaxRows)
            return new ReportTable(title, columns, rows);
        // The last row always shows, as it is what the run came to.
        int every = (rows.Count + MaxRows - 2) / (MaxRows - 1);
        var shown = rows.Where((_, i) => i == rows.Count - 1 || i % every == 0).ToList();
        return new ReportTable(Words.Of($"{title} ({shown.Count} of {rows.Count} rows; the CSV files have them all)"), columns, shown);
    }
}
