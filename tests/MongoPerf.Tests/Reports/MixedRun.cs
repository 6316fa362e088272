using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Comparison;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>A stored run whose phase "mix" does three reads for each update, by eight threads of one group.</summary>
internal sealed record MixedRun
{
    private static readonly (string Name, double Share)[] Parts = [("read", 0.75), ("update", 0.25)];

    public string Id { get; init; } = "2026-11-21-a";

    /// <summary>Documents at each size of a growth; empty for a phase that is none of a growth's.</summary>
    public IReadOnlyList<long> Sizes { get; init; } = [];

    public int Seconds { get; init; } = 30;

    public ulong NoiseSeed { get; init; } = 1;

    /// <summary>Operations per second of both together, by size, 0-based.</summary>
    public Func<int, double> Rate { get; init; } = _ => 1000;

    /// <summary>Microseconds.</summary>
    public Func<string, double> Latency { get; init; } = name => name == "read" ? 100 : 1000;

    /// <summary>Documents per read, by size, 0-based.</summary>
    public Func<int, double> Replies { get; init; } = _ => 1;

    public StoredRun Write(string runsFolder)
    {
        string folder = Path.Combine(runsFolder, Id);
        using (RunStore store = RunStore.Create(folder, RunParts.Run(Id), RunParts.Settings()))
        {
            store.SetDeployment(RunParts.Deployment());
            store.SetEnvironment(RunParts.Environment());
            var noise = new NoisySamples(NoiseSeed, 0.02, 0.2);
            for (int i = 0; i < Math.Max(1, Sizes.Count); i++)
                WritePhase(store, i, noise.Window(Seconds, Rate(i)));
            store.SetState(RunState.Finished, null, RunParts.Start.AddHours(1));
        }

        return StoredRun.Open(folder);
    }

    private void WritePhase(RunStore store, int place, double[] rates)
    {
        int number = place + 1;
        var record = new PhaseRecord
        {
            Number = number, Phase = "mix", Growth = Sizes.Count == 0 ? null : new GrowthPoint("growth", number, Sizes[place]),
            Documents = Sizes.Count == 0 ? 1000 : Sizes[place],
        };
        store.BeginPhase(record, continues: false);
        LatencyHistogram[] whole = [.. Parts.Select(_ => new LatencyHistogram())];
        for (int second = 0; second < Seconds; second++)
        {
            foreach ((int i, (string name, double share)) in Parts.Index())
            {
                LatencyHistogram own = Second(Latency(name) * Rate(place) / rates[second]);
                own.AddTo(whole[i]);
                store.AddSample(RunParts.Sample(1 + second + (place * (Seconds + 2)), name, record.Documents) with
                {
                    Phase = number, IsWarmup = false, Operations = (long)(rates[second] * share),
                    Documents = (long)(rates[second] * share * Documents(name, place)),
                    LatencyMicroseconds = LatencySummaries.From(own), Histogram = HistogramEncoding.EncodeCompressed(own),
                });
            }
        }

        double rate = rates.Average();
        store.EndPhase(record with
        {
            IsComplete = true,
            Groups =
            [
                new GroupShare("", 8, Seconds, (long)(rate * Seconds), 10, 20, 1, new Accounting(100, 100, 0, 0))
                {
                    Mix = [.. Parts.Select(part => part.Name)],
                    Joint = JointLatency.Of([.. whole.Select(histogram => new OperationLatency(false, histogram, null, null))]),
                },
            ],
            Operations =
            [
                .. Parts.Index().Select(part => RunParts.Result(part.Item.Name, 8, (long)(rate * part.Item.Share * Seconds)) with
                {
                    Seconds = Seconds, Documents = (long)(rate * part.Item.Share * Seconds * Documents(part.Item.Name, place)),
                    OperationsPerSecond = rate * part.Item.Share,
                    DocumentsPerSecond = rate * part.Item.Share * Documents(part.Item.Name, place),
                    LatencyMicroseconds = LatencySummaries.From(whole[part.Index]),
                }),
            ],
        });
        foreach ((int i, (string name, _)) in Parts.Index())
            store.AddHistogram(new StoredHistogram(number, name, false, HistogramEncoding.EncodeCompressed(whole[i])));
    }

    private double Documents(string name, int place) => name == "read" ? Replies(place) : 0;

    /// <summary>100 operations, from half the latency to one and a half times as much.</summary>
    private static LatencyHistogram Second(double microseconds)
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < 100; i++)
            histogram.Record(microseconds * (0.5 + (i / 100.0)));
        return histogram;
    }
}
