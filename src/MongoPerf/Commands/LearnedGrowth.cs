using System.CommandLine;
using System.Globalization;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Options;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using OperationMix = MongoPerf.Learning.Observing.OperationMix;

namespace MongoPerf.Commands;

/// <summary>The options by which <c>learn</c> writes a growth, and what it says of one.</summary>
internal sealed class LearnedGrowth
{
    private readonly Option<bool> _growth = new("--growth")
    {
        Description = "Write a scenario whose collections grow to what they will be, with what is done at each size; "
            + "'new --decide' and 'forecast' take it",
    };

    private readonly Option<long?> _documents =
        OptionTypes.Count("--documents", "With --growth: documents that there will be in all collections that grow");

    private readonly Option<double?> _years = OptionTypes.Make<double?>("--years", null,
        "With --growth and --from: how long they grow at the rate that was seen", "NUMBER", text => ParseYears(text));

    public IReadOnlyList<Option> Options => [_growth, _documents, _years];

    /// <summary>Checks what was typed, before anything is opened.</summary>
    /// <param name="parsed">The call.</param>
    /// <param name="isCheck">It compares a scenario, and writes none.</param>
    /// <param name="from">Where to see what is done; null for nowhere.</param>
    /// <exception cref="UserException">Options that contradict one another (2).</exception>
    public void Check(ParseResult parsed, bool isCheck, string[]? from)
    {
        bool isGrowth = parsed.GetValue(_growth);
        bool hasDocuments = parsed.GetValue(_documents) is not null;
        bool hasYears = parsed.GetValue(_years) is not null;
        if (!isGrowth && (hasDocuments || hasYears))
            throw new UserException(ExitCode.WrongUsage, $"{(hasDocuments ? "--documents" : "--years")} only applies to --growth");
        if (isGrowth && isCheck)
            throw new UserException(ExitCode.WrongUsage, "--growth writes a scenario, and --check compares one", "omit one of them");
        if (isGrowth && hasDocuments == hasYears)
            throw new UserException(ExitCode.WrongUsage, hasYears ? "--documents and --years both say how far collections grow"
                : "--growth does not say how far collections grow", "such as --documents 300M, or --years 2");
        if (hasYears && from is null)
            throw new UserException(ExitCode.WrongUsage, "--years takes the rate that was seen, and nothing says where to see it",
                "--from names it; or --documents how many documents there will be");
    }

    /// <summary>How far collections grow; null where none is asked to.</summary>
    public WrittenGrowth? Of(ParseResult parsed, DatabaseSample sample, OperationMix? mix) => !parsed.GetValue(_growth) ? null
        : parsed.GetValue(_years) is { } years ? WrittenGrowth.OfYears(sample, mix!, years)
        : WrittenGrowth.ToDocuments(sample, mix, parsed.GetValue(_documents)!.Value);

    /// <summary>Of more documents there may be no more values.</summary>
    /// <exception cref="UserException">The file could not be run (2).</exception>
    public static void RequireValid(string path, string text)
    {
        try
        {
            _ = PlanReader.Read(new ScenarioFile("learned", path, text), new PlanOverrides(), PlanRequests.DefaultSeed);
        }
        catch (UserException e)
        {
            throw new UserException(ExitCode.WrongUsage, $"--growth: {e.Message}",
                "name fewer documents or years: the deployment's own types and values are the file's");
        }
    }

    /// <summary>To what collections grow, and how to begin.</summary>
    public static string Describe(WrittenGrowth growth, WrittenNames names, string path) => string.Create(CultureInfo.InvariantCulture,
        $"{growth.Describe(names.Collection)}\nsmaller first: {CommandText.Program} run {CommandText.Quoted(path)} "
        + $"--target {Units.Count(growth.Beginning.Size)} --step {Units.Count(growth.Beginning.Step)}, then "
        + $"{CommandText.Program} forecast RUN --documents {Units.Count(growth.Size)}");

    private static double ParseYears(string text) =>
        double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out double years) && years is > 0 and <= 100 ? years
            : throw new FormatException($"'{text}' is not valid; allowed: a number of years above 0, at most 100");
}
