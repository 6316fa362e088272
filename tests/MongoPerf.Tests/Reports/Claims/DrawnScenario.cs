using System.Globalization;
using System.Text;

namespace MongoPerf.Tests.Reports.Claims;

/// <summary>
/// A scenario as its seed draws it: loads, single operations, mixes, groups, rates, sweeps, steps, transactions, bulks, growths.
/// </summary>
internal sealed class DrawnScenario
{
    private const string Any = "{^int: [0, 9]}";

    private readonly Random _random;
    private readonly StringBuilder _text = new();
    private readonly int _seed;

    public DrawnScenario(int seed)
    {
        _seed = seed;
        _random = new Random(seed);
        Line("description: Drawn by its seed");
        if (Chance(0.7))
            Line($"maxErrors: {_random.Next(1, 100_000)}");
        if (Chance(0.5))
            Line("maxSkipped: 100%");
        Line("data:");
        Line($"  a: {{count: {_random.Next(1, 300)}, document: {{_id: ^number, v: 0}}}}");
        Line($"  b: {{count: {_random.Next(1, 50)}, document: {{n: ^number}}}}");
        bool grows = Chance(0.4);
        if (grows)
            Line("  g: {document: {n: ^number, v: 0}}");
        Line("phases:");
        if (Chance(0.7))
            Line($"  - {{load: a, threads: {_random.Next(1, 4)}, batch: {Pick(1, 7, 100)}}}");
        for (int phase = _random.Next(1, 4); phase > 0; phase--)
            AddPhase($"p{phase}", "  ", "a");
        if (grows)
            AddGrowth();
    }

    public string Text => _text.ToString();

    /// <summary>Of an operation, a step, or a write: by its name alone, since groups ask for theirs at once, in any order.</summary>
    public Habit HabitOf(string operation)
    {
        var random = new Random(operation.Aggregate(_seed, static (hash, letter) => unchecked((hash * 31) + letter)));
        return new Habit
        {
            Seconds = One(0.005, 0.02, 0.05, 0.3), SlowShare = One(0, 0, 0.02, 0.3), FailedShare = One(0, 0, 0, 0.01, 0.2, 1),
            NothingShare = One(0, 0, 0, 0.005, 0.05, 1), MostDocuments = One(1, 1, 20), ConflictShare = One(0, 0.05, 0.5),
        };

        T One<T>(params T[] values) => values[random.Next(values.Length)];
    }

    public T Pick<T>(params T[] values) => values[_random.Next(values.Length)];

    public bool Chance(double share) => _random.NextDouble() < share;

    public int Next(int from, int to) => _random.Next(from, to);

    private void AddPhase(string name, string indent, string collection)
    {
        Line($"{indent}- name: {name}");
        indent += "  ";
        if (Chance(0.3))
            Line($"{indent}explain: true");
        if (Chance(0.2))
        {
            Line($"{indent}groups:");
            foreach (string group in (string[])["one", "two"])
            {
                Line($"{indent}  - name: {group}");
                AddWork($"{name}{group}", indent + "    ", collection, isGroup: true);
            }

            return;
        }

        AddWork(name, indent, collection, isGroup: false);
    }

    /// <summary>How long, how fast, and what.</summary>
    private void AddWork(string name, string indent, string collection, bool isGroup)
    {
        Line($"{indent}threads: {(isGroup || Chance(0.8) ? Next(1, 4).ToString(CultureInfo.InvariantCulture) : "[1, 3]")}");
        if (!isGroup && Chance(0.35))
        {
            Line($"{indent}count: {Pick(1, 4, 16, 90, 400)}");
        }
        else
        {
            int seconds = Next(3, 9);
            Line($"{indent}duration: {seconds}s");
            Line($"{indent}warmup: {Pick("0s", "1s", "2.5s")}");
            if (Chance(0.3))
                Line($"{indent}rate: {Pick(5, 40, 150)}{(Chance(0.5) ? $"\n{indent}arrivals: poisson" : "")}");
            else if (Chance(0.2))
                Line($"{indent}think: {{mean: 20ms}}");
        }

        Line($"{indent}operations:");
        int operations = Chance(0.4) ? 1 : Next(2, 5);
        for (int i = 1; i <= operations; i++)
            AddOperation($"{name}o{i}", indent + "  ", collection, operations > 1 ? $", weight: {Pick(1, 5, 90)}" : "");
    }

