using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>How the CPU of the client's machine was used during a phase, its warm-up left out.</summary>
/// <param name="Busy">0 to 1: by anybody.</param>
/// <param name="OtherCores">
/// Used by neither the clients nor the servers under load, or stolen; null where the servers' part is not known.
/// </param>
/// <param name="StolenCores">Those of them that the hypervisor gave to other virtual machines.</param>
/// <param name="Cores">How many cores the machine has.</param>
/// <param name="Machine">Its name, of a run of several clients.</param>
public sealed record MachineUse(double Busy, double? OtherCores, double StolenCores, int Cores, string? Machine)
{
    public bool HasOthers => OtherCores >= OtherLoad.NotedShare * Cores;

    /// <summary>
    /// The use by the phase's number; nothing where no host samples fall into a phase. Of several machines it is the one that other
    /// programs used most.
    /// </summary>
    public static Dictionary<int, MachineUse> Of(StoredRun run)
    {
        var most = new Dictionary<int, MachineUse>();
        foreach ((int phase, MachineUse use) in HostSecond.Of(run)
            .GroupBy(second => second.Machine).SelectMany(machine => Of(run, machine)))
        {
            if (!most.TryGetValue(phase, out MachineUse? known)
                || (use.OtherCores ?? 0) / use.Cores > (known.OtherCores ?? 0) / known.Cores)
                most[phase] = use;
        }

        return most;
    }

    private static Dictionary<int, MachineUse> Of(StoredRun run, IEnumerable<HostSecond> machine)
    {
        List<Window> windows = ReadWindows(run);
        int next = 0;
        foreach (HostSecond second in machine)
        {
            while (next < windows.Count && windows[next].To < second.MiddleMilliseconds)
                next++;
            if (next < windows.Count && windows[next].From <= second.MiddleMilliseconds)
                windows[next].Add(second);
        }

        // A phase that continues after an interruption has several windows; the last is the stored result's.
        var use = new Dictionary<int, MachineUse>();
        foreach (Window window in windows.Where(w => w.Total > 0))
            use[window.Phase] = new MachineUse(
                1 - (window.Idle / window.Total), window.OtherSeconds > 0 ? window.Other / window.OtherSeconds : null,
                window.OtherSeconds > 0 ? window.Stolen / window.OtherSeconds : 0, window.Cores, window.Machine);
        return use;
    }

    private static List<Window> ReadWindows(StoredRun run)
    {
        var windows = new List<Window>();
        foreach (OperationSecond second in OperationSeconds.Of(run).All.Where(s => !s.IsWarmup))
        {
            if (windows.Count == 0 || windows[^1].Phase != second.Phase)
                windows.Add(new Window { Phase = second.Phase, From = second.StartMilliseconds });
            windows[^1].To = second.AtMilliseconds;
        }

        return windows;
    }

    private sealed class Window
    {
        public required int Phase { get; init; }

        public long From { get; init; }

        public long To { get; set; }

        public int Cores { get; private set; }

        public string? Machine { get; private set; }

        public double Idle { get; private set; }

        public double Total { get; private set; }

        /// <summary>Core-seconds, and over how many seconds they are known.</summary>
        public double Other { get; private set; }

        public double Stolen { get; private set; }

        public double OtherSeconds { get; private set; }

        public void Add(HostSecond second)
        {
            (Cores, Machine) = (second.Cores, second.Machine);
            Idle += second.Idle;
            Total += second.Total;
            if (second.OtherCores is not { } cores)
                return;
            Other += cores * second.Seconds;
            Stolen += second.StolenCores * second.Seconds;
            OtherSeconds += second.Seconds;
        }
    }
}

