using System.Globalization;
using System.Text;
using MongoPerf.Learning.Observing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>A phase of the file.</summary>
/// <param name="Name">Its name in results.</param>
/// <param name="Seen">What it stands for.</param>
/// <param name="Operations">Its operations, by the names that they have in results.</param>
public sealed record WrittenPhase(string Name, ObservedPhase Seen, IReadOnlyList<(PhaseOperation Operation, string Name)> Operations);

/// <summary>
/// Writes what a deployment was seen doing as the <c>phases</c> of a scenario: for each mix one phase, and then the sizes of what was
/// written to, so that they are those of collections that were in use, as the deployment's are.
/// </summary>
public sealed class PhaseWriter
{
    private const int MostPieces = 24;
    private const double LongestInPieces = 1800;
    private const int MostThreads = 1000;
    private const int LongestName = 60;

    /// <summary>Of each phase at each size of a growth.</summary>
    private const int SecondsAtSize = 10, WarmupAtSize = 2;

    /// <summary>This share of a mix is hardly a mix.</summary>
    private const double Nearly = 0.9;

    private readonly StringBuilder _text = new();
    private readonly Dictionary<LearnedOperation, (string Name, IReadOnlyList<string> Lines)> _written =
        new(ReferenceEqualityComparer.Instance);
    private readonly Dictionary<string, double> _growth = new(StringComparer.Ordinal);

    /// <summary>Of each collection, whether its first phase does hardly anything but insert.</summary>
    private readonly Dictionary<string, bool> _begins = new(StringComparer.Ordinal);

    /// <summary>A longer observation is shortened: its rates and their order stay.</summary>
    private readonly double _share;

    private readonly bool _isDivided;
    private readonly IReadOnlyDictionary<(string Phase, string Operation), string> _remarks;
    private readonly WrittenGrowth? _target;

    /// <param name="mix">What was seen in the database that the file describes.</param>
    /// <param name="data">What the file says of its data.</param>
    /// <param name="remarks">Comments on operations, by the names of phase and operation; null for none.</param>
    /// <param name="growth">
    /// Collections grow to this, and at each size everything is done that neither inserts into them nor removes from them; null for the
    /// collections as they are.
    /// </param>
    public PhaseWriter(OperationMix mix, IWrittenData data,
        IReadOnlyDictionary<(string Phase, string Operation), string>? remarks = null, WrittenGrowth? growth = null)
    {
        _target = growth;
        _remarks = remarks ?? new Dictionary<(string, string), string>();
        _share = Math.Min(1, LongestInPieces / mix.Phases.Sum(phase => phase.Seconds));
        _isDivided = mix.Phases.Count > 1;
        var operations = new OperationWriter(data);
        List<string> notLearned = [.. mix.NotLearned];
        var leftOut = new Dictionary<string, RequestCount>(mix.LeftOut, StringComparer.Ordinal);
        var names = new HashSet<string>(StringComparer.Ordinal) { "total" };
        foreach (LearnedOperation operation in mix.Operations)
        {
            if (operation.Replies is { AreEnough: true, Failed: > 0 } replies)
                notLearned.Add(TellFailed(operation, replies));
            if (Succeeding(operation) == 0)
            {
                LeaveOut("inserts that failed", operation);
                continue;
            }

            foreach (string part in operation.LeftOut)
                notLearned.Add(FormattableString.Invariant($"of {operation.Count:0} operations ({operation.Kind}): {part}"));
            try
            {
                IReadOnlyList<string> lines = operations.Write(operation);
                _written[operation] = (Unique(operations.NameOf(operation), operations.Distinction(operation), names), lines);
            }
            catch (NotWritableException e)
            {
                LeaveOut($"operations ({operation.Kind}): {e.Message}", operation);
            }
        }

        foreach ((string what, RequestCount requests) in leftOut.OrderByDescending(one => one.Value.Requests))
            notLearned.Add(FormattableString.Invariant($"{what} ({requests.Requests:0} times)"));
        (Accounting, LeftOutShare) = Account(mix, leftOut);
        if (_written.Keys.Any(one => one.Kind == "steps"
            && one.Parts.Any(part => part.WriteConcern is not null || part.ReadConcern is not null)))
            notLearned.Add("the read and write concerns of transactions");
        if (_written.Keys.Any(one => one.Kind == "steps"))
            notLearned.Add("the topology: the transactions below need a replica set or a mongos (--topology replicaset)");
        string[] sizes = [.. Written(_written.Keys).Union(data.TimeSeries).Select(data.CollectionOf).OfType<string>()];
        names = [.. sizes.Select(SizeOf)];
        Phases =
        [
            .. mix.Phases.Where(phase => phase.Operations.Any(one => _written.ContainsKey(one.Operation)))
                .Select(phase => Named(phase, names)).Select(WithoutGrowth).OfType<WrittenPhase>(),
        ];
        if (Phases.Count > 0 || growth is not null)
            _text.Append("phases:\n");
        double count = _written.Keys.Sum(one => one.Count);
        Comment(mix.Seconds > 0 ? $"{Number(count / mix.Seconds)} operations per second for {Number(mix.Seconds)} s, from {mix.Source}"
            : ScenarioText.NothingSeen);
        if (_isDivided)
            Comment("one phase for each mix of operations, as they came one after the other"
                + (_share < 1 ? FormattableString.Invariant($", in {100 * _share:0.#} % of the time") : ""));
        foreach (string note in notLearned.Concat(operations.NotLearned).Distinct())
            Comment($"not learned: {note}");
        if (growth is not null)
        {
            Comment(growth.Describe(name => data.CollectionOf(name) ?? name));
            sizes = [.. growth.Factors.Keys.Select(data.CollectionOf).OfType<string>()];
            WriteGrowth(growth, data, sizes);
            return;
        }

        foreach (WrittenPhase phase in Phases)
            Write(phase);
        foreach (string collection in Phases.Count > 0 ? sizes : [])
            WriteSizes(collection);

        void LeaveOut(string what, LearnedOperation operation) =>
            leftOut[what] = leftOut.GetValueOrDefault(what) + operation.Requests;
    }

