using MongoPerf.Scenarios;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Scenarios;

/// <summary>A field that no document has is probably misspelt: a warning names it, its line and the nearest name.</summary>
public sealed class FieldCheckTests
{
    private const string Data = """
        data:
          orders:
            count: 100
            document:
              customer: {^int: [1, 50]}
              address: {city: ^word, zip: {^string: 5}}
              items: {^array: {length: [1, 5], of: {product: {^int: [1, 9]}, price: {^double: [1, 5]}}}}
              kind: {^choice: {of: [plain, {extra: true}]}}
              ^fields: {count: 3, prefix: field, value: ^word}

        """;

    [Theory]
    [InlineData(
        "find: orders, filter: {custmer: 5}", "p.find.filter: no document of 'orders' has a field 'custmer' (did you mean 'customer'?)")]
    [InlineData("find: orders, filter: {zip: 5}", "p.find.filter: no document of 'orders' has a field 'zip' (did you mean 'address.zip'?)")]
    [InlineData("find: orders, filter: {items.prodct: 5}",
        "p.find.filter: no document of 'orders' has a field 'items.prodct' (did you mean 'items.product'?)")]
    [InlineData("find: orders, filter: {customer.name: 5}",
        "p.find.filter: no document of 'orders' has a field 'customer.name' (did you mean 'customer'?)")]
    [InlineData(
        "find: orders, filter: {field7: 5}", "p.find.filter: no document of 'orders' has a field 'field7' (did you mean 'field0'?)")]
    [InlineData("find: orders, filter: {$or: [{custmer: 5}]}",
        "p.find.filter: no document of 'orders' has a field 'custmer' (did you mean 'customer'?)")]
    [InlineData("find: orders, filter: {items: {$elemMatch: {prodct: 5}}}",
        "p.find.filter: no document of 'orders' has a field 'items.prodct' (did you mean 'items.product'?)")]
    [InlineData("find: orders, filter: {$expr: {$gt: [$custmer, 5]}}",
        "p.find.filter: no document of 'orders' has a field 'custmer' (did you mean 'customer'?)")]
    [InlineData("find: orders, filter: {}, sort: {custmer: 1}",
        "p.find.sort: no document of 'orders' has a field 'custmer' (did you mean 'customer'?)")]
    [InlineData("find: orders, filter: {}, projection: {adress: {city: 1}}",
        "p.find.projection: no document of 'orders' has a field 'adress.city' (did you mean 'address.city'?)")]
    [InlineData(
        "count: orders, filter: {custmer: 5}", "p.count.filter: no document of 'orders' has a field 'custmer' (did you mean 'customer'?)")]
    [InlineData(
        "distinct: orders, field: custmer", "p.distinct.field: no document of 'orders' has a field 'custmer' (did you mean 'customer'?)")]
    [InlineData("delete: orders, filter: {custmer: 5}",
        "p.delete.filter: no document of 'orders' has a field 'custmer' (did you mean 'customer'?)")]
    [InlineData("update: orders, key: uniform, with: {$inc: {custmer: 1}}",
        "p.update.with: adds the field 'custmer', which no document of 'orders' has and nothing reads (did you mean 'customer'?)")]
    [InlineData("update: orders, key: uniform, with: {$unset: {custmer: 1}}",
        "p.update.with: no document of 'orders' has a field 'custmer' (did you mean 'customer'?)")]
    [InlineData("update: orders, key: uniform, with: [{$set: {a: $custmer}}]",
        "p.update.with: no document of 'orders' has a field 'custmer' (did you mean 'customer'?)")]
    [InlineData("readModifyWrite: orders, key: uniform, with: {$set: {custmer: 1}}",
        "p.readModifyWrite.with: adds the field 'custmer', which no document of 'orders' has and nothing reads (did you mean 'customer'?)")]
    [InlineData("findAndModify: orders, filter: {}, sort: {custmer: 1}, remove: true",
        "p.findAndModify.sort: no document of 'orders' has a field 'custmer' (did you mean 'customer'?)")]
    [InlineData("aggregate: orders, pipeline: [{$match: {customer: 5}}, {$group: {_id: $custmer}}, {$sort: {other: 1}}]",
        "p.aggregate.pipeline: no document of 'orders' has a field 'custmer' (did you mean 'customer'?)")]
    [InlineData("createIndexes: orders, indexes: [{custmer: 1}]",
        "p.createIndexes.indexes: no document of 'orders' has a field 'custmer' (did you mean 'customer'?)")]
    public void An_operation_that_names_no_field_of_the_documents_is_warned_of(string operation, string warning) =>
        Assert.Contains($"test.yaml:11: {warning}", Warnings($"{{{operation}}}"));