/// <summary>What lies between two host samples.</summary>
/// <param name="FromMilliseconds">Unix time.</param>
/// <param name="ToMilliseconds">Unix time, later.</param>
/// <param name="Idle">Core-microseconds, waiting for disks included.</param>
/// <param name="Total">Core-microseconds.</param>
/// <param name="OtherCores">The cores that <see cref="MachineUse"/> counts as others'; interrupts are nobody's.</param>
/// <param name="StolenCores">The cores that <see cref="MachineUse"/> counts as stolen; 0 where the kernel does not count them.</param>
/// <param name="ClientMicroseconds">Core-microseconds of the clients; null where they are not known.</param>
/// <param name="Cores">How many cores the machine has.</param>
/// <param name="Machine">Its name, of a run of several clients.</param>
internal readonly record struct HostSecond(
    long FromMilliseconds, long ToMilliseconds, double Idle, double Total, double? OtherCores, double StolenCores,
    double? ClientMicroseconds, int Cores, string? Machine)
{
    private static readonly IReadOnlyList<Metric> Metrics = MetricCatalogue.Only(
        MetricCatalogue.Host, "cpu_idle", "cpu_iowait", "cpu_user", "cpu_system", "cpu_steal", "client_cpu_user", "client_cpu_system",
        "cpu_interrupts", "servers_cpu");
    private static readonly int[] IdleColumns = Columns("cpu_idle", "cpu_iowait");
    private static readonly int[] UsedColumns = Columns("cpu_user", "cpu_system");
    private static readonly int[] StolenColumns = Columns("cpu_steal");
    private static readonly int[] ClientColumns = Columns("client_cpu_user", "client_cpu_system");
    private static readonly int[] InterruptColumns = Columns("cpu_interrupts");
    private static readonly int[] ServerColumns = Columns("servers_cpu");

    // Charts, verdicts and findings ask for them, and the samples need to be read only once.
    private static readonly OncePerRun<IReadOnlyList<HostSecond>> Known = new(static run => [.. Read(run)]);

    public long MiddleMilliseconds => (FromMilliseconds + ToMilliseconds) / 2;

    public double Seconds => (ToMilliseconds - FromMilliseconds) / 1000.0;

    /// <summary>
    /// Finds the seconds of each machine in time order. The first call reads the run's host samples. May be called from several threads.
    /// </summary>
    public static IReadOnlyList<HostSecond> Of(StoredRun run) => Known.Of(run);

    private static IEnumerable<HostSecond> Read(StoredRun run)
    {
        // The environment of several clients' run has the cores of all machines together.
        var machines = run.Run.Clients.GroupBy(client => client.Host ?? client.Name)
            .ToDictionary(machine => machine.Key, machine => machine.Max(client => client.CpuCount ?? 0));
        var before = new Dictionary<string, MetricSample>();
        foreach (MetricSample sample in run.ReadHostSamples(Metrics))
        {
            bool isOfSeveral = machines.TryGetValue(sample.Member, out int cores);
            if (before.TryGetValue(sample.Member, out MetricSample? last) && sample.AtMilliseconds > last.AtMilliseconds
                && Between(last, sample) is { Total: > 0, Idle: >= 0 } second)
            {
                if (!isOfSeveral)
                    cores = run.Environment?.CpuCount ?? 0;
                // How much other programs used is judged as a share of the cores. More core time than went by says that a sample's time is
                // wrong, and the machine's own is right.
                double own = cores > 0 ? Math.Max(1, second.Total / 1e6 / cores / second.Seconds) : 1;
                yield return second with
                {
                    Cores = cores, Machine = isOfSeveral ? sample.Member : null, OtherCores = cores > 0 ? second.OtherCores / own : null,
                    StolenCores = second.StolenCores / own,
                };
            }

            before[sample.Member] = sample;
        }
    }

    private static HostSecond Between(MetricSample before, MetricSample after)
    {
        double idle = Counted(IdleColumns);
        double used = Counted(UsedColumns), stolen = Counted(StolenColumns);
        double seconds = (after.AtMilliseconds - before.AtMilliseconds) / 1000.0;
        double client = Difference(ClientColumns), servers = Difference(ServerColumns);
        // A process that began anew counts from nothing: what it used before is not known.
        double ours = client < 0 || servers < 0 ? double.NaN : client + servers + Difference(InterruptColumns);
        return new HostSecond(
            before.AtMilliseconds, after.AtMilliseconds, idle, idle + used + stolen,
            double.IsNaN(ours) ? null : (Math.Max(0, used - ours) + stolen) / 1e6 / seconds, stolen / 1e6 / seconds,
            client >= 0 ? client : null, 0, null);

        double Difference(int[] columns) => columns.Sum(column => after.Values[column] - before.Values[column]);

        // A kernel that does not count steal or iowait leaves them at nothing.
        double Counted(int[] columns) => columns.Sum(column =>
            after.Values[column] - before.Values[column] is var difference && double.IsNaN(difference) ? 0 : difference);
    }

    private static int[] Columns(params string[] names) => [.. names.Select(name => MetricCatalogue.IndexOf(Metrics, name))];
}