    private void AddOperation(string name, string indent, string collection, string weight, bool mayInsert = true)
    {
        string head = $"name: {name}{weight}";
        switch (mayInsert ? _random.Next(10) : Pick(0, 1, 2, 3, 6, 8))
        {
            case 0 or 1:
                Line($"{indent}- {{find: {collection}, {head}, key: uniform}}");
                break;
            case 2:
                Line($"{indent}- {{find: {collection}, {head}, filter: {{v: {{$gte: {Any}}}}}, limit: 20}}");
                break;
            case 3:
                Line($"{indent}- {{update: {collection}, {head}, filter: {{v: {Any}}}, with: {{$set: {{v: {Any}}}}}}}");
                break;
            case 4:
                Line($"{indent}- {{insert: {collection}, {head}}}");
                break;
            case 5:
                Line($"{indent}- {{insertMany: {collection}, {head}, batch: 50}}");
                break;
            case 6:
                Line($"{indent}- {{count: {collection}, {head}, filter: {{v: {Any}}}}}");
                break;
            case 7:
                Line($"{indent}- {head.Replace(", ", $"\n{indent}  ", StringComparison.Ordinal)}");
                Line($"{indent}  bulkWrite:");
                Line($"{indent}    - {{update: b, filter: {{n: {Any}}}, with: {{$inc: {{v: 1}}}}, upsert: true, times: {Pick(3, 100)}}}");
                if (Chance(0.5))
                    Line($"{indent}    - {{delete: b, filter: {{n: {Any}}}}}");
                break;
            default:
                bool isTransaction = Chance(0.6);
                Line($"{indent}- {head.Replace(", ", $"\n{indent}  ", StringComparison.Ordinal)}");
                if (isTransaction)
                    Line($"{indent}  transaction: true");
                Line($"{indent}  steps:");
                Line($"{indent}    - {{find: {collection}, name: {name}s1, key: uniform, as: found}}");
                Line($"{indent}    - {{update: {collection}, name: {name}s2, filter: {{v: {Any}}}, with: {{$inc: {{v: 1}}}}}}");
                if (Chance(0.5))
                    Line($"{indent}    - {{insert: b, name: {name}s3}}");
                if (Chance(0.3))
                    Line($"{indent}    - {{abort: true, if: {{found.n: {{$eq: {Pick(1, 2)}}}}}}}");
                break;
        }
    }

    private void AddGrowth()
    {
        int sizes = Pick(1, 2, 6, 9);
        int step = Pick(20, 200);
        Line("  - grow: g");
        Line($"    to: {sizes * step}");
        Line($"    step: {step}");
        Line("    writes:");
        Line($"      - {{name: batches, share: 80, batch: {Pick(3, 20)}}}");
        if (Chance(0.6))
            Line("      - {name: singles, share: 20}");
        Line("    each:");
        int phases = Next(1, 3);
        for (int phase = 1; phase <= phases; phase++)
        {
            Line($"      - name: e{phase}");
            Line($"        duration: {Next(1, 4)}s");
            Line("        warmup: 0s");
            Line("        operations:");
            // What grows is not inserted into beside.
            for (int i = Next(1, 3); i > 0; i--)
                AddOperation($"e{phase}o{i}", "          ", "g", ", weight: 1", mayInsert: false);
        }

        if (Chance(0.7))
            Line("      - {name: size, sizes: g}");
    }

    private void Line(string line) => _text.Append(line).Append('\n');
}
