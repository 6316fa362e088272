using System.Globalization;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>The tables of a run's report.</summary>
internal static class ReportTables
{
    /// <summary>Longer ones are thinned: a hundred sizes by eight operations is nothing to read.</summary>
    private const int MaxRows = 25;

    public static ReportTable? Errors(StoredRun run) => run.Errors.Count == 0 ? null : new ReportTable(
        Words.Of("Errors"),
        ["count", "slowest", "code", "<name", "<first message"],
        [.. run.Errors.Select(e => (IReadOnlyList<string>)[Units.Exact(e.Count), Units.Latency(e.SlowestMicroseconds),
            e.Code.ToString(), e.Name, e.FirstMessage])]);

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
                e.Seconds is { } seconds ? Units.Duration(seconds) : "",
                e.Text,
            ]).ToList();
        return Thinned(Words.Of("Events (UTC)"), ["<time", "<event", "took", "<details"], rows);
    }

    /// <summary>What each client of a merged run did.</summary>
    /// <returns>Null for a run of one client.</returns>
    public static ReportTable? Clients(StoredRun run)
    {
        if (run.Run.Clients.Count == 0)
            return null;
        // A growth measures the same at each size: clients are told apart by what they did at all of them.
        var rows = new List<IReadOnlyList<string>>();
        foreach (var operation in run.Phases.SelectMany(phase => phase.Operations.Select(result => (phase.Phase, Result: result)))
            .GroupBy(one => (one.Phase, one.Result.Operation)))
        {
            double all = operation.Sum(one => one.Result.Operations);
            rows.AddRange(operation.SelectMany(one => one.Result.Clients)
                .GroupBy(share => share.Client).Select(client => (IReadOnlyList<string>)
                [
                    operation.Key.Phase, operation.Key.Operation, client.Key, Units.Exact(client.Sum(share => share.Operations)),
                    Units.Percent(client.Sum(share => share.Operations) / all),
                    Units.Rate(client.Average(share => share.OperationsPerSecond)),
                    Units.Latency(client.Max(share => share.P99Microseconds)),
                ]));
        }

        PhaseRecord? latest = run.Phases.Where(phase => phase.StartSkewMilliseconds is not null)
            .MaxBy(phase => phase.StartSkewMilliseconds);
        string clocks = latest?.StartSkewUncertaintyMilliseconds is >= 0.05 and var uncertainty ? $" ±{uncertainty:0.0}" : "";
        string starts =
            latest?.StartSkewMilliseconds is { } most ? Words.Of($" (phases began within {most:0.0}{clocks} ms of one another)") : "";
        return Thinned(Words.Of($"Operations by client{starts}"),
            ["<phase", "<operation", "<client", "operations", "share", "per second", "p99"], rows);
    }

    /// <summary>How much of the work each server of several did.</summary>
    /// <returns>Null when one server did all: a run's own may have another port after a resume.</returns>
    public static ReportTable? Members(StoredRun run)
    {
        if (run.Deployment is not { Topology: Topology.ReplicaSet or Topology.Sharded }
            || run.Results.SelectMany(result => result.Members).Select(share => share.Member).Distinct().Count() < 2)
            return null;
        // A growth measures the same at each size, a sweep at each value: their sums say who did the work.
        var rows = new List<IReadOnlyList<string>>();
        foreach (var operation in run.Phases.SelectMany(phase => phase.Operations.Select(result => (phase.Phase, Result: result)))
            .GroupBy(one => (one.Phase, one.Result.Operation)))
        {
            MemberShare[] shares = [.. operation.SelectMany(one => one.Result.Members)];
            double all = shares.Sum(share => share.Operations);
            rows.AddRange(shares.GroupBy(share => share.Member).OrderBy(member => member.Key, StringComparer.Ordinal).Select(member =>
                (IReadOnlyList<string>)[operation.Key.Phase, operation.Key.Operation, member.Key,
                    Units.Exact(member.Sum(share => share.Operations)), Units.Percent(member.Sum(share => share.Operations) / all)]));
        }

        return Thinned(Words.Of("Operations by server"), ["<phase", "<operation", "<server", "operations", "share"], rows);
    }

    /// <summary>What compression made of the messages: bytes of documents, of messages and on the wire.</summary>
    /// <returns>Null when nothing was compressed.</returns>
    public static ReportTable? Traffic(StoredRun run)
    {
        var rows = new List<IReadOnlyList<string>>();
        foreach (var phase in run.Phases.SelectMany(phase => phase.Groups.Select(group => (phase.Phase, group.Traffic)))
            .Where(one => one.Traffic?.Compressor is not null).GroupBy(one => (one.Phase, one.Traffic!.Compressor)))
        {
            // A growth measures the same at each size: its sum says as much.
            GroupTraffic[] all = [.. phase.Select(one => one.Traffic!)];
            double messages = all.Sum(one => (double)one.MessageBytesSent + one.MessageBytesReceived);
            double wire = all.Sum(one => (double)one.WireBytesSent + one.WireBytesReceived);
            rows.Add(
            [
                phase.Key.Phase, phase.Key.Compressor!, Units.Bytes(all.Sum(one => one.DocumentBytes)),
                Units.Bytes(all.Sum(one => one.MessageBytesSent)), Units.Bytes(all.Sum(one => one.WireBytesSent)),
                Units.Bytes(all.Sum(one => one.MessageBytesReceived)), Units.Bytes(all.Sum(one => one.WireBytesReceived)),
                Units.Percent(messages > 0 ? wire / messages : 1),
            ]);
        }

        return rows.Count == 0
            ? null
            : Thinned(Words.Of("Compression: bytes with the warm-up"),
                ["<phase", "<compressor", "documents", "sent", "on the wire", "received", "on the wire", "wire/message"], rows);
    }

    /// <summary>All rows of a short table, otherwise every nth.</summary>
    public static ReportTable Thinned(string title, IReadOnlyList<string> columns, List<IReadOnlyList<string>> rows)
    {
        if (rows.Count <= MaxRows)
            return new ReportTable(title, columns, rows);
        // The last row always shows, as it is what the run came to.
        int every = (rows.Count + MaxRows - 2) / (MaxRows - 1);
        var shown = rows.Where((_, i) => i == rows.Count - 1 || i % every == 0).ToList();
        return new ReportTable(ShownOf(title, shown.Count, rows.Count), columns, shown);
    }

    /// <summary>All rows of a short table, otherwise those that matter before others, and the first of these.</summary>
    public static ReportTable Foremost<T>(
        string title, IReadOnlyList<string> columns, IReadOnlyList<T> all, Func<T, bool> matters, Func<T, IReadOnlyList<string>> row)
    {
        int[] shown = [.. Enumerable.Range(0, all.Count).OrderByDescending(i => matters(all[i])).Take(MaxRows).Order()];
        return new ReportTable(
            shown.Length < all.Count ? ShownOf(title, shown.Length, all.Count) : title, columns, [.. shown.Select(i => row(all[i]))]);
    }

    private static string ShownOf(string title, int shown, int rows) =>
        Words.Of($"{title} ({shown} of {rows} rows; the CSV files have them all)");
}