/// <summary>
/// What programs that have nothing to do with a run, and other virtual machines on the same hardware, used of the client's
/// machine while it measured.
/// </summary>
/// <param name="Cores">The average number of cores in the phase in which it was most.</param>
/// <param name="Of">Cores of the machine.</param>
/// <param name="Phases">The phases in which it was worth a note; empty for all of several.</param>
/// <param name="HasServer">The server is on this machine too.</param>
/// <param name="Machine">Which, of a run of several clients.</param>
/// <param name="StolenCores">Those of them that the hypervisor gave to other virtual machines.</param>
public sealed record OtherLoad(
    double Cores, int Of, IReadOnlyList<string> Phases, bool HasServer, string? Machine = null, double StolenCores = 0)
{
    /// <summary>The share of the machine from which on it is said that others used it.</summary>
    public const double NotedShare = 0.1;

    /// <summary>The share of the machine from which on runs are not compared, unless that is forced.</summary>
    public const double RefusedShare = 0.25;

    public bool IsTooMuch => Cores >= RefusedShare * Of;

    /// <summary>"other programs used 1.5 of this machine's 2 cores in q4".</summary>
    public string Sentence
    {
        get
        {
            string most = Phases.Count == 1 ? "" : Words.Of("up to ");
            string where = Phases.Count == 0 ? "" : Words.Of($" in {Words.And(Phases)}");
            string machine = Machine is not null ? Words.Of($"of {Machine}'s {Of} cores")
                : HasServer ? Words.Of($"of this machine's {Of} cores") : Words.Of($"of the {Of} cores of the client's machine");
            return Words.Of($"{NameOf(StolenCores)} used {most}{Units.Significant(Math.Round(Cores, 1))} {machine}{where}");
        }
    }

    /// <summary>Who used what was not the run's, of which so many cores were stolen.</summary>
    public static string NameOf(double stolenCores) =>
        stolenCores < 0.05 ? Words.Of("other programs") : Words.Of("other programs and virtual machines");

    /// <returns>Null where nothing is known, or it was too little to matter.</returns>
    public static OtherLoad? Find(StoredRun run, IReadOnlyDictionary<int, MachineUse> use)
    {
        if (run.Environment is not { CpuCount: > 0 } environment)
            return null;
        PhaseRecord[] measured = [.. run.Phases.Where(phase => phase.Operations.Count > 0 && use.ContainsKey(phase.Number))];
        PhaseRecord[] disturbed = [.. measured.Where(phase => use[phase.Number].HasOthers)];
        if (disturbed.Length == 0)
            return null;
        string[] labels = [.. disturbed.Select(phase => PhaseLabels.Of(phase)).Distinct()];
        bool isAll = disturbed.Length == measured.Length && labels.Length > 1;
        MachineUse most = disturbed.Select(phase => use[phase.Number]).MaxBy(one => one.OtherCores / one.Cores)!;
        return new OtherLoad(most.OtherCores!.Value, most.Cores, isAll ? [] : labels, environment.ServerOnSameMachine,
            most.Machine, most.StolenCores);
    }
}