    private void WriteSizes(string collection) => _text.Append(CultureInfo.InvariantCulture,
        $"  - {{name: {YamlText.Name(SizeOf(collection))}, sizes: {YamlText.Name(collection)}}}\n");

    private void WriteGrowth(WrittenGrowth growth, IWrittenData data, string[] sizes)
    {
        string factors = string.Join(", ", growth.Factors.Select(one => $"{YamlText.Name(data.CollectionOf(one.Key)!)}: {one.Value}"));
        string grown = growth.Factors is { Count: 1 } && growth.Factors.Values.First() == 1 ? YamlText.Name(sizes[0]) : $"{{{factors}}}";
        _text.Append(CultureInfo.InvariantCulture, $"""
              - grow: {grown}
                name: growth
                to: {growth.Size}
                step: {growth.Step}
                writes:
                  - {Curly("name: batches, share: 98, batch: 500, ordered: false")}
                  - {Curly("name: singles, share: 2")}
                each:

            """);
        int begin = _text.Length;
        foreach (WrittenPhase phase in Phases)
            Write(phase);
        foreach (string collection in sizes)
            WriteSizes(collection);
        string each = _text.ToString(begin, _text.Length - begin);
        _text.Length = begin;
        foreach (string line in each.TrimEnd('\n').Split('\n'))
            _text.Append("    ").Append(line).Append('\n');

        static string Curly(string inner) => $"{{{inner}}}";
    }

    /// <summary>Without what inserts into collections that grow, or removes from them: sizes would not be those of the steps.</summary>
    private WrittenPhase? WithoutGrowth(WrittenPhase phase)
    {
        if (_target is not { } growth)
            return phase;
        (PhaseOperation Operation, string Name)[] kept = [.. phase.Operations.Where(one => !LeavesOf(one.Operation.Operation)
            .Any(leaf => growth.Factors.ContainsKey(leaf.Collection) && (IsInsert(leaf) || leaf.Kind == "delete" || leaf.IsRemove)))];
        return kept.Length == 0 ? null
            : phase with { Seen = phase.Seen with { Operations = [.. kept.Select(one => one.Operation)] }, Operations = kept };
    }

    /// <summary>What became of all requests that were seen, in one line; empty for none.</summary>
    public string Accounting { get; }

    /// <summary>The share of the time that requests of this database took, or of their number, which is left out.</summary>
    public double LeftOutShare { get; }

    /// <summary>The section; nothing but comments where nothing was learned that could be written.</summary>
    public string Text => _text.ToString();

