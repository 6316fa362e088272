using System.Globalization;
using System.Text;
using MongoPerf.Learning.Observing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>
/// Writes what a deployment was seen doing as the <c>phases</c> of a scenario: one phase with the mix, and then the sizes of what it wrote
/// to, so that they are those of collections that were in use, as the deployment's are.
/// </summary>
public sealed class PhaseWriter
{
    /// <summary>The name of the phase.</summary>
    public const string Phase = "learned";

    private const int MostPieces = 24;
    private const double LongestInPieces = 1800;
    private const int MostThreads = 1000;
    private const int LongestName = 60;

    private readonly StringBuilder _text = new();
    private readonly OperationWriter _operations;

    /// <param name="mix">What was seen.</param>
    /// <param name="database">The database that the file describes.</param>
    /// <param name="data">What the file says of its data.</param>
    public PhaseWriter(OperationMix mix, string database, IWrittenData data)
    {
        _operations = new OperationWriter(data);
        var notLearned = new List<string>(mix.NotLearned);
        var written = new List<(LearnedOperation Operation, string Name, IReadOnlyList<string> Lines)>();
        var names = new HashSet<string>(StringComparer.Ordinal) { "total" };
        double elsewhere = mix.Operations.Where(one => one.Database != database).Sum(one => one.Count);
        foreach (LearnedOperation operation in mix.Operations.Where(one => one.Database == database))
        {
            try
            {
                written.Add((operation, Unique(_operations.NameOf(operation), _operations.Distinction(operation), names),
                    _operations.Write(operation)));
            }
            catch (NotWritableException e)
            {
                notLearned.Add(FormattableString.Invariant($"{operation.Count:0} operations ({operation.Kind}): {e.Message}"));
            }
        }

        if (elsewhere > 0)
            notLearned.Add(FormattableString.Invariant($"{elsewhere:0} operations on other databases"));
        Names = [.. written.Select(one => (one.Operation, one.Name))];
        if (written.Any(one => one.Operation.Kind == "steps"))
            notLearned.Add("the topology: the transactions below need a replica set or a mongos (--topology replicaset)");
        Write(mix, written, [.. notLearned, .. _operations.NotLearned]);
        foreach (string collection in Written(written.Select(one => one.Operation)).Select(data.CollectionOf).OfType<string>())
            _text.Append(CultureInfo.InvariantCulture,
                $"  - {{name: {YamlText.Name($"size {collection}")}, sizes: {YamlText.Name(collection)}}}\n");
    }

    /// <summary>The section; empty where nothing was learned that could be written.</summary>
    public string Text => _text.ToString();

    /// <summary>The operations of the file, by the names that they have in results.</summary>
    public IReadOnlyList<(LearnedOperation Operation, string Name)> Names { get; }

    private void Write(
        OperationMix mix, List<(LearnedOperation Operation, string Name, IReadOnlyList<string> Lines)> written, List<string> notLearned)
    {
        double count = written.Sum(one => one.Operation.Count);
        double rate = count / mix.Seconds;
        if (written.Count > 0)
            _text.Append("phases:\n");
        Comment($"{Number(rate)} operations per second for {Number(mix.Seconds)} s, from {mix.Source}");
        foreach (string note in notLearned.Distinct())
            Comment($"not learned: {note}");
        if (written.Count == 0)
            return;
        _text.Append($"  - name: {Phase}\n    explain: true\n");
        WriteTimes(mix, rate, written.Sum(one => one.Operation.Count * (one.Operation.Latency?.P50 ?? 0)) / count);
        _text.Append("    operations:\n");
        foreach ((LearnedOperation operation, string name, IReadOnlyList<string> lines) in written)
        {
            _text.Append(CultureInfo.InvariantCulture, $"      - name: {YamlText.Quoted(name)}\n");
            _text.Append(CultureInfo.InvariantCulture, $"        weight: {Number(Math.Max(operation.Count / count * 100, 1e-6))}\n");
            foreach (string line in lines)
                _text.Append(CultureInfo.InvariantCulture, $"        {line}\n");
            if (operation.Latency is { } latency)
                _text.Append(CultureInfo.InvariantCulture,
                    $"        # took {Took(latency.P50)} µs (p50), {Took(latency.P90)} (p90), {Took(latency.P99)} (p99)\n");
        }
    }

    /// <summary>The collections that operations write to.</summary>
    private static IEnumerable<string> Written(IEnumerable<LearnedOperation> operations) => operations
        .SelectMany(one => one.Parts.Count > 0 ? one.Parts : [one])
        .Where(one => one.Kind is not ("find" or "count" or "distinct" or "aggregate"))
        .Select(one => one.Collection).Distinct(StringComparer.Ordinal);

    private void WriteTimes(OperationMix mix, double rate, double microseconds)
    {
        if (mix.Think is { } think)
        {
            _text.Append(CultureInfo.InvariantCulture, $"    threads: {Math.Min(mix.Connections, MostThreads)}\n");
            Comment($"a closed loop: connections waited {Number(think)} µs between a reply and the next operation", "    ");
            if (think > 0)
                _text.Append(CultureInfo.InvariantCulture, $"    think: {{mean: {Number(think)}us}}\n");
            _text.Append(CultureInfo.InvariantCulture, $"    duration: {Seconds(mix)}s\n");
            return;
        }

        // Twice what is under way at once on average, and what there was.
        int needed = (int)Math.Ceiling(rate * microseconds / 1e6 * 2) + 1;
        int threads = Math.Clamp(mix.Connections, Math.Min(needed, MostThreads), MostThreads);
        _text.Append(CultureInfo.InvariantCulture, $"    threads: {threads}\n");
        double[] pieces = Pieces(mix);
        if (pieces.Length > 1 && mix.Seconds <= LongestInPieces)
        {
            double share = rate / pieces.Average();
            double length = mix.Seconds / pieces.Length;
            _text.Append(CultureInfo.InvariantCulture, $"    duration: {Number(mix.Seconds)}s\n    warmup: 0s\n    rate: [");
            _text.AppendJoin(", ", pieces.Select(piece => $"{{at: {Number(Math.Max(piece * share, 0.01))}, for: {Number(length)}s}}"));
            _text.Append("]\n");
        }
        else
        {
            if (pieces.Length > 1)
                Comment($"operations per second, every {Number(mix.Seconds / pieces.Length)} s: "
                    + string.Join(", ", pieces.Select(Number)), "    ");
            _text.Append(CultureInfo.InvariantCulture, $"    duration: {Seconds(mix)}s\n    rate: {Number(Math.Max(rate, 0.01))}\n");
        }

        _text.Append(mix.IsSteady ? "" : "    arrivals: poisson\n");
    }

    private static int Seconds(OperationMix mix) => (int)Math.Clamp(Math.Round(mix.Seconds), 10, 300);

    /// <summary>The rate over time where it changes by more than chance; otherwise nothing.</summary>
    private static double[] Pieces(OperationMix mix)
    {
        if (mix.Arrivals.Count < 2)
            return [];
        int size = (mix.Arrivals.Count + MostPieces - 1) / MostPieces;
        double length = mix.Seconds / mix.Arrivals.Count;
        double mean = mix.Arrivals.Average();
        double[] pieces = [.. mix.Arrivals.Chunk(size).Where(chunk => chunk.Length == size).Select(chunk => chunk.Average())];
        double deviation = Math.Sqrt(pieces.Average(piece => (piece - mean) * (piece - mean)));
        double byChance = Math.Sqrt(mean / (length * size));
        return deviation > 0.15 * mean && deviation > 2 * byChance ? pieces : [];
    }

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
