using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using MongoPerf.Reports;
using MongoPerf.Storage;
using MongoPerf.Texts;

namespace MongoPerf.Testing;

/// <summary>Something that holds of every run, as its readers see it.</summary>
/// <param name="Name">What is claimed.</param>
/// <param name="Broken">Where a run breaks it, in a few words each; empty where it holds.</param>
internal sealed partial record Claim(string Name, Func<ShownRun, IEnumerable<string>> Broken)
{
    /// <summary>It also holds of runs whose figures tests have made up: it asks only whether what is shown is what is stored.</summary>
    public bool IsOfInvented { get; init; }

    /// <summary>More operations than that decide a 99th percentile.</summary>
    public const long EnoughOperations = 300;

    private static readonly string[] InOrder = ["min", "p50", "p90", "p95", "p99", "p999", "max"];
    private static readonly string[] Latencies = ["p50", "p99", "max"];
    private static readonly string[] ColumnsInOrder = ["p50", "p95", "p99", "p99.9", "max"];

    /// <summary>All of them. A new kind of figure gets its claim here.</summary>
    public static IReadOnlyList<Claim> All { get; } =
    [
        new("scheduled operations are those that succeeded, failed and were skipped", AddUp),
        new("the seconds of an operation add up to its result", SecondsAddUp),
        new("a total is the sum of its parts", TotalsAddUp),
        new("what is shown of a total is no less than what is shown of its parts, in the same unit", ShownTotals),
        new("percentiles are in order", PercentilesInOrder) { IsOfInvented = true },
        new("a share lies between 0 and 1, and is of something that is named", Shares) { IsOfInvented = true },
        new("no verdict is ok on too few operations", VerdictsNeedOperations),
        new("what comes to nothing is part of what was done, and never ok", NothingIsNotOk),
        new("a run that finished ok has measured something in each phase", FinishedMeasured),
        new("a number of documents is one that there was", DocumentsWereThere),
        new("JSON and CSV have the same figures", JsonAndCsvAgree) { IsOfInvented = true },
        new("text and page have the same tables", TextAndPageAgree) { IsOfInvented = true },
        new("the answer's figures are those of the JSON", AnswerAndJsonAgree) { IsOfInvented = true },
        new("a finding names operations of the run, and a range within it", FindingsAreOfTheRun),
        new("the slowest seconds are seconds of the samples", SlowestAreSampled),
    ];

    /// <summary>What a run breaks, a line each.</summary>
    /// <param name="run">Any run.</param>
    /// <param name="isInvented">Its figures were made up by a test, not measured.</param>
    public static IReadOnlyList<string> Check(ShownRun run, bool isInvented = false) =>
    [
        .. All.Where(claim => claim.IsOfInvented || !isInvented)
            .SelectMany(claim => claim.Broken(run).Select(what => $"{claim.Name}: {what}")),
    ];

    private static IEnumerable<string> AddUp(ShownRun shown)
    {
        foreach ((string what, Accounting sum) in shown.Run.Phases.SelectMany(phase => phase.Operations.Concat(phase.Totals)
            .Select(result => ($"{PhaseLabels.Of(phase)} {result.Operation}", result.Accounting))).Append(("run", shown.Run.Accounting)))
        {
            if (sum.Scheduled != sum.Succeeded + sum.Failed + sum.Skipped || sum.Skipped < 0)
                yield return $"{what}: {sum}";
        }

        foreach ((PhaseRecord phase, OperationResult result) in Results(shown))
        {
            if (result.Operations > result.Accounting.Succeeded || result.Failed > result.Accounting.Failed)
                yield return $"{PhaseLabels.Of(phase)} {result.Operation}: more measured than in all";
            if (result.Errors.Sum(error => error.Count) < result.Accounting.Failed)
                yield return $"{PhaseLabels.Of(phase)} {result.Operation}: {result.Accounting.Failed} failed, "
                    + $"{result.Errors.Sum(error => error.Count)} with an error";
        }
    }

