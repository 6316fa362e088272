using System.Globalization;
using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Texts;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Learning.Writing;

/// <summary>To how many documents the collections of a file grow.</summary>
public sealed class WrittenGrowth
{
    private const double SecondsPerYear = 365.25 * 86_400;

    /// <summary>A growth has no larger factor, and no run more documents.</summary>
    private const double MostFactor = 1e6, MostDocuments = 1e12;

    /// <summary>By which share a collection may miss its number for its factor to be a whole number.</summary>
    private const double Close = 0.05;

    private const int MostUnits = 20;

    private readonly string _why;

    /// <param name="targets">By the deployment's names.</param>
    /// <param name="why">Why so many, for people.</param>
    private WrittenGrowth(IReadOnlyDictionary<string, double> targets, string why)
    {
        _why = why;
        double least = targets.Values.Min();
        // Of one collection its documents are what is counted; of several a size is a number of each.
        int units = Enumerable.Range(1, MostUnits).FirstOrDefault(one => targets.Values.All(target =>
            Math.Abs((Math.Round(target / least * one) / (target / least * one)) - 1) <= Close), MostUnits);
        Size = (long)Math.Max(1, Math.Round(least / units));
        Factors = targets.ToDictionary(one => one.Key, one => (long)Math.Clamp(Math.Round(one.Value / Size), 1, MostFactor),
            StringComparer.Ordinal);
    }

    /// <summary>How many documents of each collection belong to one of a size, by the deployment's names.</summary>
    public IReadOnlyDictionary<string, long> Factors { get; }

    /// <summary>The size at the end.</summary>
    public long Size { get; }

    /// <summary>From one size to the next, of some ten.</summary>
    public long Step => Math.Min(Size, Units.TwoDigits(Math.Max(1, Size / 10.0)));

    /// <summary>A hundredth, with which to begin, and from one size of it to the next.</summary>
    public (long Size, long Step) Beginning =>
        Units.TwoDigits(Math.Max(10, Size / 100.0)) is var size ? (size, Units.TwoDigits(size / 10.0)) : default;

    /// <param name="name">What the file calls a collection.</param>
    /// <returns>What it grows to, in words.</returns>
    public string Describe(Func<string, string> name) => string.Create(CultureInfo.InvariantCulture,
        $"grows to {string.Join(", ", Factors.Select(one => $"{one.Value * Size:N0} {name(one.Key)}"))}: {_why}");

    /// <summary>So many documents in all collections that grow, each by the rate at which it was seen to grow, or by what it has.</summary>
    /// <param name="sample">The deployment's database.</param>
    /// <param name="mix">What was seen; null for nothing.</param>
    /// <param name="documents">More than there are.</param>
    /// <exception cref="MongoPerfException">No collection can grow, or there are as many already.</exception>
    public static WrittenGrowth ToDocuments(DatabaseSample sample, OperationMix? mix, long documents)
    {
        Dictionary<string, double> rates = RatesOf(sample, mix);
        bool isSeen = rates.Count > 0;
        CollectionSample[] growing =
            [.. sample.Collections.Where(one => isSeen ? rates.ContainsKey(one.Name) : one.Count > 0 && CanGrow(one))];
        if (growing.Length == 0)
            throw new MongoPerfException(Fault.WrongUsage, $"--growth: {sample.Name} has no collection that can grow: "
                + "each is empty, or the server removes its documents by itself");
        double there = growing.Sum(one => (double)one.Count);
        if (documents <= there)
            throw new MongoPerfException(Fault.WrongUsage,
                FormattableString.Invariant($"--documents is {documents:N0}, and the collections that grow have {there:N0} already"),
                "name the number that there will be");
        return isSeen
            ? new WrittenGrowth(growing.ToDictionary(one => one.Name,
                one => one.Count + (rates[one.Name] * (documents - there) / rates.Values.Sum()), StringComparer.Ordinal),
                FormattableString.Invariant($"{documents:N0} documents in all, as much more of each as it was seen to grow"))
            : new WrittenGrowth(growing.ToDictionary(one => one.Name, one => one.Count * documents / there, StringComparer.Ordinal),
                FormattableString.Invariant($"{documents:N0} documents in all, in the proportions of today"));
    }

    /// <summary>What there will be after so many years at the rates that were seen.</summary>
    /// <inheritdoc cref="ToDocuments"/>
    /// <param name="sample">The deployment's database.</param>
    /// <param name="mix">What was seen.</param>
    /// <param name="years">More than 0.</param>
    public static WrittenGrowth OfYears(DatabaseSample sample, OperationMix mix, double years)
    {
        Dictionary<string, double> rates = RatesOf(sample, mix);
        if (rates.Count == 0)
            throw new MongoPerfException(Fault.WrongUsage,
                "--years: no collection was seen that got more documents than were removed, so there is no rate",
                "--documents names the number that there will be");
        Dictionary<string, double> targets = rates.ToDictionary(one => one.Key, one => (one.Value * years * SecondsPerYear)
            + sample.Collections.First(collection => collection.Name == one.Key).Count, StringComparer.Ordinal);
        double all = targets.Values.Sum();
        return all <= MostDocuments ? new WrittenGrowth(targets, string.Create(CultureInfo.InvariantCulture,
                $"{years:0.##} years at the {rates.Values.Sum():0.###} documents per second of the {mix.Seconds:0} s that were seen"))
            : throw new MongoPerfException(Fault.WrongUsage, FormattableString.Invariant($"--years {years:0.##} makes {all:N0} documents"),
                "name fewer years, or with --documents the number that there will be");
    }

    /// <summary>Documents per second by which collections grow; of those that do.</summary>
    private static Dictionary<string, double> RatesOf(DatabaseSample sample, OperationMix? mix)
    {
        var rates = new Dictionary<string, double>(StringComparer.Ordinal);
        foreach (LearnedOperation operation in mix?.Operations ?? [])
        {
            foreach (LearnedOperation one in operation.Parts.Count > 0 ? operation.Parts : [operation])
                rates[one.Collection] = rates.GetValueOrDefault(one.Collection) + (Added(one) * operation.Count / mix!.Seconds);
        }

        return rates.Where(one => one.Value > 0 && sample.Collections.Any(there => there.Name == one.Key && CanGrow(there)))
            .ToDictionary(one => one.Key, one => one.Value, StringComparer.Ordinal);
    }

    /// <summary>Documents that one operation adds, less those that it removes.</summary>
    private static double Added(LearnedOperation one) => one switch
    {
        { Kind: "insert" or "insertMany", Replies: { AreEnough: true } replies } => replies.Documents,
        { Kind: "insert" or "insertMany" } => one.DocumentsPerOperation,
        { IsUpsert: true, Replies: { AreEnough: true } replies } => replies.Nothing,
        { Kind: "delete", Replies: { AreEnough: true } replies } => -replies.Documents,
        { Kind: "delete", IsMany: false } => -one.DocumentsPerOperation,
        { Kind: "findAndModify", IsRemove: true } => -1,
        _ => 0,
    };

    /// <summary>Neither does the server remove documents by itself, nor is it a time series, whose documents no growth can find.</summary>
    private static bool CanGrow(CollectionSample collection) => !collection.Options.IsTrue("capped")
        && collection.Options.Find("timeseries") is null && collection.Options.Find("expireAfterSeconds") is null
        && collection.Indexes.All(index => index.Find("expireAfterSeconds") is null);
}