    /// <summary>The phases of the file, without those that take sizes.</summary>
    public IReadOnlyList<WrittenPhase> Phases { get; }

    /// <summary>How many documents of a collection are to be loaded, so that it has as many as it had when the phases are over.</summary>
    /// <remarks>
    /// All of them where what phases remove isn't known, and where too few would be left for reads: what was inserted within a mix may
    /// have come before it. More of them where phases remove more than they insert.
    /// </remarks>
    /// <param name="collection">Its name in the deployment.</param>
    /// <param name="documents">How many it had.</param>
    public long LoadedOf(string collection, long documents)
    {
        if (_target is not null)
            return documents;
        double left = Math.Max(0, documents - _growth.GetValueOrDefault(collection));
        bool isKnown = left > documents ? double.IsFinite(left)
            : left < documents && (left >= documents / 2.0 || _begins.GetValueOrDefault(collection));
        return isKnown ? (long)left : documents;
    }

    /// <summary>A growth inserts all documents of a collection.</summary>
    /// <param name="collection">Its name in the deployment.</param>
    public bool Grows(string collection) => _target?.Factors.ContainsKey(collection) is true;

    private (string Line, double LeftOut) Account(OperationMix mix, Dictionary<string, RequestCount> leftOut)
    {
        RequestCount learned = _written.Keys.Aggregate(default(RequestCount), (sum, one) => sum + one.Requests);
        RequestCount left = leftOut.Values.Aggregate(default(RequestCount), (sum, one) => sum + one);
        RequestCount all = learned + left;
        double share = all.Microseconds > 0 ? left.Microseconds / all.Microseconds : all.Requests > 0 ? left.Requests / all.Requests : 0;
        string of = all.Microseconds > 0 ? " of their time" : "";
        double seen = all.Requests + mix.Elsewhere + mix.Others + mix.NotUnderstood;
        return seen == 0 ? ("", 0) : (string.Create(CultureInfo.InvariantCulture,
            $"{seen:N0} requests = {learned.Requests:N0} learned ({100 * (1 - share):0.#} %{of}) + {left.Requests:N0} left out "
            + $"({100 * share:0.#} %) + {mix.Elsewhere:N0} on other databases + {mix.Others:N0} of drivers and monitoring + "
            + $"{mix.NotUnderstood:N0} not understood"), share);
    }

    private static string SizeOf(string collection) => $"size {collection}";

    /// <summary>One phase is learned; of several each has the name of its only operation, but for rare ones, or is a mix.</summary>
    private WrittenPhase Named(ObservedPhase phase, HashSet<string> names)
    {
        (PhaseOperation Operation, string Name)[] operations =
        [
            .. phase.Operations.Where(one => _written.ContainsKey(one.Operation)).Select(one => (one, _written[one.Operation].Name)),
        ];
        string name = !_isDivided ? "learned"
            : operations is [var (most, only), ..] && most.Count >= Nearly * operations.Sum(one => one.Operation.Count) ? only : "mix";
        return new WrittenPhase(Unique(name, "", names), phase, operations);
    }

    private void Write(WrittenPhase phase)
    {
        double count = phase.Operations.Sum(one => CountOf(one.Operation));
        _text.Append(CultureInfo.InvariantCulture, $"  - name: {YamlText.Name(phase.Name)}\n    explain: true\n");
        double took = phase.Operations.Sum(one => CountOf(one.Operation) * (one.Operation.Latency?.P50 ?? 0)) / count;
        double seconds = WriteTimes(phase.Seen, count, took);
        _text.Append("    operations:\n");
        foreach (string collection in phase.Operations.SelectMany(one => CollectionsOf(one.Operation)).Except(_begins.Keys).ToArray())
        {
            PhaseOperation[] own = [.. phase.Operations.Select(one => one.Operation).Where(one => CollectionsOf(one).Contains(collection))];
            _begins[collection] =
                own.Where(one => LeavesOf(one.Operation).All(IsInsert)).Sum(one => one.Count) >= Nearly * own.Sum(one => one.Count);
        }

        foreach ((PhaseOperation operation, string name) in phase.Operations)
        {
            Grow(operation, seconds / phase.Seen.Seconds);
            _text.Append(CultureInfo.InvariantCulture, $"      - name: {YamlText.Quoted(name)}\n");
            if (phase.Operations.Count > 1)
                _text.Append(CultureInfo.InvariantCulture, $"        weight: {Number(Math.Max(CountOf(operation) / count * 100, 1e-6))}\n");
            foreach (string line in _written[operation.Operation].Lines)
                _text.Append(CultureInfo.InvariantCulture, $"        {line}\n");
            if (operation.Latency is { } latency)
                _text.Append(CultureInfo.InvariantCulture,
                    $"        # took {Took(latency.P50)} µs (p50), {Took(latency.P90)} (p90), {Took(latency.P99)} (p99)\n");
            if (_remarks.TryGetValue((phase.Name, name), out string? remark))
                Comment(remark, "        ");
        }
    }

