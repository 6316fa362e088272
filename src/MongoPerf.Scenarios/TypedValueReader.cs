using System.Globalization;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads generators of values with a structure of their own: decimals, places, UUIDs, patterns, people, references.</summary>
internal static class TypedValueReader
{
    /// <summary>The names that <see cref="Read"/> knows.</summary>
    public static IReadOnlyList<string> Names { get; } =
        ["^objectId", "^decimal", "^uuid", "^pattern", "^point", "^polygon", "^name", "^address", "^reference"];

    public static TemplateValue Read(string name, GeneratorReader reader, ulong salt, ValueSources sources) => name switch
    {
        "^objectId" => Id(reader, salt, sources.Seed),
        "^decimal" => Decimal(reader, salt),
        "^uuid" => Uuid(reader, salt),
        "^pattern" => Pattern(reader, salt),
        "^point" => GeoValue.Point(Places(reader, salt), salt),
        "^polygon" => GeoValue.Polygon(
            Places(reader, salt), (int)(reader.Count("corners", 3, 1000) ?? 5), Metres(reader, "radius") ?? 500, salt),
        "^name" => new PeopleValue(reader.OneOf("part", "full", "first", "last") switch
        {
            "first" => PeoplePart.FirstName,
            "last" => PeoplePart.LastName,
            _ => PeoplePart.FullName,
        }, salt),
        "^address" => Address(reader, salt),
        _ => Reference(reader, salt, sources),
    };

    /// <summary>A whole number from one half of the bits that a document's number has.</summary>
    public static TemplateValue SharedDraw(GeneratorReader reader, string half, ulong seed)
    {
        (int min, int max) = reader.Int32Range(int.MinValue, "such as {^int: {min: 0, max: 99, draw: upper}}");
        return new SharedDrawValue(min, max, reader.OneOf("draw", "upper", "lower") == "upper", seed);
    }

    private static DecimalValue Decimal(GeneratorReader reader, ulong salt)
    {
        const int MostDigits = 18;
        const long Beyond = 1_000_000_000_000_000_000;
        (string low, string high) =
            reader.TextRange() ?? throw reader.Wrong("the least and greatest values are missing", "such as {^decimal: [0.01, 500.00]}");
        int places = Math.Max(Places(low), Places(high));
        if (places > MostDigits || !TryScale(low, out long min) || !TryScale(high, out long max))
            throw reader.Wrong($"{low} to {high}: expected two numbers of at most {MostDigits} digits, such as [0.01, 500.00]");
        return min <= max ? new DecimalValue(min, max, places, salt)
            : throw reader.Wrong($"{low} to {high}: the least value comes first", $"write [{high}, {low}]");

        static int Places(string text) => text.IndexOf('.', StringComparison.Ordinal) is >= 0 and var point ? text.Length - point - 1 : 0;

        bool TryScale(string text, out long scaled) => long.TryParse(
            text.Replace(".", "", StringComparison.Ordinal) + new string('0', places - Places(text)), NumberStyles.AllowLeadingSign,
            CultureInfo.InvariantCulture, out scaled) && scaled is > -Beyond and < Beyond && text.Count(c => c == '.') <= 1;
    }

    private static TemplateValue Id(GeneratorReader reader, ulong salt, ulong seed)
    {
        if (reader.Date("from") is { } from)
        {
            if ((reader.Node("start") ?? reader.Node("step")) is not null)
                throw reader.Wrong("'from' and 'to' draw times, 'start' and 'step' follow the number", "remove one or the other");
            long to = reader.Date("to") ?? throw reader.Wrong("'to' is missing");
            return from <= to ? new RandomObjectIdValue((uint)Seconds(from), (uint)Seconds(to), salt)
                : throw reader.Wrong("'from' is later than 'to'");
        }

        if (reader.Node("to") is not null)
            throw reader.Wrong("'from' is missing");
        if (reader.Date("start") is not { } start)
            return reader.Node("step") is null ? new ObjectIdValue(seed) : throw reader.Wrong("'start' is missing");
        return new TimedObjectIdValue(seed, Seconds(start), reader.Duration("step") ?? 1);

        long Seconds(long milliseconds) => milliseconds / 1000 is >= 0 and <= uint.MaxValue and var seconds ? seconds
            : throw reader.Wrong("the times of ObjectIds are from 1970 to 2106");
    }

    private static TemplateValue Uuid(GeneratorReader reader, ulong salt)
    {
        if (reader.OneOf("version", "4", "7") == "4")
            return reader.Node("start") is null && reader.Node("step") is null ? FillerValue.Uuid(salt)
                : throw reader.Wrong("start and step are for version 7, which begins with a time");
        long start = reader.Date("start") ?? DocumentNumbers.FirstDate;
        double step = (reader.Duration("step") ?? 0.001) * 1000;
        if (start < 0)
            throw reader.Wrong("start is before 1970, when the times of UUIDs begin");
        return step > 0 ? FillerValue.TimedUuid(start, step, salt) : throw reader.Wrong("step is 0; each document is later than the last");
    }

    private static TemplateValue Pattern(GeneratorReader reader, ulong salt)
    {
        string text = reader.Text("pattern") ?? throw reader.Wrong("the pattern is missing");
        try
        {
            return PatternValue.Of(new TextPattern(text), salt);
        }
        catch (FormatException e)
        {
            throw reader.Wrong(e.Message);
        }
    }