    private static IEnumerable<string> SecondsAddUp(ShownRun shown)
    {
        ILookup<(int, string), Sample> samples = shown.Samples.Where(sample => !sample.IsWarmup)
            .ToLookup(sample => (sample.Phase, sample.Operation));
        bool wasResumed = shown.Run.Events.Any(happened => happened.Kind == RunEvent.Resumed);
        foreach ((PhaseRecord phase, OperationResult result) in Results(shown))
        {
            // What unacknowledged inserts lost, and what was written again, is in no second; a write that was interrupted has the seconds
            // of all attempts, and the result of the last.
            if (result.Unacknowledged is not null || !phase.IsComplete || (phase.Kind != PhaseKind.Measure && wasResumed))
                continue;
            Sample[] own = [.. samples[(phase.Number, result.Operation)]];
            if (own.Sum(sample => sample.Operations) != result.Operations || own.Sum(sample => sample.Failed) != result.Failed)
                yield return $"{PhaseLabels.Of(phase)} {result.Operation}: {result.Operations} and {result.Failed} failed, in seconds "
                    + $"{own.Sum(sample => sample.Operations)} and {own.Sum(sample => sample.Failed)}";
        }
    }

    private static IEnumerable<string> TotalsAddUp(ShownRun shown)
    {
        foreach (PhaseRecord phase in shown.Run.Phases.Where(phase => phase.Total is not null))
        {
            OperationResult total = phase.Total!;
            OperationResult[] parts = [.. phase.Done];
            if (total.Operations != parts.Sum(part => part.Operations) || total.Documents != parts.Sum(part => part.Documents)
                || total.Failed != parts.Sum(part => part.Failed)
                || !IsNear(total.OperationsPerSecond, parts.Sum(part => part.OperationsPerSecond)))
                yield return $"{PhaseLabels.Of(phase)}: {total.Operations} operations, {total.Documents} documents, "
                    + $"{total.OperationsPerSecond}/s";
        }
    }

    private static IEnumerable<string> ShownTotals(ShownRun shown)
    {
        foreach (PhaseRecord phase in shown.Run.Phases.Where(phase => phase.Total is not null))
        {
            if (RowOf(shown, phase, phase.Total!) is not var (table, total) || RateOf(table, total, phase.Total!) is not var (all, unit))
                continue;
            foreach (OperationResult part in phase.Done)
            {
                // Of a growth each row is of the last size at which it was measured, and says so where that is not the last.
                if (RowOf(shown, phase, part) is var (_, row) && RateOf(table, row, part) is var (rate, other)
                    && (unit != other ? !HasUnit(row) || !HasUnit(total) : rate > all * 1.01 && !IsEarly(row) && !IsEarly(total)))
                    yield return $"{PhaseLabels.Of(phase)}: {part.Operation} {row[1]}, total {total[1]} ({table.Title})";
            }
        }
    }

    private static bool HasUnit(IReadOnlyList<string> row) => Unit().IsMatch(row[1]);

    private static bool IsEarly(IReadOnlyList<string> row) => row[^1].Contains("last at ", StringComparison.Ordinal);

    private static IEnumerable<string> PercentilesInOrder(ShownRun shown)
    {
        foreach ((string place, JsonElement value) in Objects(shown.Json, "$"))
        {
            if (!value.TryGetProperty("p50", out _))
                continue;
            double[] values = [.. InOrder.Select(name => NumberOf(value, name)).OfType<double>()];
            if (!values.SequenceEqual(values.Order()))
                yield return $"{place}: {string.Join(" ", values)}";
        }

        foreach (ShownTable table in shown.Tables)
        {
            int[] columns = [.. ColumnsInOrder.Select(name => table.Columns.ToList().IndexOf(name)).Where(place => place >= 0)];
            foreach (IReadOnlyList<string> row in table.Rows)
            {
                double[] values = [.. columns.Select(place => ShownRun.ValueOf(row[place])).OfType<double>()];
                if (!values.SequenceEqual(values.Order()))
                    yield return $"{table}: {string.Join(" | ", row)}";
            }
        }
    }