    /// <summary>Counts what an operation adds to a collection or takes from it.</summary>
    private void Grow(PhaseOperation operation, double share)
    {
        // A reference draws from as many documents as are loaded.
        bool draws = _written[operation.Operation].Lines.Any(line => line.Contains("^reference", StringComparison.Ordinal));
        foreach (LearnedOperation one in LeavesOf(operation.Operation))
        {
            double documents = one.Kind switch
            {
                _ when draws => double.NegativeInfinity,
                _ when IsInsert(one) => one.DocumentsPerOperation,
                "delete" when one is { Replies: { AreEnough: true } replies } => -replies.Documents,
                // How many it removes isn't known.
                "delete" when one.IsMany => double.NegativeInfinity,
                "delete" => -one.DocumentsPerOperation,
                "findAndModify" when one.IsRemove => one is { Replies: { AreEnough: true } replies } ? -replies.Documents : -1,
                _ => 0,
            };
            if (documents != 0)
                _growth[one.Collection] = _growth.GetValueOrDefault(one.Collection) + (documents * CountOf(operation) * share);
        }
    }

    /// <summary>
    /// How many of the operations the file does: inserts that failed would succeed with its values. Of an insertMany that met an error, the
    /// documents before it, or around it, are there.
    /// </summary>
    private static double CountOf(PhaseOperation operation) => operation.Count * Succeeding(operation.Operation);

    private static double Succeeding(LearnedOperation operation)
    {
        if (operation is not { Kind: "insert" or "insertMany", Replies: { AreEnough: true } replies })
            return 1;
        double done = operation.Kind == "insert" ? 1 - replies.Failed : Math.Min(1, replies.Documents / operation.DocumentsPerOperation);
        return done > 0.02 ? done : 0;
    }

    private static string TellFailed(LearnedOperation operation, ObservedReplies replies)
    {
        (int code, _) = replies.Errors.MaxBy(one => one.Value);
        return FormattableString.Invariant($"{Math.Round(operation.Count * replies.Failed):0} of {operation.Count:0} operations (")
            + FormattableString.Invariant($"{operation.Kind}) failed, most of them with error {code}: ")
            + (operation.Kind == "insertMany" ? "what they inserted is learned"
                : Succeeding(operation) < 1 ? "these are left out" : "these succeed here");
    }

    /// <summary>The collections that operations write to.</summary>
    private static IEnumerable<string> Written(IEnumerable<LearnedOperation> operations) => operations.SelectMany(LeavesOf)
        .Where(one => one.Kind is not ("find" or "count" or "distinct" or "aggregate"))
        .Select(one => one.Collection).Distinct(StringComparer.Ordinal);

    private static IReadOnlyList<LearnedOperation> LeavesOf(LearnedOperation operation) =>
        operation.Parts.Count > 0 ? operation.Parts : [operation];

    private static IEnumerable<string> CollectionsOf(PhaseOperation operation) =>
        LeavesOf(operation.Operation).Select(one => one.Collection);

    private static bool IsInsert(LearnedOperation operation) => operation.Kind is "insert" or "insertMany";

