using System.Diagnostics;
using System.Globalization;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Reports;

/// <summary>What docs/performance.md says of the report of a day.</summary>
public sealed class DayTests
{
    private const string Variable = "MONGOPERF_REPORT_DAY";
    private const int SecondsOfDay = 86_400;

    /// <summary>
    /// Makes a day of a short run: the seconds of its last phase follow one another again and again, with what was sampled of servers and
    /// machine beside them. The run FOLDER-day is what is reported; how long its findings take is in findings.txt there. Skipped
    /// unless the variable names the folder of a run.
    /// </summary>
    [Fact]
    public void A_day_of_a_run_is_made_and_judged()
    {
        string? path = Environment.GetEnvironmentVariable(Variable);
        Assert.SkipUnless(path is not null, $"needs {Variable}: {Variable}=FOLDER, of a run to make a day of");
        string folder = Path.GetFullPath(path).TrimEnd('/') + "-day";
        using (StoredRun run = StoredRun.Open(path))
            Repeat(run, folder);
        using StoredRun day = StoredRun.Open(folder);
        TimeSpan before = Process.GetCurrentProcess().TotalProcessorTime;
        var elapsed = Stopwatch.StartNew();
        int found = RunFindings.Of(day).Count;
        TimeSpan used = Process.GetCurrentProcess().TotalProcessorTime - before;
        File.WriteAllText(Path.Combine(folder, "findings.txt"), string.Create(CultureInfo.InvariantCulture,
            $"{found} findings: {used.TotalSeconds:F2} s of CPU, {elapsed.Elapsed.TotalSeconds:F2} s\n"));
        Assert.NotEqual(0, found);
    }

    private static void Repeat(StoredRun run, string folder)
    {
        PhaseRecord last = run.Phases[^1];
        Sample[] before = [.. run.ReadSamples(withHistograms: true).Where(sample => sample.Phase != last.Number || sample.IsWarmup)];
        Sample[][] seconds = [.. run.ReadSamples(withHistograms: true).Where(sample => sample.Phase == last.Number && !sample.IsWarmup)
            .GroupBy(sample => sample.AtMilliseconds).Select(second => second.ToArray())];
        long begin = before[^1].AtMilliseconds;
        using RunStore store = RunStore.Create(folder, run.Run with { Id = Path.GetFileName(folder) }, run.Settings);
        store.SetDeployment(run.Deployment!);
        store.SetEnvironment(run.Environment!);
        foreach (PhaseRecord phase in run.Phases)
        {
            store.BeginPhase(phase with { IsComplete = false }, continues: false);
            store.EndPhase(phase);
        }

        foreach (StoredHistogram histogram in run.ReadHistograms())
            store.AddHistogram(histogram);
        foreach (Sample sample in before)
            store.AddSample(sample);
        for (int i = 0; i < SecondsOfDay; i++)
        {
            foreach (Sample sample in seconds[i % seconds.Length])
                store.AddSample(sample with { AtMilliseconds = begin + ((i + 1) * 1000L) });
        }

        RepeatMetrics([.. run.ReadServerSamples()], begin, store.AddServerSample);
        RepeatMetrics([.. run.ReadHostSamples()], begin, store.AddHostSample);
        store.SetState(RunState.Finished, null, DateTimeOffset.FromUnixTimeMilliseconds(begin).AddSeconds(SecondsOfDay));
    }

    /// <summary>What only grows goes on from where it was.</summary>
    private static void RepeatMetrics(MetricSample[] all, long begin, Action<MetricSample> add)
    {
        MetricSample[] once = [.. all.Where(sample => sample.AtMilliseconds > begin && sample.Member == all[0].Member)];
        double[] growth = [.. once[0].Values.Select((value, i) => Math.Max(0, once[^1].Values[i] - value))];
        for (int i = 0; i < SecondsOfDay; i++)
        {
            MetricSample one = once[i % once.Length];
            double rounds = i / once.Length;
            add(one with
            {
                AtMilliseconds = begin + ((i + 1) * 1000L), Values = [.. one.Values.Select((value, at) => value + (rounds * growth[at]))],
            });
        }
    }
}
