using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting;

/// <summary>What compression made of the messages: bytes of documents, of messages and on the wire.</summary>
internal static class TrafficTable
{
    /// <returns>Null when nothing was compressed.</returns>
    public static ReportTable? Of(StoredRun run)
    {
        var rows = new List<IReadOnlyList<string>>();
        foreach (var phase in run.Phases.SelectMany(phase => phase.Groups.Select(group => (phase.Phase, group.Traffic))).Where(one => one.Traffic?.Compressor is not null).GroupBy(one => (one.Phase, one.Traffic!.Compressor)))
        {
            // A growth measures the same at each size: its sum says as much.
            GroupTraffic[] all = [.. phase.Select(one => one.Traffic!)];
            double messages = all.Sum(one => (double)one.MessageBytesSent + one.MessageBytesReceived);
            double wire = all.Sum(one => (double)one.WireBytesSent + one.WireBytesReceived);
            rows.Add(
            [
                phase.Key.Phase, phase.Key.Compressor!, Units.Bytes(all.Sum(one => one.DocumentBytes)), Units.Bytes(all.Sum(one => one.MessageBytesSent)), Units.Bytes(all.Sum(one => one.WireBytesSent)),
                Units.Bytes(all.Sum(one => one.MessageBytesReceived)), Units.Bytes(all.Sum(one => one.WireBytesReceived)), Units.Percent(messages > 0 ? wire / messages : 1),
            ]);
        }

        return rows.Count == 0
            ? null
            : ReportTables.Thinned(Words.Of("Compression: bytes with the warm-up"), ["<phase", "<compressor", "documents", "sent", "on the wire", "received", "on the wire", "wire/message"], rows);
    }
}