    private static IEnumerable<string> Shares(ShownRun shown)
    {
        foreach ((string place, JsonElement value) in Objects(shown.Json, "$"))
        {
            foreach (JsonProperty share in value.EnumerateObject().Where(property => property.Value.ValueKind == JsonValueKind.Number
                && property.Name.Contains("share", StringComparison.OrdinalIgnoreCase)))
            {
                if (share.Value.GetDouble() is < 0 or > 1)
                    yield return $"{place}.{share.Name}: {share.Value}";
            }
        }

        foreach ((string form, string text) in shown.Texts)
        {
            foreach (Match match in PercentOf().Matches(text))
            {
                if (ShownRun.ValueOf(match.Groups["part"].Value) is > 100)
                    yield return $"{form}: …{Around(text, match)}…";
            }

            foreach (Match match in PartOfWhole().Matches(text))
            {
                if (ShownRun.ValueOf(match.Groups["part"].Value) > ShownRun.ValueOf(match.Groups["whole"].Value))
                    yield return $"{form}: …{Around(text, match)}…";
            }
        }
    }

    private static IEnumerable<string> VerdictsNeedOperations(ShownRun shown)
    {
        foreach ((PhaseRecord phase, OperationResult result) in shown.Run.Phases
            .SelectMany(phase => phase.Operations.Concat(phase.Totals).Select(result => (phase, result))))
        {
            // A row of a growth is of the last size at which something was measured.
            if (result.Operations < EnoughOperations && result.Connections is null
                && !shown.Run.Phases.Any(later => later.Number > phase.Number && later.Phase == phase.Phase && later.Growth is not null)
                && RowOf(shown, phase, result) is var (_, row) && row[^1] == "ok")
                yield return $"{string.Join(" | ", row)}: {result.Operations} operations";
        }
    }

    private static IEnumerable<string> NothingIsNotOk(ShownRun shown)
    {
        foreach ((PhaseRecord phase, OperationResult result) in Results(shown))
        {
            if (result.Effect is not { } effect)
                continue;
            long nothing = (effect.FoundNothing ?? effect.MatchedNothing ?? 0) + (effect.ChangedNothing ?? 0);
            if (nothing > result.Operations || (result.Operations > 0 && result.Documents == 0 && effect.ChangedNothing is null
                && nothing < result.Operations))
                yield return $"{PhaseLabels.Of(phase)} {result.Operation}: {effect} of {result.Operations}, {result.Documents} documents";
            if (result is { Operations: > 0, Documents: 0 } && phase.Growth is null && RowOf(shown, phase, result) is var (_, row)
                && row[^1] == "ok")
                yield return $"{string.Join(" | ", row)}: {effect}";
        }
    }

    private static IEnumerable<string> FinishedMeasured(ShownRun shown)
    {
        string first = shown.Answer.Split('\n').FirstOrDefault(line => line.Contains("finished", StringComparison.Ordinal)) ?? "";
        foreach (PhaseRecord phase in shown.Run.Phases.Where(phase => phase.Kind == PhaseKind.Measure && phase.Operations.Count > 0))
        {
            if (phase.Operations.All(result => result.Operations == 0) && first.StartsWith("ok", StringComparison.Ordinal))
                yield return $"{PhaseLabels.Of(phase)}: {first}";
        }
    }

    private static IEnumerable<string> DocumentsWereThere(ShownRun shown)
    {
        foreach (ShownTable table in shown.AnswerTables)
        {
            if (AtDocuments().Match(table.Title) is { Success: true } at
                && ShownRun.ValueOf(at.Groups["documents"].Value) > shown.Run.DocumentsReached * 1.01)
                yield return $"{table.Title}, of {shown.Run.DocumentsReached}";
        }
    }

    private static IEnumerable<string> JsonAndCsvAgree(ShownRun shown)
    {
        JsonElement[] results = [.. shown.Json.GetProperty("phases").EnumerateArray().SelectMany(ResultsOf)];
        if (results.Length != shown.Results.Count)
            yield return $"{results.Length} results and {shown.Results.Count} rows";
        foreach ((JsonElement json, IReadOnlyDictionary<string, string> row) in results.Zip(shown.Results))
        {
            foreach ((string column, string cell) in row)
            {
                string name = column switch
                {
                    "operation_documents" => "documents", "documents" or "number" or "phase" or "growth" or "step" => "",
                    "client_cpu_us_per_operation" => "clientCpuMicrosecondsPerOperation", _ => Camel(column),
                };
                if (json.TryGetProperty(name, out JsonElement value) && value.ValueKind is JsonValueKind.Number
                    && (!double.TryParse(cell, CultureInfo.InvariantCulture, out double number) || number != value.GetDouble()))
                    yield return $"{row["phase"]} {row["operation"]} {column}: {value} and '{cell}'";
            }
        }
    }

