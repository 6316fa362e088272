using MongoPerf.Load.Documents;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>Checks a collection's <c>options</c>: MongoDB's command create has them, and they fit together.</summary>
/// <param name="options">As the file has them.</param>
/// <param name="node">Where they stand.</param>
/// <param name="collection">The collection's name.</param>
internal sealed class CollectionOptions(BsonDocument options, ScenarioNode node, string collection)
{
    private static readonly string[] Known =
    [
        "capped", "size", "max", "timeseries", "expireAfterSeconds", "clusteredIndex", "validator", "validationLevel", "validationAction",
        "collation", "changeStreamPreAndPostImages", "indexOptionDefaults", "storageEngine", "encryptedFields", "comment", "writeConcern",
    ];

    private static readonly string[] OfTimeSeries =
        ["timeField", "metaField", "granularity", "bucketMaxSpanSeconds", "bucketRoundingSeconds"];

    /// <exception cref="UserException">One is not known, or does not fit the others, or the documents.</exception>
    public void Require(DocumentTemplate documents)
    {
        foreach (string key in options.Select(option => option.Key))
        {
            if (key is "viewOn" or "pipeline")
                throw Wrong($"{key} makes a view, which holds no documents of its own",
                    "describe the collection, and query it with aggregate");
            if (!Known.Contains(key))
                throw Wrong($"{key} is not an option of create; allowed: {string.Join(", ", Known)}", NearestName.Hint(key, Known));
        }

        RequireCapped();
        if (options.Find("timeseries") is { } series)
            RequireTimeSeries(series, documents);
        if (options.Find("clusteredIndex") is { } clustered && !IsById(clustered))
            throw Wrong("clusteredIndex is not a unique key of _id; MongoDB clusters by no other",
                "write clusteredIndex: {key: {_id: 1}, unique: true}");
        if (options.Find("expireAfterSeconds") is not null && options.Find("timeseries") is null && options.Find("clusteredIndex") is null)
            throw Wrong("expireAfterSeconds is for time series and clustered collections",
                "others have an index that expires documents: indexes: [{key: {FIELD: 1}, expireAfterSeconds: 3600}]");
        RequireOneOf("validationLevel", "strict", "moderate", "off");
        RequireOneOf("validationAction", "error", "warn", "errorAndLog");
        if (options.Find("collation") is not null && options.Find("collation.locale") is null)
            throw Wrong("collation has no locale", "such as collation: {locale: en, strength: 2}");
    }

    private static bool IsById(BsonValue clustered) => clustered.Type == BsonType.Document && clustered.ToDocument() is var index
        && index.IsTrue("unique") && index.FindDocument("key") is { } key && key.Count() == 1 && key.FindInt64("_id") == 1;

    private void RequireCapped()
    {
        bool isCapped = options.IsTrue("capped");
        if (isCapped && options.Find("size") is null)
            throw Wrong("capped needs a size in bytes", "such as {capped: true, size: 100000000}");
        if (!isCapped && ((string[])["size", "max"]).FirstOrDefault(key => options.Find(key) is not null) is { } alone)
            throw Wrong($"{alone} is for capped collections", "add capped: true");
        if (isCapped && (options.Find("timeseries") ?? options.Find("clusteredIndex")) is not null)
            throw Wrong("a capped collection is neither a time series nor clustered");
    }

    private void RequireTimeSeries(BsonValue value, DocumentTemplate documents)
    {
        BsonDocument series = value.Type == BsonType.Document ? value.ToDocument() : throw Wrong("timeseries is no mapping",
            "such as timeseries: {timeField: at, metaField: sensor, granularity: seconds}");
        if (series.Select(option => option.Key).FirstOrDefault(key => !OfTimeSeries.Contains(key)) is { } unknown)
            throw Wrong($"timeseries has no key {unknown}; allowed: {string.Join(", ", OfTimeSeries)}",
                NearestName.Hint(unknown, OfTimeSeries));
        string time = series.FindString("timeField")
            ?? throw Wrong("timeseries needs a timeField", "the field that has the time of each document");
        if (documents.Make(0).Find(time) is { Type: not BsonType.DateTime })
            throw Wrong($"timeField is '{time}', which is no date in the documents",
                $"such as {time}: {{^date: {{start: 2026-01-01, step: 1s}}}} in the document");
        if (series.FindString("granularity") is { } granularity && granularity is not ("seconds" or "minutes" or "hours"))
            throw Wrong($"granularity is '{granularity}'; allowed: seconds, minutes, hours");
        long? span = series.FindInt64("bucketMaxSpanSeconds");
        if (span != series.FindInt64("bucketRoundingSeconds") || (span is not null && series.Find("granularity") is not null))
            throw Wrong("bucketMaxSpanSeconds and bucketRoundingSeconds take the place of granularity, and are equal",
                "such as {bucketMaxSpanSeconds: 300, bucketRoundingSeconds: 300} (MongoDB 6.3 and later)");
    }

    private void RequireOneOf(string key, params string[] allowed)
    {
        if (options.Find(key) is { } value && !allowed.Contains(value.ToString()))
            throw Wrong($"{key} is '{value}'; allowed: {string.Join(", ", allowed)}");
    }

    private UserException Wrong(string why, string? hint = null) =>
        MappingReader.Wrong(node, $"collection '{collection}': options: {why}", hint);
}
