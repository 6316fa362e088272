using System.Text.RegularExpressions;

namespace MongoPerf.Scenarios;

/// <summary>The values that a template can generate: how each is written, and what it gives.</summary>
/// <param name="Name">The name with its ^.</param>
/// <param name="Form">An example of the longest form.</param>
/// <param name="Description">A sentence.</param>
/// <param name="Keys">The keys of its long form.</param>
internal sealed partial record Generator(string Name, string Form, string Description, IReadOnlyList<string> Keys)
{
    /// <summary>Field names end in digits: field0, field1.</summary>
    public const string FieldsName = "^fields";

    /// <summary>Stands among other fields too: those of the row.</summary>
    public const string FileName = "^file";

    public const string DistinctName = "^distinct";

    /// <summary>Only as a field: elsewhere nothing can be left out.</summary>
    public const string OptionalName = "^optional";

    public static IReadOnlyList<Generator> All { get; } =
    [
        new("^number", "{^number: {start: 0, step: 1, every: 1, cycle: 1M, shuffled: false, type: long}}",
            "The document's number, or start + step × number; every: N gives N consecutive documents the same number (every: [10, "
            + "100] groups of random size, 55 on average), cycle: N starts over after N numbers, with shuffled: true in another order each "
            + "time; type is int, long or double.",
            ["start", "step", "type", "every", "cycle", "shuffled"]),
        new("^int", "{^int: [20, 1020]}", "A 32-bit number, uniform, both ends included; with draw: upper or lower, from that half of the "
            + "bits derived from seed and document number, whatever the field is called; with nurand: A, TPC-C's NURand(A, min, max).",
            ["min", "max", "draw", "nurand"]),
        new("^long", "{^long: [0, 10000000000]}", "A 64-bit number, uniform, both ends included.", ["min", "max"]),
        new("^double", "{^double: [0, 1]}", "A floating-point number, uniform; with decimals: 2, as in {min: 0, max: 1, decimals: 2}, "
            + "rounded to so many places.", ["min", "max", "decimals"]),
        new("^bool", "{^bool: 0.5}", "True with this probability.", []),
        new("^date", "{^date: {from: 2011-01-01, to: 2012-01-01}}",
            "A date in a range, or with start and step one that follows the number; every: N gives N consecutive documents the same, "
            + "jitter: 200ms makes each later by less than that.",
            ["from", "to", "start", "step", "every", "jitter"]),
        new("^objectId", "{^objectId: {start: 2024-01-01, step: 10ms}}",
            "An ObjectId that increases with the document's number; with start and step its time does, too; with from and to it is random, "
            + "of a time in that range.",
            ["start", "step", "from", "to"]),
        new("^uuid", "{^uuid: {version: 7, start: 2024-01-01, step: 1ms}}",
            "A random UUID (version 4), or with version 7 one that increases with the document's number: it begins with a time.",
            ["version", "start", "step"]),
        new("^decimal", "{^decimal: [0.01, 500.00]}",
            "A decimal128, uniform, both ends included, with as many decimal places as they are written with.", ["min", "max"]),
        new("^pattern", "{^pattern: \"[A-Z]{2}-[0-9]{4}\"}",
            "A text that a regular expression matches: classes, groups with |, ?, *, +, {n,m}, \\d, \\w, \\s.", ["pattern"]),
        new("^point", "{^point: {clusters: 100, spread: 5km, within: [5.9, 45.8, 10.5, 47.8]}}",
            "A GeoJSON point; points lie in clusters, few large and many small ones, within [west, south, east, north].",
            ["clusters", "spread", "within"]),
        new("^polygon", "{^polygon: {corners: 5, radius: 500m, clusters: 100, spread: 5km, within: [5.9, 45.8, 10.5, 47.8]}}",
            "A GeoJSON polygon around such a point.", ["corners", "radius", "clusters", "spread", "within"]),
        new("^name", "{^name: full}", "A person's name, or the first or last name alone, from a small list.", ["part"]),
        new("^address", "{^address: all}", "An address with street, zip, city and country, or one of them, from a small list.", ["part"]),
        new("^reference", "{^reference: {to: customers, key: zipfian, field: _id, count: 10k}}",
            "The _id, or another field, of a document of a collection that stands before this one, drawn as operations draw documents.",
            ["to", "key", "field", "count"]),
        new("^sequence", "{^sequence: {per: customer, start: 1}}",
            "How many documents up to this one have the same value in the field beside it, a ^number with cycle or every: 1, 2, 3 for "
            + "each customer.", ["per", "start"]),
        new("^string", "{^string: [10, 20]}", "Random characters that hardly compress; a length, or [min, max].", ["length"]),
        new("^binary", "{^binary: 1MB}", "Random bytes; a size, or [min, max].", ["size"]),
        new("^filler", "{^filler: {documentSize: 1024, compressibility: 0}}",
            "Random characters that fill the document to exactly this size, of which a percentage compresses away; with length, "
            + "so many characters.", ["documentSize", "length", "compressibility"]),
        new("^word", "{^word: {first: 100}}", "A word from the built-in dictionary of 7,998 words, or from its first N.", ["first"]),
        new(DistinctName, "{^distinct: {values: 5k, of: {^string: 10}, key: zipfian}}",
            "One of so many different values, drawn as operations "
            + "draw documents; wherever the same stands, operations included, it is one of the same values; with draw: NAME, the one at "
            + "the place that others with that name are at.", ["values", "of", "key", "draw"]),
        new(OptionalName, "{^optional: {share: 0.3, of: {^int: [0, 9]}}}", "A field that this share of the documents has.", ["share",
            "of"]),
        new("^choice", "{^choice: {of: [a, b], weights: [9, 1]}}", "One of several values; with turns: [2100, 900] in turn, the first for "
            + "2,100 consecutive documents, the second for 900, and again from the first; with draw: NAME, each at the place that others "
            + "with that name are at; with by: {^field: state}, of is a mapping of its values.", ["of", "weights", "turns", "draw", "by"]),
        new("^array", "{^array: {length: [2, 10], of: ^word}}", "An array of fixed or random length.", ["length", "of"]),
        new("^numbered", "{^numbered: {prefix: user, digits: 10, hashed: false}}",
            "A text with the document's number in it, or the number's hash.", ["prefix", "digits", "hashed"]),
        new("^spelled", "{^spelled: {number: {^int: [0, 99]}, digits: 2, with: [ba, bo, bi]}}",
            "A number whose digits are texts, as many of them as with has; digits is how many are written.", ["number", "with", "digits"]),
        new("^add", "{^add: [{^from: order.number}, 1]}", "The sum of numbers, of the type that MongoDB's $add gives it; "
            + "a date and milliseconds are a date.", []),
        new("^subtract", "{^subtract: [{^from: district.next}, 20]}", "The first number or date less the others.", []),
        new("^multiply", "{^multiply: [{^from: item.price}, {^from: each.quantity}]}", "The product of numbers.", []),
        new(FieldsName, "^fields: {count: 10, prefix: field, value: {^binary: 100}}",
            "Fields field0 to field9, each with the value; with pick: one, one of them.", ["count", "prefix", "value", "pick"]),
        new(FileName, "{^file: {path: people.csv, field: name, pick: random}}",
            "A row of a CSV or JSON-lines file in the scenario's folder (.csv, .tsv, .jsonl, .ndjson, .json), or one field of it; rows in "
            + "order, at random, or at random by a weight that each has. As a document's key, its fields. Types are for CSV columns.",
            ["path", "field", "pick", "weight", "types"]),
        new("^key", "^key", "In operations: the _id of the document that was drawn.", []),
        new("^field", "{^field: name}", "In operations: a field of the document that was drawn, so that queries find it.", []),
        new("^write", "^write", "In $set of an update or a findAndModify, and in a replacement: a number of its own for each write, from 1 "
            + "in each phase, by which a watch recognises it.", []),
        new("^existing", "{^existing: {of: products.sku, draw: frequency, sample: 10k}}", "In operations on existing data: a value that a "
            + "field of the collection has, from a sample of its documents (10k) that is taken before the run begins; each different value "
            + "equally often, or with draw: frequency as often as it occurs. Alone, the field where it stands.", ["of", "draw", "sample"]),
        new("^from", "{^from: {path: order.items.0.product, default: 0}}", "In steps: what an earlier step returned, or the default where "
            + "there is nothing.", ["path", "default"]),
    ];

    /// <summary>The name of a generator that stands within another text: in braces, or as a step of a path.</summary>
    public static string? FindIn(string text) => Within().Match(text) is { Success: true, Groups: [_, var name, ..] }
        && All.Any(generator => generator.Name == name.Value) ? name.Value : null;

    [GeneratedRegex(@"(?:\{\s*|\.)(\^[A-Za-z]+)(?![A-Za-z])")]
    private static partial Regex Within();

    /// <summary>Chosen when the file is read: {^if: {is: $(all), then: …, else: …}}.</summary>
    public const string If = "^if";
}
