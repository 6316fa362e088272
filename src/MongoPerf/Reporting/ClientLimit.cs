using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting;

/// <summary>Whether figures are the client's or the machine's own limit, with the evidence in a sentence.</summary>
/// <remarks>A thread can use one core at most, all of them together the machine's. From 85 % of that on, a faster server would hardly have
/// shown. Where client and server share a machine that was 95 % busy, neither's limit can be told.</remarks>
internal sealed class ClientLimit
{
    private const double ClientShare = 0.85;
    private const double MachineShare = 0.95;

    private ClientLimit(bool isLimit, IReadOnlyList<string> sentences)
    {
        IsLimit = isLimit;
        Sentences = sentences;
    }

    /// <summary>True when the client or the shared machine held any of the figures back.</summary>
    public bool IsLimit { get; }

    /// <summary>One at least.</summary>
    public IReadOnlyList<string> Sentences { get; }

    public static ClientLimit Of(StoredRun run)
    {
        int cores = run.Environment?.CpuCount ?? 0;
        bool shared = run.Environment?.ServerOnSameMachine ?? false;
        var measured = run.Steps.SelectMany(s => s.Tests.Select(t => (s.Step, Test: t))).ToList();
        if (measured.Count == 0 || cores == 0)
            return new ClientLimit(false, ["whether the client was the limit is unknown: nothing was measured"]);

        Dictionary<(int, string, int), double> busy = shared ? MachineBusy.Of(run) : [];
        HashSet<string> several = [.. measured.GroupBy(m => m.Test.Test).Where(g => g.Select(m => m.Test.Threads).Distinct().Count() > 1).Select(g => g.Key)];
        List<string> full = [];
        List<string> held = [];
        double fullest = 0;
        foreach (var group in measured.GroupBy(m => (m.Test.Test, m.Test.Threads)))
        {
            (string test, int threads) = group.Key;
            string name = several.Contains(test) ? $"{test} at {Threads(threads)}" : test;
            double reachable = Math.Min(threads, cores);
            double[] machine = [.. group.Select(m => busy.GetValueOrDefault((m.Step, test, threads))).Where(share => share >= MachineShare)];
            double[] client = [.. group.Select(m => m.Test.ClientCpuCores).Where(used => used / reachable >= ClientShare)];
            if (machine.Length > 0)
            {
                full.Add($"{name} ({machine.Length} of {group.Count()} sizes)");
                fullest = Math.Max(fullest, machine.Max());
            }
            else if (client.Length > 0)
            {
                held.Add($"{name} ({client.Length} of {group.Count()} sizes, {Used(client.Max(), reachable, threads)})");
            }
        }

        List<string> sentences = [];
        if (full.Count > 0)
        {
            sentences.Add(
                $"client and server share this machine, and its {cores} cores were up to {Units.Percent(fullest)} busy in {string.Join(", ", full)}: "
                + "those rates are the machine's, neither the server's nor the client's alone");
        }

        if (held.Count > 0)
            sentences.Add($"the client was the limit in {string.Join(", ", held)}");
        if (sentences.Count > 0)
            return new ClientLimit(true, sentences);
        TestResult most = measured.MaxBy(m => m.Test.ClientCpuCores / Math.Min(m.Test.Threads, cores)).Test;
        return new ClientLimit(
            false, [$"the client was not the limit: at most {Used(most.ClientCpuCores, Math.Min(most.Threads, cores), most.Threads)}, in {most.Test}"]);
    }

    private static string Used(double used, double reachable, int threads) =>
        $"{Units.Significant(used)} of the {Cores(reachable)} that {Threads(threads)} can use";

    private static string Threads(int threads) => threads == 1 ? "1 thread" : $"{threads} threads";

    private static string Cores(double cores) => cores == 1 ? "1 core" : $"{cores:0} cores";
}

/// <summary>How much of the machine's CPU time was used during each test.</summary>
internal static class MachineBusy
{
    private sealed class Window
    {
        public required (int Step, string Test, int Threads) Key { get; init; }
        public long From { get; set; }
        public long To { get; set; }
        public double Idle { get; set; }
        public double Total { get; set; }
    }

    /// <summary>0 to 1, by step, test and threads; nothing where no host samples fall into a test.</summary>
    public static Dictionary<(int, string, int), double> Of(StoredRun run)
    {
        List<Window> windows = ReadWindows(run);
        int next = 0;
        MetricSample? before = null;
        foreach (MetricSample sample in run.ReadHostSamples())
        {
            if (before != null)
            {
                long middle = (before.AtMilliseconds + sample.AtMilliseconds) / 2;
                while (next < windows.Count && windows[next].To < middle)
                    next++;
                if (next < windows.Count && windows[next].From <= middle)
                    Add(windows[next], before, sample);
            }

            before = sample;
        }

        // A step that was run again has several windows; the last is the stored result's.
        var busy = new Dictionary<(int, string, int), double>();
        foreach (Window window in windows.Where(w => w.Total > 0))
            busy[window.Key] = 1 - (window.Idle / window.Total);
        return busy;
    }

    private static List<Window> ReadWindows(StoredRun run)
    {
        var windows = new List<Window>();
        foreach (PhaseSample sample in run.ReadSamples().Where(s => !s.IsWarmup))
        {
            var key = (sample.Step, sample.Test, sample.Threads);
            if (windows.Count == 0 || windows[^1].Key != key)
                windows.Add(new Window { Key = key, From = sample.AtMilliseconds - (long)(sample.Seconds * 1000) });
            windows[^1].To = sample.AtMilliseconds;
        }

        return windows;
    }

    private static void Add(Window window, MetricSample before, MetricSample sample)
    {
        double idle = Difference("cpu_idle") + Difference("cpu_iowait");
        double total = idle + Difference("cpu_user") + Difference("cpu_system") + Difference("cpu_steal");
        if (!(total > 0) || idle < 0)
            return;
        window.Idle += idle;
        window.Total += total;

        // A kernel that does not count steal or iowait leaves them at nothing.
        double Difference(string metric)
        {
            int column = MetricCatalogue.IndexOf(MetricCatalogue.Host, metric);
            double difference = sample.Values[column] - before.Values[column];
            return double.IsNaN(difference) ? 0 : difference;
        }
    }
}
