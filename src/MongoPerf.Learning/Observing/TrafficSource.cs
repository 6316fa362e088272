using System.Diagnostics;
using MongoPerf.Measurement;
using MongoPerf.Traffic.Proxying;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Learning.Observing;

/// <summary>A deployment's traffic for a while: recorded by the server where it can, otherwise sampled.</summary>
/// <remarks>
/// A server that was started with trafficRecordingDirectory records, if that folder is on this machine; the file is deleted afterwards.
/// Any other is asked 20 times a second what it is doing (<c>$currentOp</c>), which tells shapes and keys, and at both ends how often it
/// did what (<c>top</c>, on a mongos opcounters), which tells rates and mean times.
/// </remarks>
/// <param name="connection">To the server.</param>
/// <param name="database">Only of this database.</param>
/// <param name="time">For how long.</param>
/// <param name="stop">Ends it early.</param>
public sealed class TrafficSource(MongoConnection connection, string database, TimeSpan time, CancellationToken stop) : ObservationSource
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(50);

    /// <summary>Of more samples, so many are kept, each as likely as any other.</summary>
    private const int MostSamples = 100_000;

    private bool _isRecorded;
    private bool _isPrecise;

    public override string Name => _isRecorded ? "traffic that the server recorded" : "traffic, sampled";

    public override bool HasPreciseTimes => _isPrecise;

    public override IEnumerable<ObservedOperation> Read()
    {
        string? file = Recorded();
        if (file is null)
            return Sampled();
        try
        {
            using Recording recording = Recording.Open(file);
            var source = new RecordingSource(recording);
            // Read now, since the file goes.
            ObservedOperation[] operations = [.. source.Read().Where(one => one.Database == database)];
            foreach (string note in source.Notes)
                Note(note);
            (_isRecorded, _isPrecise) = (true, source.HasPreciseTimes);
            return operations;
        }
        finally
        {
            File.Delete(file);
        }
    }

    /// <summary>Has the server record itself.</summary>
    /// <returns>The file, which is this program's to delete; null where the server can't, or writes elsewhere.</returns>
    private string? Recorded()
    {
        string? folder = connection.RunUnchecked("admin", BsonDocument.Of(("getParameter", 1), ("trafficRecordingDirectory", 1)))
            .FindString("trafficRecordingDirectory");
        if (string.IsNullOrEmpty(folder) || !Directory.Exists(folder))
            return null;
        string name = $"mongoperf-learn-{Guid.NewGuid():N}.bin";
        string path = Path.Combine(folder, name);
        var control = new ServerRecordingControl(connection);
        try
        {
            control.Start(name);
        }
        catch (Exception e) when (e is MongoPerfException or ServerCommandException)
        {
            return null;
        }

        try
        {
            try
            {
                stop.WaitHandle.WaitOne(time);
            }
            finally
            {
                control.Stop();
            }
        }
        catch
        {
            // It has data.
            File.Delete(path);
            throw;
        }

        if (File.Exists(path))
            return path;
        // The same folder may be another one on the server's machine.
        Note($"what the server recorded on its own machine: delete {name} in its trafficRecordingDirectory");
        return null;
    }

    private IEnumerable<ObservedOperation> Sampled()
    {
        Dictionary<(string Namespace, string Type), (double Count, double Microseconds)> before = Counters(out bool isByCollection);
        var samples = new List<(string Namespace, string Type, ObservedOperation Operation)>();
        var watch = Stopwatch.StartNew();
        var random = new RandomStream(1);
        int met = 0;
        long cut = 0;
        while (watch.Elapsed < time && !stop.IsCancellationRequested)
        {
            double now = watch.Elapsed.TotalSeconds;
            foreach (BsonDocument running in connection.RunCursor("admin", BsonDocument.Of(("aggregate", 1), ("pipeline", new[]
            {
                BsonDocument.Of(("$currentOp", BsonDocument.Of(("allUsers", true)))),
                BsonDocument.Of(("$match", BsonDocument.Of(("active", true)))),
            }), ("cursor", BsonDocument.Empty))))
            {
                if (running.FindString("ns")?.Split('.', 2) is not [var of, var collection] || of != database
                    || running.FindString("op") is not { } type || running.FindDocument("command") is not { } command)
                    continue;
                if (command.Find("$truncated") is not null)
                {
                    cut++;
                    continue;
                }

                if (type is "update" or "remove" && command.Find("q") is not null)
                    command = BsonDocument.Of(type == "update" ? ("update", collection) : ("delete", collection),
                        (type == "update" ? "updates" : "deletes", new[] { command }));
                if (command.FirstOrDefault().Value is not { Type: BsonType.String } name)
                    continue;
                int place = ++met <= MostSamples ? samples.Count : random.Next(met);
                if (place >= MostSamples)
                    continue;
                var sample = (isByCollection ? $"{of}.{collection}" : "", TypeOf(command.First().Key, type),
                    new ObservedOperation(now, of, name.ToString(), command)
                    {
                        Connection = running.FindInt64("connectionId")?.ToString(System.Globalization.CultureInfo.InvariantCulture),
                        Plan = running.FindString("planSummary"),
                    });
                if (place == samples.Count)
                    samples.Add(sample);
                else
                    samples[place] = sample;
            }

            TimeSpan left = Interval - TimeSpan.FromSeconds(watch.Elapsed.TotalSeconds - now);
            if (left > TimeSpan.Zero)
                stop.WaitHandle.WaitOne(left);
        }

        Seconds = watch.Elapsed.TotalSeconds;
        return Weigh(before, Counters(out _), samples, isByCollection, cut);
    }

    /// <summary>Lets what was seen stand for all that the server counted.</summary>
    private IEnumerable<ObservedOperation> Weigh(
        Dictionary<(string Namespace, string Type), (double Count, double Microseconds)> before,
        Dictionary<(string Namespace, string Type), (double Count, double Microseconds)> after,
        List<(string Namespace, string Type, ObservedOperation Operation)> samples, bool isByCollection, long cut)
    {
        bool any = false;
        var unseen = new Dictionary<string, double>();
        ILookup<(string Namespace, string Type), ObservedOperation> all =
            samples.ToLookup(sample => (sample.Namespace, sample.Type), sample => sample.Operation);
        foreach (((string ns, string type), (double count, double microseconds)) in after)
        {
            (double earlier, double spent) = before.GetValueOrDefault((ns, type));
            double done = count - earlier;
            if (!(done > 0) || (isByCollection && !ns.StartsWith(database + ".", StringComparison.Ordinal)))
                continue;
            ObservedOperation[] seen = [.. all[(ns, type)]];
            double? took = isByCollection ? Math.Max(0, microseconds - spent) / done : null;
            if (seen.Length == 0 && type == "insert" && isByCollection)
                seen = [new ObservedOperation(0, database, ns[(database.Length + 1)..],
                    BsonDocument.Of(("insert", ns[(database.Length + 1)..])))];
            if (seen.Length == 0 && isByCollection)
                unseen[type] = unseen.GetValueOrDefault(type) + done;
            foreach (ObservedOperation operation in seen)
            {
                any = true;
                yield return operation with { Count = done / seen.Length, Microseconds = took };
            }
        }

        if (!any)
            throw new MongoPerfException(Fault.WrongUsage,
                FormattableString.Invariant($"{connection.Address} was not seen doing anything in {database} for {time.TotalSeconds:0} s"),
                "learn while its clients are at work, for longer, or from its profiler or a recording");
        foreach ((string type, double count) in unseen)
            Note(FormattableString.Invariant($"{count:0} operations ({type}) on collections where they were too short to be seen"));
        Note("percentiles of times: a sampled server tells only means");
        if (cut > 0)
            Note(FormattableString.Invariant($"{cut} long commands, which $currentOp cuts off"));
        if (!isByCollection)
            Note("rates by collection: a mongos counts operations by kind, for all databases together");
    }

    /// <summary>How many operations of each kind there have been, and how long they took together.</summary>
    private Dictionary<(string Namespace, string Type), (double Count, double Microseconds)> Counters(out bool isByCollection)
    {
        var counters = new Dictionary<(string, string), (double, double)>();
        BsonDocument top = connection.RunUnchecked("admin", BsonDocument.Of(("top", 1)));
        isByCollection = top.FindDocument("totals") is not null;
        if (isByCollection)
        {
            foreach ((string ns, BsonValue value) in top.FindDocument("totals")!.Where(one => one.Value.Type == BsonType.Document))
            {
                foreach (string type in (string[])["queries", "insert", "update", "remove", "commands"])
                    counters[(ns, type)] = (value.ToDocument().FindDouble($"{type}.count") ?? 0,
                        value.ToDocument().FindDouble($"{type}.time") ?? 0);
            }

            return counters;
        }

        BsonDocument status = connection.RunCommand("admin", BsonDocument.Of(("serverStatus", 1)));
        foreach ((string name, string type) in ((string, string)[])
            [("query", "queries"), ("insert", "insert"), ("update", "update"), ("delete", "remove"), ("command", "commands")])
            counters[("", type)] = (status.FindDouble($"opcounters.{name}") ?? 0, 0);
        return counters;
    }

    /// <summary>What <c>top</c> counts it as.</summary>
    private static string TypeOf(string command, string type) => command switch
    {
        "find" => "queries",
        "insert" => "insert",
        "update" => "update",
        "delete" => "remove",
        _ => type is "insert" or "update" or "remove" ? type : "commands",
    };
}