    [Theory]
    [InlineData("{find: orders, filter: {customer: 5, address.city: a, items.product: 5, items.0.price: 1, kind.extra: "
        + "true, field2: a, _id: ^key}}")]
    [InlineData("{find: orders, filter: {items: {$elemMatch: {product: 5, price: {$gt: 1}}}, customer: {$not: {$gt: 5}}}, sort: "
        + "{address.zip: 1, $natural: 1, score: {$meta: textScore}}}")]
    [InlineData(
        "{find: orders, filter: {}, projection: {items: {$slice: 1}, total: {$sum: $items.price}, address: {zip: 1}, items.product: 1}}")]
    [InlineData("{update: orders, key: uniform, with: {$set: {state: sent}, $push: {items: {$each: [{note: a}]}}}}, {find: orders, filter: "
        + "{state: sent, items.note: a}}")]
    [InlineData("{update: orders, key: uniform, with: {$set: {'items.$[].price': 1, ^fields: {count: 3, prefix: field, "
        + "pick: one, value: ^word}}}}")]
    [InlineData("{update: orders, key: uniform, with: {$rename: {customer: client}}}, {find: orders, filter: {client: 5}}")]
    [InlineData(
        "{update: orders, filter: {user: {^int: [0, 9]}}, upsert: true, with: {$inc: {customer: 1}}}, {find: orders, filter: {user: 5}}")]
    [InlineData("{update: orders, key: uniform, with: [{$replaceWith: {new: 1}}]}, {find: orders, filter: {anything: 5}}")]
    [InlineData("{replace: orders, key: uniform}")]
    [InlineData("{runCommand: {update: orders, updates: []}, name: raw}, {find: orders, filter: {anything: 5}}")]
    [InlineData("{aggregate: orders, pipeline: [{$unwind: $items}, {$match: {items.price: 1}}, {$group: {_id: $customer, sum: {$sum: "
        + "$items.price}}}, {$sort: {sum: 1}}]}")]
    [InlineData("{find: elsewhere, filter: {anything: 5}}")]
    public void What_documents_have_or_operations_add_is_not(string operations) =>
        Assert.Empty(ScenarioTexts.Read(Data + $"  elsewhere: {{}}\nphases: [{{name: p, operations: [{operations}]}}]\n").Warnings);

    [Theory]
    [InlineData("indexes: [custmer, {a.b: 1, n: -1}]", "test.yaml:2: collection 'c': indexes: no document of 'c' has a field 'custmer' "
        + "(did you mean 'customer'?)|test.yaml:2: collection 'c': indexes: no document of 'c' has a field 'a.b'")]
    [InlineData("shardKey: {custmer: hashed}",
        "test.yaml:2: collection 'c': shardKey: no document of 'c' has a field 'custmer' (did you mean 'customer'?)")]
    [InlineData("options: {timeseries: {timeField: att}}",
        "test.yaml:2: collection 'c': options.timeseries: no document of 'c' has a field 'att' (did you mean 'at'?)")]
    [InlineData("indexes: [{$**: 1}, {customer.$**: 1}, {n: text}], shardKey: {_id: 1}", "")]
    public void Data_are_checked_too(string keys, string warnings) => Assert.Equal(
        warnings, string.Join('|', ScenarioTexts.Read($"data:\n  c: {{count: 5, document: {{customer: ^word, n: 1, at: {{^date: {{start: "
            + $"2020-01-01}}}}}}, {keys}}}\nphases: [{{load: c}}]\n").Warnings));

    [Fact]
    public void Warnings_come_in_the_order_of_the_file() => Assert.Equal(
        ["test.yaml:1:", "test.yaml:3:", "test.yaml:4:"],
        ScenarioTexts.Read("data: {c: {count: 5, document: {n: 1}, indexes: [mm]}}\nphases:\n  - {name: a, operations: [{count: c, filter: "
            + "{mm: 1}}]}\n  - {name: b, operations: [{update: c, key: uniform, with: {$set: {other: 1}}}]}\n")
            .Warnings.Select(line => line.Split(' ')[0]));

    [Fact]
    public void A_document_without_fields_that_is_inserted_has_none() => Assert.Equal(
        ["test.yaml:2: p.find.filter: no document of 'log' has a field 'level'"],
        ScenarioTexts.Read(
            "data: {log: {}}\nphases: [{name: p, operations: [{insert: log}, {find: log, filter: {level: 5}}]}]\n").Warnings);

    [Theory]
    [InlineData("{name: p, operations: [{find: orders, key: uniform, weight: 0.8}, {insert: orders, weight: 20}]}",
        "test.yaml:11: phase 'p': weight 0.8 beside weight 20 makes 3.8 % of the sum (write all as fractions or all as percentages)")]
    [InlineData("{name: g, grow: more, to: 100, writes: [{name: a, share: 0.8}, {name: b, share: 20}]}",
        "test.yaml:11: phase 'g': share 0.8 beside share 20 makes 3.8 % of the sum (write all as fractions or all as percentages)")]
    [InlineData("{name: p, operations: [{find: orders, key: uniform, weight: 0.5}, {insert: orders, weight: 99.5}]}", "")]
    [InlineData("{name: p, operations: [{find: orders, key: uniform, weight: 0.8}, {insert: orders, weight: 0.2}, {count: orders}]}", "")]
    public void Fractions_beside_percentages_are_warned_of(string phase, string warning) =>
        Assert.Equal(warning, string.Join('|', ScenarioTexts.Read(Data + $"  more: {{document: {{n: 1}}}}\nphases: [{phase}]\n").Warnings));

    [Theory]
    [MemberData(nameof(ScenarioSchemaTests.Files), MemberType = typeof(ScenarioSchemaTests))]
    public void Shipped_scenario_has_no_warning(string file)
    {
        string path = Path.Combine(RepositoryPaths.Root, "scenarios", file);
        // Those of removed documents are of what the server does, not of the file.
        Assert.DoesNotContain(PlanReader.Read(ScenarioFile.Find(path), new PlanOverrides(), 42).Warnings,
            warning => !warning.Contains("the server removes documents by itself", StringComparison.Ordinal));
    }

    private static IReadOnlyList<string> Warnings(string operation) =>
        ScenarioTexts.Read(Data + $"phases: [{{name: p, operations: [\n{operation}]}}]\n").Warnings;
}