    private static ClusteredPlaces Places(GeneratorReader reader, ulong salt)
    {
        double[] within = reader.Numbers("within", 4) ?? [-180, -60, 180, 70];
        if (within is not [>= -180 and var west, >= -85 and var south, <= 180 and var east, <= 85 and var north]
            || west > east || south > north)
            throw reader.Wrong($"within is [{string.Join(", ", within)}]; expected [west, south, east, north] in degrees, "
                + "longitudes from -180 to 180 and latitudes from -85 to 85", "such as within: [5.9, 45.8, 10.5, 47.8]");
        return new ClusteredPlaces(
            (int)(reader.Count("clusters", 1, 100_000) ?? 100), west, south, east, north, Metres(reader, "spread") ?? 5000, salt);
    }

    /// <summary>A distance such as 300m or 5km.</summary>
    private static double? Metres(GeneratorReader reader, string key)
    {
        if (reader.Node(key) is null || reader.Text(key) is not { } text)
            return null;
        (string number, double unit) = text.EndsWith("km", StringComparison.Ordinal) ? (text[..^2], 1000.0)
            : text.EndsWith('m') ? (text[..^1], 1) : ("", 0);
        return double.TryParse(number, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double value) && value > 0
            && value * unit <= 1_000_000
            ? value * unit
            : throw reader.Wrong($"{key} is '{text}'; expected a distance of up to 1000km", "such as 300m or 5km");
    }

    private static TemplateValue Address(GeneratorReader reader, ulong salt) =>
        reader.OneOf("part", "all", "street", "city", "zip", "country") switch
        {
            "street" => new PeopleValue(PeoplePart.Street, salt),
            "city" => new PeopleValue(PeoplePart.City, salt),
            "zip" => new PeopleValue(PeoplePart.Zip, salt),
            "country" => new PeopleValue(PeoplePart.Country, salt),
            _ => DocumentValue.Of(
                ("street", new PeopleValue(PeoplePart.Street, salt)), ("zip", new PeopleValue(PeoplePart.Zip, salt)),
                ("city", new PeopleValue(PeoplePart.City, salt)), ("country", new PeopleValue(PeoplePart.Country, salt))),
        };

    private static TemplateValue Reference(GeneratorReader reader, ulong salt, ValueSources sources)
    {
        string to = reader.Text("to") ?? throw reader.Wrong("the other collection's name is missing");
        string[] known = [.. sources.Collections.Where(c => c.Files is null).Select(c => c.Name)];
        if (sources.Collections.FirstOrDefault(c => c.Name == to && c.Files is null) is not { } other)
            throw reader.Wrong($"'{to}' is not a collection described before this one in data"
                + (known.Length == 0 ? "" : $"; those are: {string.Join(", ", known)}"),
                NearestName.Hint(to, known) ?? "describe the collection that is referred to first");
        string field = reader.Text("field") ?? "_id";
        TemplateValue value = other.Documents.FindNearest(field)
            ?? throw reader.Wrong($"the documents of '{to}' have no field '{field}', or too few of them do");
        KeyChoice choice = reader.Node("key") is { } key ? KeyChoiceReader.Read(key, sources.Scale) : KeyChoice.Uniform;
        if (choice is SequentialChoice)
            throw reader.Wrong("key is sequential, which depends on what was drawn before; a document depends on its number alone",
                "{^number: {cycle: …}} goes through numbers one after the other");
        long count = reader.Node("count") is { } given ? sources.Scale.Read(given, "count") : other.Count;
        return count > 0 ? KeyedValue.Of(other.Documents, value, choice, count, salt)
            : throw reader.Wrong($"'{to}' loads no documents, so it is not known how many there are to refer to",
                "give their number: count: 100k");
    }
}

/// <summary>Stands for a ^sequence until the fields beside it are read.</summary>
internal sealed class PendingSequence(GeneratorReader reader) : TemplateValue
{
    private readonly string _per = reader.Text("per")
        ?? throw reader.Wrong("'per' is missing: the field beside it whose equal values are counted");

    /// <summary>Puts in their places what counts by a field among these.</summary>
    public static void Resolve(List<KeyValuePair<string, TemplateValue>> fields)
    {
        for (int i = 0; i < fields.Count; i++)
        {
            if (fields[i].Value is PendingSequence pending)
                fields[i] = new(fields[i].Key, pending.In(fields));
        }
    }

    public override void Write(Wire.Bson.BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context) =>
        throw reader.Wrong("it counts the equal values of a field beside it, so it must be a field itself");

    private PlaceValue In(List<KeyValuePair<string, TemplateValue>> fields)
    {
        const string Hint = "such as customer: {^number: {cycle: 1000}}, order: {^sequence: {per: customer}}";
        if (fields.FirstOrDefault(field => field.Key == _per).Value is not { } field)
            throw reader.Wrong($"no field '{_per}' stands beside it", Hint);
        return (field as SequenceValue)?.PlacesFrom(reader.Long("start") ?? 1)
            ?? throw reader.Wrong($"'{_per}' is not a ^number with cycle or every, so it is not known how many documents before this one "
                + "have the same value", Hint);
    }
}