    private static IEnumerable<string> TextAndPageAgree(ShownRun shown)
    {
        if (shown.IsBrief)
            yield break;
        string[] page = [.. shown.PageTables.Select(TextOf)];
        foreach (ShownTable table in shown.Tables)
        {
            if (!page.Contains(TextOf(table)))
                yield return $"{table}: not on the page";
        }

        static string TextOf(ShownTable table) =>
            string.Join('\n', table.Rows.Prepend(table.Columns).Select(row => string.Join('|', row)));
    }

    private static IEnumerable<string> AnswerAndJsonAgree(ShownRun shown)
    {
        foreach (JsonElement phase in shown.Json.GetProperty("phases").EnumerateArray())
        {
            PhaseRecord record = shown.Run.Phases.Single(one => one.Number == phase.GetProperty("number").GetInt32());
            foreach (JsonElement json in ResultsOf(phase))
            {
                string name = json.GetProperty("operation").GetString()!;
                OperationResult result = record.Operations.Concat(record.Totals).First(one => one.Operation == name);
                if (record.Growth is not null || RowOf(shown, record, result) is not var (table, row)
                    || RateOf(table, row, result) is not var (_, unit))
                    continue;
                double rate = json.GetProperty(unit == "docs/s" ? "documentsPerSecond" : "operationsPerSecond").GetDouble()
                    * (unit == "writes/s" ? json.GetProperty("batch").GetDouble() : 1);
                JsonElement latency = json.GetProperty(json.GetProperty("responseMicroseconds").ValueKind == JsonValueKind.Object
                    ? "responseMicroseconds" : "latencyMicroseconds");
                string[] expected = [Units.Rate(rate), .. Latencies.Select(figure => Units.Latency(NumberOf(latency, figure)))];
                string[] cells = [row[1].Split(' ')[0], .. Latencies.Select(figure => table.Cell(row, figure)!)];
                if (!cells.Zip(expected).All(pair => pair.First == pair.Second || pair.First == Units.None))
                    yield return $"{string.Join(" | ", row)}: {string.Join(" | ", expected)}";
            }
        }
    }

    private static IEnumerable<string> FindingsAreOfTheRun(ShownRun shown)
    {
        HashSet<string> labels = [.. shown.Run.Phases.SelectMany(phase => phase.Operations.Concat(phase.Totals)
            .SelectMany(result => new[] { PhaseLabels.Of(phase, result.Operation), PhaseLabels.WithParameters(phase, result.Operation) }))];
        double seconds = shown.Samples.Count == 0 ? 0
            : (shown.Samples.Max(sample => sample.AtMilliseconds) - shown.Run.Run.StartedAt.ToUnixTimeMilliseconds()) / 1000.0;
        foreach (JsonElement finding in shown.Json.GetProperty("findings").EnumerateArray())
        {
            foreach (JsonElement operation in finding.GetProperty("operations").EnumerateArray())
            {
                if (!labels.Contains(operation.GetString()!))
                    yield return $"{finding.GetProperty("text")}: no operation {operation}";
            }

            if (finding.GetProperty("range") is not { ValueKind: JsonValueKind.Object } range)
                continue;
            if (range.GetProperty("fromSeconds") is { ValueKind: JsonValueKind.Number } from
                && range.GetProperty("toSeconds") is { ValueKind: JsonValueKind.Number } to
                && (from.GetDouble() > to.GetDouble() || from.GetDouble() < 0 || to.GetDouble() > seconds + 2))
                yield return $"{finding.GetProperty("text")}: {from} to {to} of {seconds} s";
        }
    }

