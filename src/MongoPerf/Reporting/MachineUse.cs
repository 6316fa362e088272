using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting;

/// <summary>How the CPU of the client's machine was used during a phase, its warm-up left out.</summary>
/// <param name="Busy">0 to 1: by anybody.</param>
/// <param name="OtherCores">Used by neither the client nor the servers under load; null where the servers' part is not known.</param>
internal sealed record MachineUse(double Busy, double? OtherCores)
{
    /// <summary>By the phase's number; nothing where no host samples fall into a phase.</summary>
    public static Dictionary<int, MachineUse> Of(StoredRun run)
    {
        List<Window> windows = ReadWindows(run);
        int next = 0;
        foreach (HostSecond second in HostSecond.Of(run))
        {
            while (next < windows.Count && windows[next].To < second.MiddleMilliseconds)
                next++;
            if (next < windows.Count && windows[next].From <= second.MiddleMilliseconds)
                windows[next].Add(second);
        }

        // A phase that continues after an interruption has several windows; the last is the stored result's.
        var use = new Dictionary<int, MachineUse>();
        foreach (Window window in windows.Where(w => w.Total > 0))
            use[window.Phase] = new MachineUse(1 - (window.Idle / window.Total), window.OtherSeconds > 0 ? window.Other / window.OtherSeconds : null);
        return use;
    }

    private static List<Window> ReadWindows(StoredRun run)
    {
        var windows = new List<Window>();
        foreach (Sample sample in run.ReadSamples().Where(s => !s.IsWarmup))
        {
            if (windows.Count == 0 || windows[^1].Phase != sample.Phase)
                windows.Add(new Window { Phase = sample.Phase, From = sample.AtMilliseconds - (long)(sample.Seconds * 1000) });
            windows[^1].To = sample.AtMilliseconds;
        }

        return windows;
    }

    private sealed class Window
    {
        public required int Phase { get; init; }

        public long From { get; init; }

        public long To { get; set; }

        public double Idle { get; private set; }

        public double Total { get; private set; }

        /// <summary>Core-seconds, and over how many seconds they are known.</summary>
        public double Other { get; private set; }

        public double OtherSeconds { get; private set; }

        public void Add(HostSecond second)
        {
            Idle += second.Idle;
            Total += second.Total;
            if (second.OtherCores is not { } cores)
                return;
            Other += cores * second.Seconds;
            OtherSeconds += second.Seconds;
        }
    }
}

/// <summary>What lies between two host samples.</summary>
/// <param name="FromMilliseconds">Unix time.</param>
/// <param name="ToMilliseconds">Unix time, later.</param>
/// <param name="Idle">Core-microseconds, waiting for disks included.</param>
/// <param name="Total">Core-microseconds.</param>
/// <param name="OtherCores">As of <see cref="MachineUse"/>; interrupts are nobody's.</param>
internal readonly record struct HostSecond(long FromMilliseconds, long ToMilliseconds, double Idle, double Total, double? OtherCores)
{
    private static readonly int[] IdleColumns = Columns("cpu_idle", "cpu_iowait");
    private static readonly int[] UsedColumns = Columns("cpu_user", "cpu_system");
    private static readonly int[] StolenColumns = Columns("cpu_steal");
    private static readonly int[] ClientColumns = Columns("client_cpu_user", "client_cpu_system");
    private static readonly int[] InterruptColumns = Columns("cpu_interrupts");
    private static readonly int[] ServerColumns = Columns("servers_cpu");

    public long MiddleMilliseconds => (FromMilliseconds + ToMilliseconds) / 2;

    public double Seconds => (ToMilliseconds - FromMilliseconds) / 1000.0;

    public static IEnumerable<HostSecond> Of(StoredRun run)
    {
        MetricSample? before = null;
        foreach (MetricSample sample in run.ReadHostSamples())
        {
            if (before is not null && sample.AtMilliseconds > before.AtMilliseconds && Between(before, sample) is { Total: > 0, Idle: >= 0 } second)
                yield return second;
            before = sample;
        }
    }

    private static HostSecond Between(MetricSample before, MetricSample after)
    {
        double idle = Known(IdleColumns);
        double used = Known(UsedColumns);
        double seconds = (after.AtMilliseconds - before.AtMilliseconds) / 1000.0;
        double ours = Difference(ClientColumns) + Difference(ServerColumns) + Difference(InterruptColumns);
        return new HostSecond(
            before.AtMilliseconds, after.AtMilliseconds, idle, idle + used + Known(StolenColumns), double.IsNaN(ours) ? null : Math.Max(0, used - ours) / 1e6 / seconds);

        double Difference(int[] columns) => columns.Sum(column => after.Values[column] - before.Values[column]);

        // A kernel that does not count steal or iowait leaves them at nothing.
        double Known(int[] columns) => columns.Select(column => after.Values[column] - before.Values[column]).Where(difference => !double.IsNaN(difference)).Sum();
    }

    private static int[] Columns(params string[] names) => [.. names.Select(name => MetricCatalogue.IndexOf(MetricCatalogue.Host, name))];
}

/// <summary>What programs that have nothing to do with a run used of the client's machine while it measured.</summary>
/// <param name="Cores">On average, in the phase in which it was most.</param>
/// <param name="Of">Cores of the machine.</param>
/// <param name="Phases">In which it was worth a note; empty for all of several.</param>
/// <param name="HasServer">The server is on this machine too.</param>
internal sealed record OtherLoad(double Cores, int Of, IReadOnlyList<string> Phases, bool HasServer)
{
    /// <summary>Of the machine; from here on it is said.</summary>
    public const double NotedShare = 0.1;

    /// <summary>Of the machine; from here on runs are not compared, unless that is forced.</summary>
    public const double RefusedShare = 0.25;

    public bool IsTooMuch => Cores >= RefusedShare * Of;

    /// <summary>"other programs used 1.5 of this machine's 2 cores in q4".</summary>
    public string Sentence
    {
        get
        {
            string most = Phases.Count == 1 ? "" : Words.Of("up to ");
            string where = Phases.Count == 0 ? "" : Words.Of($" in {string.Join(", ", Phases)}");
            string machine = HasServer ? Words.Of($"of this machine's {Of} cores") : Words.Of($"of the {Of} cores of the client's machine");
            return Words.Of($"other programs used {most}{Units.Significant(Math.Round(Cores, 1))} {machine}{where}");
        }
    }

    /// <returns>Null where nothing is known, or it was too little to matter.</returns>
    public static OtherLoad? Find(StoredRun run, IReadOnlyDictionary<int, MachineUse> use)
    {
        if (run.Environment is not { CpuCount: > 0 and var cores } environment)
            return null;
        PhaseRecord[] measured = [.. run.Phases.Where(phase => phase.Operations.Count > 0 && use.ContainsKey(phase.Number))];
        PhaseRecord[] disturbed = [.. measured.Where(phase => IsNoted(use[phase.Number], cores))];
        if (disturbed.Length == 0)
            return null;
        string[] labels = [.. disturbed.Select(phase => PhaseLabels.Of(phase)).Distinct()];
        bool isAll = disturbed.Length == measured.Length && labels.Length > 1;
        return new OtherLoad(disturbed.Max(phase => use[phase.Number].OtherCores!.Value), cores, isAll ? [] : labels, environment.ServerOnSameMachine);
    }

    public static bool IsNoted(MachineUse use, int cores) => use.OtherCores >= NotedShare * cores;
}
