using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Comparison;

/// <summary>
/// Stores a made-up run whose seconds have real noise, with latencies that go with the rates: phases of one operation each, at each size
/// of a growth or once.
/// </summary>
internal sealed record NoisyRun
{
    public const string Growth = "series";

    public string Id { get; init; } = "2026-11-21-a";
    public ulong NoiseSeed { get; init; } = 1;

    /// <summary>1,000 documents apart; 0 for a run in which nothing grows.</summary>
    public int Sizes { get; init; } = 10;

    /// <summary>Documents that each size has more.</summary>
    public int Step { get; init; } = 1000;

    public int Seconds { get; init; } = 4;
    public IReadOnlyList<string> Phases { get; init; } = ["unack", "batch", "safe", "q4", "q5", "q6", "q7", "size"];
    public IReadOnlyList<int> Threads { get; init; } = [8];

    /// <summary>Values of the parameter "limit", with which each phase is done; empty for none.</summary>
    public IReadOnlyList<string> Limits { get; init; } = [];

    /// <summary>How often each phase is done, when nothing grows.</summary>
    public int PhaseRepeats { get; init; } = 1;

    /// <summary>1 leaves a phase as it is, 0.9 makes it a tenth slower.</summary>
    public Func<string, double> Speed { get; init; } = _ => 1;

    /// <summary>The same by the size's place in the growth, 1-based.</summary>
    public Func<int, double> SpeedAt { get; init; } = _ => 1;

    /// <summary>Second of every window in which the connection is down; 0 for none.</summary>
    public int OutageSecond { get; init; }
    public Func<RunSettings, RunSettings> Change { get; init; } = settings => settings;
    public Func<RunInfo, RunInfo> ChangeRun { get; init; } = run => run;
    public DeploymentInfo Deployment { get; init; } = RunParts.Deployment();
    public RepeatOf? Repeat { get; init; }

    /// <returns>The run's folder.</returns>
    public string Write(string runsFolder)
    {
        string folder = Path.Combine(runsFolder, Id);
        using RunStore store = RunStore.Create(folder, ChangeRun(RunParts.Run(Id) with { Repeat = Repeat }),
            Change(RunParts.Settings(Math.Max(1, Sizes) * Step)));
        store.SetDeployment(Deployment);
        store.SetEnvironment(RunParts.Environment());
        var writer = new Writer(this, store);
        for (int size = 1; size <= Sizes; size++)
            writer.WritePhases(new GrowthPoint(Growth, size, size * Step), []);
        for (int repeat = 1; repeat <= PhaseRepeats && Sizes == 0; repeat++)
            writer.WritePhases(null, PhaseRepeats == 1 ? [] : [new ParameterValue("repeat", $"{repeat}")]);
        store.SetState(RunState.Finished, null, writer.Now);
        return folder;
    }

    private sealed class Writer(NoisyRun run, RunStore store)
    {
        private readonly NoisySamples _noise = new(run.NoiseSeed);
        private int _number;

        public DateTimeOffset Now { get; private set; } = RunParts.Start;

        public void WritePhases(GrowthPoint? point, ParameterValue[] parameters)
        {
            foreach (string phase in run.Phases)
            {
                if (phase == "size")
                    EndPhase(
                        Record(phase, point, PhaseKind.Sizes, parameters) with { Sizes = [RunParts.Sizes(point?.Documents ?? run.Step)] });
                else if (IsInsert(phase))
                    WriteWindow(Record(phase, point, PhaseKind.Write, parameters), 1);
                else
                    WriteSweep(phase, point, parameters);
            }
        }

        private void WriteSweep(string phase, GrowthPoint? point, ParameterValue[] parameters)
        {
            foreach (int threads in run.Threads)
            {
                ParameterValue[] swept = run.Threads.Count == 1 ? parameters : [.. parameters, new ParameterValue("threads", $"{threads}")];
                foreach (string limit in run.Limits.DefaultIfEmpty(""))
                    WriteWindow(
                        Record(phase, point, PhaseKind.Measure, limit.Length == 0 ? swept : [.. swept, new ParameterValue("limit", limit)]),
                        threads);
            }
        }

        private PhaseRecord Record(string phase, GrowthPoint? point, PhaseKind kind, ParameterValue[] parameters) => new()
        {
            Number = ++_number, Phase = phase, Kind = kind, Growth = point, Documents = point?.Documents ?? run.Step,
            Parameters = parameters,
        };

        private void EndPhase(PhaseRecord record)
        {
            store.BeginPhase(record, continues: false);
            store.EndPhase(record with { IsComplete = true });
        }

        private void WriteWindow(PhaseRecord record, int threads)
        {
            string operation = record.Phase;
            double[] rates = _noise.Window(run.Seconds + 1, 2000.0 * threads / (1 + (0.05 * (record.Growth?.Step ?? 1)))
                * run.Speed(operation) * run.SpeedAt(record.Growth?.Step ?? 1));
            var all = new LatencyHistogram();
            for (int second = 0; second < rates.Length; second++)
            {
                Now = Now.AddSeconds(1);
                // The warm-up is ten times as fast: counted in, it would show.
                bool isWarmup = second == 0;
                bool isOutage = second == run.OutageSecond && run.OutageSecond > 0;
                long operations = (long)(isWarmup ? rates[second] * 10 : isOutage ? rates[second] / 10 : rates[second]);
                LatencyHistogram histogram = Latencies(threads * 1e6 / rates[second]);
                if (!isWarmup)
                    histogram.AddTo(all);
                store.AddSample(RunParts.Sample(second, operation, record.Documents) with
                {
                    AtMilliseconds = Now.ToUnixTimeMilliseconds(), Phase = record.Number, IsWarmup = isWarmup, HasOutage = isOutage,
                    Operations = operations, Documents = operations, LatencyMicroseconds = LatencySummaries.From(histogram),
                    Histogram = HistogramEncoding.EncodeCompressed(histogram),
                });
            }

            EndWindow(record, operation, threads, rates, all);
        }

        private void EndWindow(PhaseRecord record, string operation, int threads, double[] rates, LatencyHistogram all)
        {
            double rate = rates.Skip(1).Average(r => (long)r);
            store.AddHistogram(new StoredHistogram(record.Number, operation, IsWarmup: false, HistogramEncoding.EncodeCompressed(all)));
            store.EndPhase(record with
            {
                IsComplete = true,
                Groups = [new GroupShare("", threads, run.Seconds, 100, 10, 20, 1, new Accounting(100, 100, 0, 0))],
                Operations =
                [
                    RunParts.Result(operation, threads) with
                    {
                        IsInsert = IsInsert(operation), Seconds = run.Seconds, OperationsPerSecond = rate, DocumentsPerSecond = rate,
                        LatencyMicroseconds = LatencySummaries.From(all),
                    },
                ],
            });
        }
    }

    private static LatencyHistogram Latencies(double mean)
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < 200; i++)
            histogram.Record((long)(mean * (0.5 + (i / 200.0)) * (i > 196 ? 4 : 1)));
        return histogram;
    }

    private static bool IsInsert(string phase) => phase is "unack" or "batch" or "safe";
}