    private static IEnumerable<string> SlowestAreSampled(ShownRun shown)
    {
        ILookup<long, Sample> samples = shown.Samples.Where(sample => !sample.IsWarmup).ToLookup(sample => sample.AtMilliseconds);
        foreach (JsonElement second in shown.Json.GetProperty("slowest").GetProperty("operations").EnumerateArray())
        {
            long at = second.GetProperty("at").GetDateTimeOffset().ToUnixTimeMilliseconds();
            double max = second.GetProperty("maxMicroseconds").GetDouble();
            if (!samples.SelectMany(group => group).Any(sample => Math.Abs(sample.AtMilliseconds - at) <= 2000
                && sample.ReportedMicroseconds.Max is { } own && IsNear(own, max)))
                yield return $"{second.GetProperty("operation")}: {max} at {at}";
        }
    }

    private static IEnumerable<(PhaseRecord Phase, OperationResult Result)> Results(ShownRun shown) =>
        shown.Run.Phases.SelectMany(phase => phase.Operations.Select(result => (phase, result)));

    /// <summary>Its row in the answer; null where that has none.</summary>
    private static (ShownTable Table, IReadOnlyList<string> Row)? RowOf(ShownRun shown, PhaseRecord phase, OperationResult result)
    {
        string name = PhaseLabels.WithParameters(phase, result.Operation);
        foreach (ShownTable table in shown.AnswerTables)
        {
            if (table.Title.StartsWith("rate", StringComparison.Ordinal) == phase.Growth is null
                && table.Rows.Where(row => row[0] == name).ToArray() is [var row])
                return (table, row);
        }

        return null;
    }

    /// <summary>A row's rate and its unit, from its cell or the table's title; null where there is none.</summary>
    private static (double Rate, string Unit)? RateOf(ShownTable table, IReadOnlyList<string> row, OperationResult result) =>
        table.Cell(row, "rate") is not { } cell || ShownRun.ValueOf(cell) is not { } rate ? null
            : (rate, Unit().Match(cell) is { Success: true } own ? own.Value
                : table.Title.Contains("for inserts", StringComparison.Ordinal) && !result.IsInsert ? "ops/s"
                : Unit().Match(table.Title).Value);

    /// <summary>The operations and totals of a phase.</summary>
    private static IEnumerable<JsonElement> ResultsOf(JsonElement phase) =>
        phase.GetProperty("operations").EnumerateArray().Concat(phase.GetProperty("totals").EnumerateArray());

    private static double? NumberOf(JsonElement value, string name) =>
        value.TryGetProperty(name, out JsonElement number) && number.ValueKind == JsonValueKind.Number ? number.GetDouble() : null;

    private static bool IsNear(double a, double b) => Math.Abs(a - b) <= 1e-6 * Math.Max(1, Math.Max(Math.Abs(a), Math.Abs(b)));

    private static string Camel(string column) =>
        string.Concat(column.Split('_').Select((word, i) => i == 0 ? word : char.ToUpperInvariant(word[0]) + word[1..]));

    private static string Around(string text, Match match) =>
        text[Math.Max(0, match.Index - 40)..Math.Min(text.Length, match.Index + match.Length + 40)].ReplaceLineEndings(" ");

    private static IEnumerable<(string Place, JsonElement Value)> Objects(JsonElement value, string place) => value.ValueKind switch
    {
        JsonValueKind.Object =>
            value.EnumerateObject().SelectMany(one => Objects(one.Value, $"{place}.{one.Name}")).Prepend((place, value)),
        JsonValueKind.Array => value.EnumerateArray().SelectMany((one, i) => Objects(one, $"{place}[{i}]")),
        _ => [],
    };

    [GeneratedRegex(@"(?<part>\d[\d,.]*) % of")]
    private static partial Regex PercentOf();

    [GeneratedRegex(@"(?<![\d.,])(?<part>\d[\d,]*)( [a-z]+)? of (?<whole>\d[\d,]*(?![\d.]* (ms|µs|s|MB|MiB|GB|GiB|kB)\b))")]
    private static partial Regex PartOfWhole();

    [GeneratedRegex(@"at (?<documents>\d[\d,.]*[kMG]?) documents")]
    private static partial Regex AtDocuments();

    [GeneratedRegex("docs/s|ops/s|writes/s")]
    private static partial Regex Unit();
}
