using System.Globalization;
using System.Text.RegularExpressions;
using MongoPerf.Load.Plans;
using MongoPerf.Reports.Figures;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>What people read of a plan that <c>--scale</c> made smaller or larger: the counts that run, in place of the file's.</summary>
/// <remarks>
/// A parameter's values, titles and descriptions go through here and nowhere else, so that no table, chart or file has to
/// think of the scale.
/// </remarks>
/// <param name="parameters">The parameters of the file and the command line.</param>
/// <param name="scale">The scale with which all rounds have been read.</param>
internal sealed partial class ScaledText(ScenarioParameters parameters, CountScale scale)
{
    /// <summary>A smaller number in a text, without a suffix, is hardly a count of documents or operations.</summary>
    private const long LeastPlain = 1000;

    private static readonly (double Factor, string Suffix)[] Suffixes = [(1e9, "G"), (1e6, "M"), (1e3, "k")];

    private readonly Lazy<Dictionary<long, long>> _counts =
        new(() => scale.Scaled.DistinctBy(count => count.Full).ToDictionary(count => count.Full, count => count.Count));

    private bool IsFull => scale.Factor == 1;

    /// <summary>What a parameter's value is called: "20k" for 100M times 0.0002.</summary>
    /// <param name="parameter">Its name; other names, such as threads, have values that nothing scales.</param>
    /// <param name="label">The label as the file calls the value.</param>
    public string Of(string parameter, string label)
    {
        if (IsFull || !parameters.Names.Contains(parameter))
            return label;
        IReadOnlyList<NamedValue> values = parameters.ValuesOf(parameter);
        if (values.FirstOrDefault(value => value.Name == label) is not { } value)
            return label;
        string shown = Of(value);
        // Results are told apart by it.
        return values.Count(other => Of(other) == shown) == 1 ? shown : $"{shown} (file: {label})";
    }

    /// <summary>The same of a phase, and of the phases of its growth.</summary>
    public Phase Of(Phase phase) => IsFull ? phase : phase with
    {
        Description = Of(phase.Description),
        Parameters = [.. phase.Parameters.Select(parameter => KeyValuePair.Create(parameter.Key, Of(parameter.Key, parameter.Value)))],
        Growth = phase.Growth is { } growth ? growth with
        {
            Writes = [.. growth.Writes.Select(write => write with { Description = Of(write.Description) })],
            Each = [.. growth.Each.Select(Of)],
        } : null,
    };

    /// <summary>A title or a description: "the first 100M of 500M documents" becomes "the first 20k of 100k documents".</summary>
    /// <remarks>A count that the file has nowhere else can't be known; then the text says by what counts are multiplied.</remarks>
    public string Of(string text)
    {
        if (IsFull)
            return text;
        bool hasOthers = false;
        string shown = Replace(text, (word, full) =>
        {
            bool hasSuffix = !char.IsAsciiDigit(word[^1]);
            long? count = _counts.Value.TryGetValue(full, out long scaled) ? scaled : null;
            // Without a suffix it may be anything: the 1,000 seconds of a figure, the 20 of so many threads.
            hasOthers |= hasSuffix ? count is null : full >= LeastPlain && count is not null;
            return hasSuffix ? count : null;
        });
        return hasOthers ? Multiplied(shown) : shown;
    }

    /// <summary>Where an axis of documents, or of a parameter that counts them, ends.</summary>
    public double? EndOf(string dimension, double? end) =>
        dimension == Dimension.Documents || (parameters.Names.Contains(dimension)
            && parameters.ValuesOf(dimension).Any(value => CountsIn(value).Any())) ? end * scale.Factor : end;

    /// <summary>
    /// The parameters that are others now, as <see cref="MessageCode.CountsScaled"/> takes them: "recordcount=200, 2k", "file", "1M, 10M".
    /// Empty when no parameter counts anything.
    /// </summary>
    /// <param name="typed">Parameters that the command line sets.</param>
    public IEnumerable<string> Changes(IEnumerable<string> typed) => parameters.Names
        .Select(name => (Name: name, Labels: parameters.LabelsOf(name).ToArray()))
        .Where(one => one.Labels.Any(label => Of(one.Name, label) != label))
        .SelectMany(one => (string[])
        [
            $"{one.Name}={string.Join(", ", one.Labels.Select(label => Of(one.Name, label)))}",
            typed.Contains(one.Name) ? "--set" : StoredMessage.OfFile, string.Join(", ", one.Labels),
        ]);

    private string Of(NamedValue value)
    {
        var counts = new Dictionary<long, long>();
        var others = new HashSet<long>();
        foreach (ScalarNode part in value.Node.Scalars)
        {
            if (scale.Find(part.Position) is { } count && parameters.UsesOf(part.Position).All(scale.WasReadAt))
                counts[count.Full] = count.Count;
            else if (CountIn(part.Text) is { } other)
                others.Add(other);
        }

        string shown = Replace(value.Name, (_, full) => !others.Contains(full) && counts.TryGetValue(full, out long count) ? count : null);
        // Read as a count in one place and as something else, which no scale multiplies, in another.
        return shown == value.Name && scale.Find(value.Node.Position) is { } both && both.Full != both.Count ? Multiplied(shown) : shown;
    }

    private IEnumerable<ScaledCount> CountsIn(NamedValue value) =>
        value.Node.Scalars.Select(part => scale.Find(part.Position)).OfType<ScaledCount>();

    private string Multiplied(string text) => $"{text} (counts × {scale.Factor.ToString("0.########", CultureInfo.InvariantCulture)})";

    /// <param name="text">Its words that are counts are replaced.</param>
    /// <param name="countOf">Makes of a word and its number the count in its place; null leaves it.</param>
    private static string Replace(string text, Func<string, long, long?> countOf) =>
        Counts().Replace(
            text, match => CountIn(match.Value) is { } full && countOf(match.Value, full) is { } count ? TextOf(count) : match.Value);

    /// <summary>Exact, as somebody would type it: 20k, 1.5M, 12345.</summary>
    private static string TextOf(long count)
    {
        foreach ((double factor, string suffix) in Suffixes)
        {
            if (count >= factor && count % (factor / 10) == 0)
                return (count / factor).ToString("0.#", CultureInfo.InvariantCulture) + suffix;
        }

        return count.ToString(CultureInfo.InvariantCulture);
    }

    private static long? CountIn(string text)
    {
        try
        {
            return Quantities.ParseCount(text.Replace(",", "", StringComparison.Ordinal), 0);
        }
        catch (FormatException)
        {
            return null;
        }
    }

    [GeneratedRegex(@"(?<!\w|[0-9][.,])[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?:e[0-9]+|[kKmMgG])?(?!\w|[.,][0-9])")]
    private static partial Regex Counts();
}
