using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>Whether figures are the client's or the machine's own limit, with the evidence in a sentence.</summary>
/// <remarks>
/// A thread can use one core at most, all of them together the machine's. From 85 % of that on, a faster server would hardly have shown.
/// Where client and server share a machine that was 95 % busy, neither's limit can be told. Where the client was calibrated, more than half
/// of an operation's time says the same of a single thread, which waits for the loopback and uses no core up.
/// </remarks>
public sealed class ClientLimit
{
    private const double ClientShare = 0.85;
    private const double MachineShare = 0.95;

    private ClientLimit(bool isLimit, IReadOnlyList<string> sentences, OtherLoad? other = null)
    {
        IsLimit = isLimit;
        Sentences = sentences;
        Other = other;
    }

    /// <summary>
    /// Programs that have nothing to do with the run; null where they used too little to matter, or nothing is known of them.
    /// </summary>
    public OtherLoad? Other { get; }

    /// <summary>True when the client or the shared machine held any of the figures back.</summary>
    public bool IsLimit { get; }

    /// <summary>One at least.</summary>
    public IReadOnlyList<string> Sentences { get; }

    /// <summary>
    /// What part of the time client and loopback took at most, in a sentence; null where that is not known, or is among
    /// <see cref="Sentences"/>.
    /// </summary>
    public string? Share { get; private init; }

    /// <summary>
    /// An operation's result, and what the client used of what it could; of several clients' machines the one that is nearest to its limit.
    /// </summary>
    private sealed record Measured(PhaseRecord Phase, OperationResult Result, double Cores, int Threads, double Reachable)
    {
        public string Label => PhaseLabels.Of(Phase, Result.Operation);

        public double Share => Cores / Reachable;

        public string Used =>
            Words.Of($"{Units.Significant(Cores)} of the {ClientLimit.Cores(Reachable)} that {Words.Counted(Threads, "thread")} can use");

        public static Measured Of(StoredRun run, PhaseRecord phase, OperationResult result) => result.Clients
            .Join(run.Run.Clients.Where(client => client.CpuCount > 0), own => own.Client, client => client.Name,
                (own, client) => (own, client))
            .GroupBy(one => one.client.Host ?? one.client.Name, one => one)
            .Select(machine => Of(phase, result, machine.Sum(one => one.own.CpuCores), machine.Sum(one => one.own.Threads),
                machine.Max(one => one.client.CpuCount!.Value)))
            .MaxBy(machine => machine.Share)
            ?? Of(phase, result, result.ClientCpuCores, result.Threads, run.Environment!.CpuCount);

        private static Measured Of(PhaseRecord phase, OperationResult result, double cores, int threads, int machineCores) =>
            new(phase, result, cores, threads, Math.Min(threads, machineCores));
    }

    // Each format of a report, its findings and a comparison ask for it, and the samples need to be read only once for them.
    private static readonly OncePerRun<ClientLimit> Known = new(Find, hasTexts: true);

    /// <summary>Reads the run's samples. May be called from several threads.</summary>
    public static ClientLimit Of(StoredRun run) => Known.Of(run);

    private static ClientLimit Find(StoredRun run)
    {
        if (run.Environment is not { CpuCount: > 0 and var cores })
            return new ClientLimit(false, []);
        List<Measured> measured =
            [.. run.Phases.SelectMany(phase => phase.Operations.Where(HasEnough).Select(result => Measured.Of(run, phase, result)))];
        if (measured.Count == 0)
            return new ClientLimit(false, []);

        Dictionary<int, MachineUse> use = MachineUse.Of(run);
        OtherLoad? other = OtherLoad.Find(run, use);
        // Where other programs took their part of a full machine, neither client nor server is to blame.
        Dictionary<int, double> busy = run.Environment is { ServerOnSameMachine: true }
            ? use.Where(one => !one.Value.HasOthers).ToDictionary(one => one.Key, one => one.Value.Busy)
            : [];
        HashSet<string> several = [.. measured.GroupBy(m => m.Label)
            .Where(g => g.Select(m => m.Result.Threads).Distinct().Count() > 1).Select(g => g.Key)];
        List<string> full = [];
        List<string> held = [];
        double fullest = 0;
        foreach (var group in measured.GroupBy(m => (m.Label, m.Result.Threads)))
        {
            string name = several.Contains(group.Key.Label)
                ? Words.Of($"{group.Key.Label} with {Words.Counted(group.Key.Threads, "thread")}")
                : group.Key.Label;
            double[] machine = [.. group.Select(m => busy.GetValueOrDefault(m.Phase.Number)).Where(share => share >= MachineShare)];
            Measured[] client = [.. group.Where(m => m.Share >= ClientShare)];
            if (machine.Length > 0)
            {
                full.Add(name + InBrackets(HowMany(machine.Length, [.. group])));
                fullest = Math.Max(fullest, machine.Max());
            }
            else if (client.Length > 0)
            {
                held.Add(name + InBrackets(HowMany(client.Length, [.. group]), client.MaxBy(m => m.Cores)!.Used));
            }
        }

        List<string> sentences = [];
        if (full.Count > 0)
        {
            sentences.Add(
                Words.Of($"client and server share this machine, and its {Cores(cores)} were up to {Units.Percent(fullest)} busy in "
                    + $"{string.Join(", ", full)}: "
                + $"these rates show the limit of the machine, not of the server or the client alone"));
        }

        if (held.Count > 0)
            sentences.Add(Words.Of($"the client was the bottleneck in {string.Join(", ", held)}"));
        ClientShares? shares = ClientShares.Find(run);
        if (shares is { IsLimit: true })
            sentences.Add(shares.Sentence);
        string? share = shares is { IsLimit: false } ? shares.Sentence : null;
        if (sentences.Count > 0)
            return new ClientLimit(true, sentences, other) { Share = share };
        Measured most = measured.MaxBy(m => m.Share)!;
        return new ClientLimit(
            false, [Words.Of($"the client was not the bottleneck: it used at most {most.Used}, in {most.Label}")], other) { Share = share };
    }

    /// <summary>A moment's CPU time is whatever happened in it.</summary>
    private static bool HasEnough(OperationResult result) =>
        result.Connections is null && (result.Seconds >= 1 || Reports.ClientShare.HasEnough(result));

    /// <summary>"2 of 10 sizes"; null for the only one.</summary>
    private static string? HowMany(int count, Measured[] of) => (of.Length, of.All(m => m.Phase.Growth is not null)) switch
    {
        (1, _) => null,
        (_, true) => Words.Of($"{count} of {of.Length} sizes"),
        _ => Words.Of($"{count} of {of.Length} phases"),
    };

    private static string InBrackets(params string?[] parts) =>
        parts.All(part => part is null) ? "" : $" ({string.Join("; ", parts.Where(part => part is not null))})";

    private static string Cores(double cores) => cores == 1 ? Words.Of("1 core") : Words.Of($"{cores:0} cores");
}