    /// <param name="phase">The phase.</param>
    /// <param name="count">How many operations that are written it had.</param>
    /// <param name="microseconds">How long they took on average.</param>
    /// <returns>How long it will be, in seconds, if operations take as long as they did.</returns>
    private double WriteTimes(ObservedPhase phase, double count, double microseconds)
    {
        double rate = count / phase.Seconds;
        double[] pieces = phase.Think is null && _target is null ? Pieces(phase) : [];
        bool isWhole = _target is null && (_isDivided || pieces.Length > 1);
        double seconds = _target is not null ? SecondsAtSize
            : isWhole ? Math.Max(phase.Seconds * _share, 0.01) : Math.Clamp(Math.Round(phase.Seconds), 10, 300);
        string duration = $"    duration: {Number(seconds)}s\n"
            + (_target is null ? "" : FormattableString.Invariant($"    warmup: {WarmupAtSize}s\n"));
        if (phase.Think is { } think)
        {
            _text.Append(CultureInfo.InvariantCulture, $"    threads: {Math.Min(phase.Connections, MostThreads)}\n");
            Comment(think > 0 ? $"a closed loop: connections waited {Number(think)} µs between a reply and the next operation"
                : "a closed loop: connections waited for nothing but replies", "    ");
            if (think > 0)
                _text.Append(CultureInfo.InvariantCulture, $"    think: {{mean: {Number(think)}us}}\n");
            // Where one phase comes after the other, or inserts, each has its work: then all find the data that they found.
            bool hasWork = _target is null && (_isDivided || phase.Operations.Any(one => _written.ContainsKey(one.Operation)
                && LeavesOf(one.Operation).Any(IsInsert)));
            _text.Append(hasWork ? FormattableString.Invariant($"    count: {Math.Max(1, Math.Round(rate * seconds)):0}\n") : duration);
            return seconds;
        }

        // Twice what is under way at once on average, and what there was.
        int needed = (int)Math.Min(MostThreads, Math.Ceiling(rate * microseconds / 1e6 * 2) + 1);
        int threads = Math.Clamp(phase.Connections, needed, MostThreads);
        _text.Append(CultureInfo.InvariantCulture, $"    threads: {threads}\n").Append(duration).Append(isWhole ? "    warmup: 0s\n" : "");
        if (pieces.Length > 1)
        {
            double share = rate / pieces.Average();
            string length = Number(seconds / pieces.Length);
            _text.Append("    rate: [")
                .AppendJoin(", ", pieces.Select(piece => $"{{at: {Number(Rate(piece * share))}, for: {length}s}}")).Append("]\n");
        }
        else
        {
            _text.Append(CultureInfo.InvariantCulture, $"    rate: {Number(Rate(rate))}\n");
        }

        _text.Append(phase.IsSteady ? "" : "    arrivals: poisson\n");
        return seconds;
    }

    /// <summary>The rate over time where it changes by more than chance; otherwise nothing.</summary>
    private static double[] Pieces(ObservedPhase phase)
    {
        if (phase.Rates.Count < 2)
            return [];
        int size = (phase.Rates.Count + MostPieces - 1) / MostPieces;
        double length = phase.Seconds / phase.Rates.Count;
        double mean = phase.Rates.Average();
        double[] pieces = [.. phase.Rates.Chunk(size).Where(chunk => chunk.Length == size).Select(chunk => chunk.Average())];
        double deviation = Math.Sqrt(pieces.Average(piece => (piece - mean) * (piece - mean)));
        double byChance = Math.Sqrt(mean / (length * size));
        return deviation > 0.15 * mean && deviation > 2 * byChance ? pieces : [];
    }

    /// <summary>One that scenarios may have.</summary>
    private static double Rate(double rate) => Math.Clamp(rate, 1e-6, 1e9);

    private void Comment(string text, string indent = "  ") =>
        _text.Append(indent).Append("# ").Append(YamlText.Comment(text)).Append('\n');

    private static string Unique(string name, string distinction, HashSet<string> names)
    {
        name = name.Length <= LongestName ? name : name[..LongestName].TrimEnd();
        if (names.Contains(name) && distinction.Length > 0 && name.Length + distinction.Length < LongestName)
            name = $"{name} {distinction}";
        string unique = name;
        for (int i = 2; !names.Add(unique); i++)
            unique = $"{name} {i}";
        return unique;
    }

    /// <summary>What took no millisecond, where there are only whole ones, took less than one.</summary>
    private static string Took(double microseconds) => microseconds < 1 ? "under 1000" : Number(microseconds);

    /// <summary>To four digits.</summary>
    private static string Number(double number)
    {
        if (number == 0)
            return "0";
        int digits = Math.Clamp(3 - (int)Math.Floor(Math.Log10(Math.Abs(number))), 0, 10);
        return Math.Round(number, digits).ToString("0.##########", CultureInfo.InvariantCulture);
    }
}
