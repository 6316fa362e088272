using System.Globalization;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Load.Plans;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Learning;

/// <summary>What documents become in a scenario: their statistics, and none of their values.</summary>
public sealed class DataWriterTests
{
    private const int Documents = 1000;

    private static readonly string[] States = ["geheim1", "geheim2", "geheim3"];

    [Fact]
    public void Generated_documents_have_the_fields_of_those_that_were_read()
    {
        BsonDocument[] made = Made(Sample(Order));
        Assert.All(made, document => Assert.Equal(BsonType.Int32, document.Find("count")!.Value.Type));
        Assert.All(made, document => Assert.Equal(BsonType.Double, document.Find("price")!.Value.Type));
        Assert.All(made, document => Assert.Equal(8, document.FindString("code")!.Length));
        Assert.All(made, document => Assert.InRange(document.FindDocument("items")!.Count(), 1, 4));
        Assert.All(made, document => Assert.Equal(BsonType.Int64, document.Find("items.0.product")!.Value.Type));
        Assert.InRange(made.Count(document => document.Find("note") is not null), Documents / 6, Documents / 3);
        Assert.Equal(3, made.Select(document => document.FindString("state")).Distinct().Count());
        Assert.InRange(made.Select(document => document.FindInt64("customer")).Distinct().Count(), 35, 40);
        Assert.InRange(made.Average(document => document.Bytes.Length), 0.9 * Orders.Average(one => one.Bytes.Length),
            1.1 * Orders.Average(one => one.Bytes.Length));
    }

    [Fact]
    public void No_text_of_the_documents_is_in_the_file()
    {
        string text = Text(Sample(Order));
        Assert.All(Orders.SelectMany(Texts).Where(value => value.Length > 2), value => Assert.DoesNotContain(value, text,
            StringComparison.Ordinal));
    }

    [Fact]
    public void Named_field_keeps_its_values() => Assert.Equal(States, Made(Sample(Order), kept: "orders.state")
        .Select(document => document.FindString("state")!).Distinct().Order(StringComparer.Ordinal));

    [Fact]
    public void Hashed_names_are_as_long_and_the_same_everywhere()
    {
        CollectionSample sample = Sample(Order) with { Indexes = [Index("state"), Index("items.product")] };
        PlanCollection collection = ScenarioTexts.Plan(Text(sample, key: "k")).Collections.Single();
        Assert.Equal(6, collection.Name.Length);
        BsonDocument document = collection.Documents.Make(0);
        Assert.DoesNotContain(document, field => field.Key is "state" or "items" or "count");
        Assert.All(collection.Indexes, index => Assert.NotNull(document.Find(index.FindDocument("key")!.First().Key.Replace(".", ".0.",
            StringComparison.Ordinal))));
    }

    [Fact]
    public void Unique_index_gets_values_that_are_all_different()
    {
        CollectionSample sample = Sample(Order) with { Indexes = [Index("code", ("unique", true)), Index("serial", ("unique", true))] };
        BsonDocument[] made = Made(sample);
        Assert.Equal(Documents, made.Select(document => document.FindString("code")).Distinct().Count());
        Assert.Equal(Documents, made.Select(document => document.FindInt64("serial")).Distinct().Count());
        Assert.DoesNotContain("is unique in the deployment", Text(sample), StringComparison.Ordinal);
    }

    [Fact]
    public void Values_in_a_partial_index_are_those_that_documents_have_here()
    {
        CollectionSample sample = Sample(Order) with
        {
            Indexes = [Index("customer", ("partialFilterExpression", BsonDocument.Of(("state", States[1]))))],
        };
        string text = Text(sample);
        Assert.DoesNotContain(States[1], text, StringComparison.Ordinal);
        PlanCollection collection = ScenarioTexts.Plan(text).Collections.Single();
        string? token = collection.Indexes[0].FindString("partialFilterExpression.state");
        Assert.Contains(Made(sample), document => document.FindString("state") == token);
    }

    [Fact]
    public void Arrays_are_as_long_as_they_were_and_as_often()
    {
        int[] lengths = [.. Made(Sample(i => BsonDocument.Of(
                ("_id", i), ("tags", Enumerable.Repeat((object)"rot", i % 10 < 7 ? 1 : 5).ToArray()))))
            .Select(document => document.FindDocument("tags")!.Count())];
        Assert.Equal([1, 5], lengths.Distinct().Order());
        Assert.InRange(lengths.Average(), 2.0, 2.4);
    }

    [Fact]
    public void What_a_server_says_begins_no_line_of_its_own() => Assert.Contains(
        "# not learned: no?phases: [{runCommand: {dropDatabase: 1}}]",
        Text(Sample(Order) with { NotLearned = ["no\nphases: [{runCommand: {dropDatabase: 1}}]"] }), StringComparison.Ordinal);

    [Fact]
    public void Expiring_documents_stay()
    {
        CollectionSample sample = Sample(Order) with { Indexes = [Index("placed", ("expireAfterSeconds", 60))] };
        Assert.All(Made(sample), document => Assert.True(document.FindInt64("placed") > DateTimeOffset.UtcNow.ToUnixTimeMilliseconds()));
    }

    [Fact]
    public void Names_that_are_data_are_not_written()
    {
        BsonDocument[] maps = [.. Enumerable.Range(0, 200).Select(i => BsonDocument.Of(("_id", i), ("seen", BsonDocument.Of(
            ($"507f1f77bcf86cd7994390{i % 90 + 10:00}", 1), ($"607f1f77bcf86cd7994390{i % 80 + 10:00}", 2)))))];
        string text = Text(new CollectionSample("maps", 200, maps, true));
        Assert.DoesNotContain("f1f77bcf86", text, StringComparison.Ordinal);
        Assert.Equal(2, ScenarioTexts.Plan(text).Collections.Single().Documents.Make(0).FindDocument("seen")!.Count());
    }

    [Fact]
    public void Names_of_the_document_that_are_data_are_left_out()
    {
        BsonDocument[] days = [.. Enumerable.Range(0, 50).Select(i => BsonDocument.Of(
            ("_id", i), ("n", 1), ($"2024-01-{(i % 28) + 1:00}", 5), ($"person{i}@example.org", 1)))];
        string text = Text(new CollectionSample("days", 50, days, true));
        Assert.DoesNotContain("2024", text, StringComparison.Ordinal);
        Assert.DoesNotContain("example.org", text, StringComparison.Ordinal);
        Assert.Contains("# not learned: 78 field name(s)", text, StringComparison.Ordinal);
        Assert.NotNull(ScenarioTexts.Plan(text).Collections.Single().Documents.Make(0).Find("n"));
    }

    [Theory]
    [InlineData("yes")]
    [InlineData("- a")]
    [InlineData("{")]
    [InlineData("a\": 'b\u2028😀#")]
    public void A_collection_keeps_its_name_however_odd(string name) => Assert.Equal(
        name, ScenarioTexts.Plan(Text(Sample(Order) with { Name = name })).Collections.Single().Name);

    [Fact]
    public void Wildcard_index_keeps_its_fields()
    {
        CollectionSample sample = Sample(Order) with
        {
            Indexes =
            [
                BsonDocument.Of(("v", 2), ("key", BsonDocument.Of(("$**", 1))), ("name", "$**_1"), ("wildcardProjection",
                    BsonDocument.Of(("state", true), ("items", BsonDocument.Of(("product", 1)))))),
                BsonDocument.Of(("v", 2), ("key", BsonDocument.Of(("count", 1))), ("name", "count_1"), ("partialFilterExpression",
                    BsonDocument.Of(("", true)))),
            ],
        };
        Assert.Equal("{\"state\": 1, \"items\": {\"product\": 1}}", ExtendedJson.Write(ScenarioTexts.Plan(Text(sample)).Collections.Single()
            .Indexes[0].FindDocument("wildcardProjection")!.Bytes));
    }

    [Fact]
    public void Every_type_and_odd_document_gives_a_file_that_can_be_read()
    {
        BsonDocument odd = BsonDocument.Of(
            ("_id", BsonDocument.Of(("a", 1), ("b", "x"))), ("n", null), ("b", true), ("i", int.MinValue), ("l", long.MaxValue), ("d",
                double.NaN),
            ("t", DateTime.MinValue), ("bin", new byte[] { 1 }), ("e", ""), ("a", Array.Empty<object>()), ("aa",
                new object[] { new object[] { 1 } }),
            ("true", "^word"), ("a: b", "#"), ("^x", 1), ("$x", 1), ("x.y", 1), ("", 1), ("doc", BsonDocument.Empty),
            ("dec", new BsonValue(BsonType.Decimal128, new byte[16])), ("ts", new BsonValue(BsonType.Timestamp, new byte[8])),
            ("min", new BsonValue(BsonType.MinKey, default)));
        string text = Text(new CollectionSample("odd", 3, [odd, odd, BsonDocument.Of(("_id", 1))], true));
        Assert.NotNull(ScenarioTexts.Plan(text).Collections.Single().Documents.Make(7));
        Assert.Contains("# not learned: 4 field name(s)", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Options_and_indexes_of_every_kind_are_written()
    {
        CollectionSample sample = Sample(Order) with
        {
            Options = BsonDocument.Of(("collation", BsonDocument.Of(("locale", "de"), ("strength", 2), ("version", "57.1"))),
                ("validator", BsonDocument.Of(("state", States[0])))),
            Indexes =
            [
                BsonDocument.Of(("v", 2), ("key", BsonDocument.Of(("count", 1), ("_fts", "text"), ("_ftsx", 1))), ("name",
                    "count_1_note_text"),
                    ("weights", BsonDocument.Of(("note", 1))), ("default_language", "english"), ("language_override", "language"),
                    ("textIndexVersion", 3)),
                BsonDocument.Of(("v", 2), ("key", BsonDocument.Of(("$**", 1))), ("name", "$**_1"),
                    ("wildcardProjection", BsonDocument.Of(("state", 1)))),
                BsonDocument.Of(("v", 2), ("key", BsonDocument.Of(("code", "hashed"))), ("name", "code_hashed")),
                BsonDocument.Of(("v", 2), ("key", BsonDocument.Of(("price", -1))), ("name", "cheap"), ("sparse", true), ("hidden", true)),
            ],
            ShardKey = BsonDocument.Of(("code", "hashed")),
        };
        string text = Text(sample);
        PlanCollection collection = ScenarioTexts.Plan(text).Collections.Single();
        Assert.Equal(["count_1_note_text", "$**_1", "code_hashed", "cheap"], collection.Indexes.Select(index => index.FindString("name")));
        Assert.Equal("{\"code\": \"hashed\"}", ExtendedJson.Write(collection.ShardKey!.Bytes));
        Assert.All(collection.Indexes, index => Assert.Equal("simple", index.FindString("collation.locale")));
        Assert.Contains("# not learned: its validator", text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_validator_keeps_what_it_says_of_structure_and_of_few_values_and_the_file_s_documents_pass_it()
    {
        CollectionSample sample = Sample(Order) with
        {
            Options = BsonDocument.Of(("validationLevel", "moderate"), ("validationAction", "warn"), ("validator", ExtendedJson.Parse("""
                {"$jsonSchema": {"bsonType": "object", "title": "geheim", "additionalProperties": false,
                    "required": ["state", "note", "count", "never"],
                    "properties": {
                        "_id": {}, "serial": {}, "placed": {"bsonType": "date"}, "never": {"enum": ["geheim4"]},
                        "state": {"enum": ["geheim1", "geheim2", "geheim3", "geheim4"]},
                        "customer": {"bsonType": ["int", "null"], "minimum": 0, "maximum": 39507},
                        "count": {"bsonType": "string"}, "price": {"type": "number", "enum": [0.25]},
                        "code": {"bsonType": "string", "pattern": "^geheim", "minLength": 8},
                        "items": {"bsonType": "array", "maxItems": 4, "items": {"required": ["product"],
                            "properties": {"product": {"bsonType": "long"}}}},
                        "note": {"bsonType": "string"}}},
                 "state": {"$in": ["geheim1", "geheim2", "geheim3"], "$ne": "geheim4"}, "serial": {"$exists": true, "$gt": 4711},
                 "$expr": {"$gt": ["$serial", 4711]}}
                """))),
        };
        string text = Text(sample);
        Assert.DoesNotContain("geheim", text, StringComparison.Ordinal);
        Assert.DoesNotContain("4711", text, StringComparison.Ordinal);
        Assert.DoesNotContain("39507", text, StringComparison.Ordinal);
        PlanCollection collection = ScenarioTexts.Plan(text).Collections.Single();
        string states = string.Join(", ", collection.Options!.FindDocument("validator.state.$in")!.Select(one => $"\"{one.Value}\""));
        Assert.Equal(Made(sample).Select(document => document.FindString("state")!).ToHashSet(),
            collection.Options!.FindDocument("validator.state.$in")!.Select(one => one.Value.ToString()).ToHashSet());
        Assert.Equal(
            "{\"$jsonSchema\": {\"bsonType\": \"object\", \"additionalProperties\": false, \"required\": [\"state\", \"count\"], "
            + "\"properties\": {\"_id\": {}, \"serial\": {}, \"placed\": {\"bsonType\": \"date\"}, \"never\": {}, "
            + $"\"state\": {{\"enum\": [{states}]}}, "
            + "\"customer\": {\"bsonType\": [\"int\", \"null\"]}, \"count\": {}, \"price\": {\"type\": \"number\"}, "
            + "\"code\": {\"bsonType\": \"string\"}, \"items\": {\"bsonType\": \"array\", \"items\": {\"required\": [\"product\"], "
            + "\"properties\": {\"product\": {\"bsonType\": \"long\"}}}}, \"note\": {\"bsonType\": \"string\"}}}, "
            + $"\"state\": {{\"$in\": [{states}]}}, \"serial\": {{\"$exists\": true}}}}",
            ExtendedJson.Write(collection.Options!.FindDocument("validator")!.Bytes));
        Assert.Equal(("moderate", "warn"),
            (collection.Options!.FindString("validationLevel"), collection.Options!.FindString("validationAction")));
        Assert.Contains("# not learned: of its validator: $expr, $gt, $ne, bsonType, enum, maxItems, maximum, minLength, minimum, pattern, "
            + "required", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Names_that_a_validator_has_twice_are_written_once()
    {
        CollectionSample sample = Sample(Order) with
        {
            Options = BsonDocument.Of(("validator", BsonDocument.Of(
                ("$jsonSchema", BsonDocument.Of(
                    ("required", new object[] { "state", "state" }), ("bsonType", new object[] { "object", "object" }),
                    ("properties", BsonDocument.Of(("serial", OfType("int")), ("serial", OfType("int")), ("state", OfType("string")))),
                    ("properties", BsonDocument.Of(("state", OfType("string")))))),
                ("state", BsonDocument.Of(("$exists", true), ("$exists", true))), ("state", BsonDocument.Of(("$exists", true)))))),
        };
        string text = Text(sample);
        Assert.Equal("{\"$jsonSchema\": {\"required\": [\"state\"], \"bsonType\": \"object\", \"properties\": "
            + "{\"serial\": {\"bsonType\": \"int\"}, \"state\": {\"bsonType\": \"string\"}}}, \"state\": {\"$exists\": true}}",
            ExtendedJson.Write(ScenarioTexts.Plan(text).Collections.Single().Options!.FindDocument("validator")!.Bytes));
        Assert.Contains("# not learned: of its validator: ? (4 times)\n", text, StringComparison.Ordinal);

        static BsonDocument OfType(string type) => BsonDocument.Of(("bsonType", type));
    }

    [Fact]
    public void Zones_are_cut_where_as_many_documents_lie_below_without_a_value_of_the_key()
    {
        CollectionSample sample = Sample(Order) with
        {
            ShardKey = BsonDocument.Of(("state", 1), ("_id", 1)),
            Zones =
            [
                Zone(States[1], BsonType.MinKey, States[1], BsonType.MaxKey, 3, 2),
                Zone(States[2], BsonType.MinKey, null, BsonType.MaxKey, 1),
                Zone("aaa", BsonType.MinKey, "bbb", BsonType.MinKey, 1), Zone(States[0], BsonType.Int32, States[1], BsonType.MinKey, 1),
            ],
        };
        string text = Text(sample);
        Assert.DoesNotContain("geheim", text, StringComparison.Ordinal);
        Assert.Contains("      - {shard: 3, from: 33.4%, to: 66.7%}\n      - {shard: 1, from: 66.7%}\n", text, StringComparison.Ordinal);
        Assert.Contains("not learned: zone ranges in which no document was found: 1", text, StringComparison.Ordinal);
        Assert.Contains("not learned: zone ranges that part documents whose first field of the shard key is the same: 1", text,
            StringComparison.Ordinal);
        Assert.Contains("not learned: zones of several shards", text, StringComparison.Ordinal);
        // The texts in the place of the states have the order of these.
        PlanCollection collection = ScenarioTexts.Plan(text).Collections.Single();
        string[] made = [.. Made(sample).Select(document => document.FindString("state")!).Distinct().Order(StringComparer.Ordinal)];
        Assert.Equal([(3, made[1], made[2]), (1, made[2], null)],
            collection.Zones.Select(zone => (zone.Shard, zone.From!.FindString("state")!, zone.To?.FindString("state"))));

        static SampledZone Zone(string from, BsonType fromRest, string? to, BsonType toRest, params int[] shards) => new(
            BsonDocument.Of(("state", from), ("_id", Rest(fromRest))),
            BsonDocument.Of(("state", to is null ? new BsonValue(BsonType.MaxKey, default) : (object)to), ("_id", Rest(toRest))), shards);

        static BsonValue Rest(BsonType type) => type == BsonType.Int32 ? BsonDocument.Of(("v", 5)).First().Value
            : new BsonValue(type, default);
    }

    [Fact]
    public void Few_texts_are_replaced_in_their_order()
    {
        string[] real = ["CH", "DE", "FR"];
        string[] made = [.. Made(Sample(i => BsonDocument.Of(("_id", i), ("country", real[i % 10 < 6 ? 0 : i % 10 < 9 ? 1 : 2]))))
            .CountBy(document => document.FindString("country")!).OrderByDescending(one => one.Value).Select(one => one.Key)];
        Assert.Equal(3, made.Length);
        Assert.Equal(made.Order(StringComparer.Ordinal), made);
        Assert.Empty(made.Intersect(real));
    }

    [Fact]
    public void Zones_that_a_scenario_can_not_have_are_told()
    {
        CollectionSample sample = Sample(Order) with
        {
            ShardKey = BsonDocument.Of(("state", "hashed")),
            Zones = [new SampledZone(BsonDocument.Of(("state", 5L)), BsonDocument.Of(("state", 6L)), [1])],
        };
        Assert.Contains("not learned: its zone ranges (1): zones of a scenario need a shard key whose first field is not hashed",
            Text(sample), StringComparison.Ordinal);
        Assert.Contains("not learned: zone ranges beyond 1,000, or beyond 64 shards, or of zones without a shard: 1", Text(sample with
        {
            ShardKey = BsonDocument.Of(("serial", 1)),
            Zones = [new SampledZone(BsonDocument.Of(("serial", 1100)), BsonDocument.Of(("serial", 1200)), [])],
        }), StringComparison.Ordinal);
    }

    [Fact]
    public void Zones_lie_in_the_order_of_the_server_and_those_that_end_before_they_begin_are_told()
    {
        CollectionSample sample = Sample(i => i % 4 == 0 ? BsonDocument.Of(("_id", i)) : BsonDocument.Of(("_id", i), ("k", i % 4 == 1
            ? $"t{i:000}" : i))) with
        {
            ShardKey = BsonDocument.Of(("k", 1)),
            Zones = [Zone(new BsonValue(BsonType.MinKey, default), 0, 1), Zone(0, "t", 2), Zone("t", 0, 3), Zone("u", "t", 4)],
        };
        string text = Text(sample);
        // Documents without the key, numbers, texts.
        Assert.Contains("    zones:\n      - {shard: 1, to: 25%}\n      - {shard: 2, from: 25%, to: 75%}\n\n", text,
            StringComparison.Ordinal);
        Assert.Contains("not learned: zone ranges in which no document was found: 2", text, StringComparison.Ordinal);
        ScenarioTexts.Plan(text);

        static SampledZone Zone(object from, object to, int shard) =>
            new(BsonDocument.Of(("k", from)), BsonDocument.Of(("k", to)), [shard]);
    }

    [Fact]
    public void A_validator_demands_nothing_of_places_that_become_points_and_names_no_ids()
    {
        CollectionSample sample = Sample(i => BsonDocument.Of(("_id", i),
            ("way", BsonDocument.Of(("type", "LineString"), ("coordinates", new object[] { Place(i), Place(i + 1) }))),
            ("perYear", BsonDocument.Of(($"{1900 + (i % 90)}", i))))) with
        {
            Options = BsonDocument.Of(("validator", ExtendedJson.Parse("""
                {"$jsonSchema": {"required": ["way"], "properties": {
                    "way": {"required": ["type", "coordinates"], "additionalProperties": false, "properties": {
                        "type": {"enum": ["LineString"]},
                        "coordinates": {"bsonType": "array", "items": {"bsonType": "array", "items": {"bsonType": "double"}}}}},
                    "perYear": {"bsonType": "object", "additionalProperties": false, "properties": {"1984": {}, "1985": {}}}}},
                 "way.coordinates": {"$type": "array"}}
                """))),
        };
        string text = Text(sample);
        Assert.DoesNotContain("1984", text, StringComparison.Ordinal);
        Assert.Contains("not learned: of its validator: $type, additionalProperties (2 times), properties\n", text,
            StringComparison.Ordinal);
        Assert.Equal("{\"$jsonSchema\": {\"required\": [\"way\"], \"properties\": {"
            + "\"way\": {\"required\": [\"type\", \"coordinates\"]}, "
            + "\"perYear\": {\"bsonType\": \"object\"}}}}",
            ExtendedJson.Write(ScenarioTexts.Plan(text).Collections.Single().Options!.FindDocument("validator")!.Bytes));

        static object Place(int i) => new object[] { 8.5 + (i / 1000.0), 47.5 - (i / 1000.0) };
    }

    private static BsonDocument[] Orders { get; } = [.. Enumerable.Range(0, Documents).Select(Order)];

    private static BsonDocument Order(int i) => BsonDocument.Of(
    [
        ("_id", ObjectId.Parse($"507f1f77bcf86cd7{i:x8}")), ("state", States[i * 7 % 3]), ("customer", i * 31 % 40 * 1013), ("count",
            i * 13 % 500),
        ("price", (i * 37 % 1000) + 0.25), ("code", $"{((i + 1) * 7919L % 100_000_000):00000000}"), ("serial", 1000 + i),
        ("placed", DateTime.UnixEpoch.AddDays(20_000).AddMinutes(i * 17)),
        ("items", Enumerable.Range(0, 1 + (i % 4)).Select(k => (object)BsonDocument.Of(("product", (long)(i * k) + 5_000_000_000),
            ("name", $"ware {i % 50}"))).ToArray()),
        .. i % 4 == 0 ? [("note", (object?)$"Herr Nummer {i} sagt {i * i}")] : Array.Empty<(string, object?)>(),
    ]);

    /// <summary>What an operation may ask for and find: most applications look up by fields that some documents lack.</summary>
    [Theory]
    [InlineData("note", "note")]
    [InlineData("items.product", "items.0.product")]
    [InlineData("often", "often")]
    [InlineData("amount", "amount")]
    [InlineData("never", null)]
    [InlineData("seldom", null)]
    [InlineData("mostlyNull", null)]
    [InlineData("_id", "_id")]
    public void Operations_name_fields_that_documents_have_with_a_value(string path, string? named)
    {
        CollectionSample sample = Sample(i => BsonDocument.Of(
        [
            .. Order(i).Select(field => (field.Key, (object?)field.Value)),
            ("often", i % 50 == 0 ? null : $"a{i}"), ("amount", i % 2 == 0 ? 1.5 + i : (object)i),
            ("mostlyNull", i % 5 == 0 ? $"a{i}" : null),
            .. i == 0 ? [("seldom", (object?)"a")] : Array.Empty<(string, object?)>(),
        ]));
        sample = sample with { Documents = [.. sample.Documents, .. Enumerable.Range(Documents, 200).Select(Order)] };
        var data = new DataWriter(new DatabaseSample("shop", [sample], new SamplingCost(0, 0, 0, 0), "", "", []), new WrittenNames(null),
            new HashSet<string>());
        Assert.Equal(named, data.FieldOf("orders", path));
    }

    /// <summary>A country that two fifths of all customers live in, a counter that mostly is 0: no zipfian is that steep.</summary>
    [Fact]
    public void A_value_that_dominates_is_as_frequent_here()
    {
        CollectionSample sample = Sample(i => BsonDocument.Of(("_id", i),
            ("country", i % 5 < 2 ? "geheimland" : $"land {i * 7919L % 211 * 1_000_003:000000000}"),
            ("clicks", i % 10 < 6 ? 0 : 10 + (i * 31 % 97)), ("amount", i % 10 < 6 ? 4711.5 : 10.5 + (i * 31 % 97))));
        string text = Text(sample);
        Assert.DoesNotContain("geheimland", text, StringComparison.Ordinal);
        Assert.DoesNotContain("4711", text, StringComparison.Ordinal);
        BsonDocument[] made = Made(sample);
        foreach ((string field, int share, int distinct) in (ReadOnlySpan<(string, int, int)>)
            [("country", 40, 212), ("clicks", 60, 98), ("amount", 60, 98)])
        {
            int[] counts =
                [.. made.CountBy(document => Convert.ToHexString(document.Find(field)!.Value.Bytes.Span)).Select(one => one.Value)];
            Assert.InRange(counts.Max(), Documents * (share - 5) / 100, Documents * (share + 5) / 100);
            Assert.InRange(counts.Length, distinct * 80 / 100, distinct * 120 / 100);
        }
    }

    /// <summary>A unique index can be built of as many documents as anybody has; a ^string is cut out of a million places.</summary>
    [Theory]
    [InlineData("Kunde.{0}-{1}@example.org")]
    [InlineData("{1} {0}")]
    public void Texts_of_a_unique_index_never_repeat(string form)
    {
        CollectionSample sample = Sample(i => BsonDocument.Of(("_id", i), ("mail", string.Format(CultureInfo.InvariantCulture, form,
            i * 7919 % 1_000_003, "ÄÖabcdefghi"[(i % 3)..])))) with { Indexes = [Index("mail", ("unique", true))] };
        PlanCollection collection = ScenarioTexts.Plan(Text(sample)).Collections.Single();
        const int Many = 100_000;
        Assert.Equal(Many, Enumerable.Range(0, Many).Select(i => collection.Documents.Make(i).FindString("mail")).Distinct().Count());
    }

    [Theory]
    [InlineData("", "shop.at")]
    [InlineData("shop.at", "shop.at")]
    [InlineData("area", null)]
    [InlineData("_id", null)]
    public void Places_are_fields_with_points(string path, string? place)
    {
        CollectionSample sample = Sample(i => BsonDocument.Of(("_id", i),
            ("area", Place("Polygon", new object[] { new object[] { Pair(0), Pair(1), Pair(2), Pair(0) } })),
            ("shop", BsonDocument.Of(("at", Place("Point", Pair(i)))))));
        var data = new DataWriter(new DatabaseSample("shop", [sample], new SamplingCost(0, 0, 0, 0), "", "", []), new WrittenNames(null),
            new HashSet<string>());
        Assert.Equal(place, data.PlaceOf("orders", path));

        static BsonDocument Place(string type, object coordinates) => BsonDocument.Of(("type", type), ("coordinates", coordinates));

        static object Pair(int i) => new object[] { 8 + (i * 37 % 100 / 100.0), 47 + (i * 53 % 100 / 100.0) };
    }

    [Fact]
    public void What_phases_insert_is_not_loaded_unless_the_server_removes_some()
    {
        CollectionSample sample = Sample(Order);
        Assert.Contains("    count: 400    # 1,000 with what the phases insert\n", With(sample), StringComparison.Ordinal);
        Assert.Contains("    count: 1000\n", With(sample with
        {
            Options = BsonDocument.Of(("capped", true), ("size", 1_000_000)),
        }), StringComparison.Ordinal);
        Assert.Contains("    count: 1000\n", With(sample with { Indexes = [Index("placed", ("expireAfterSeconds", 60))] }),
            StringComparison.Ordinal);

        static string With(CollectionSample sample) => new DataWriter(
            new DatabaseSample("shop", [sample], new SamplingCost(0, 0, 0, 0), "", "", []), new WrittenNames(null), new HashSet<string>())
            .Text((_, _) => 400);
    }

    /// <summary>Fifty devices in turn every ten seconds, in four halls, with a counter of rounds and a time of their own.</summary>
    [Fact]
    public void Values_that_come_in_turn_or_rise_do_so_in_the_copy()
    {
        CollectionSample sample = Sample(i => BsonDocument.Of(("_id", i), ("dev", i % 50), ("hall", $"halle{i % 4}"), ("on", i % 2 == 0),
            ("code", $"{(char)('a' + (i % 50 / 8))}{(char)('a' + (i % 50 % 8))}"), ("round", i / 50),
            ("block", i / 100 % 3), ("site", i % 50 * 37 % 11 % 3),
            ("tick", Begin.AddSeconds(10 * (i / 50))),
            ("at", Begin.AddSeconds(10 * i).AddMilliseconds(((i * i * 7919L) + (i * 104_729L)) % 6000)),
            ("drawn", (long)(i * 2654435761L % 1000))));
        string text = Text(sample);
        BsonDocument[] made = Made(sample);
        foreach (string field in (string[])["dev", "hall", "on", "code", "block", "site"])
        {
            int period = field switch { "hall" => 4, "on" => 2, "block" => 300, _ => 50 };
            string[] values = [.. made.Select(document => Hex(document, field))];
            Assert.All(Enumerable.Range(0, Documents - period), i => Assert.Equal(values[i], values[i + period]));
            Assert.Equal(field is "block" or "site" ? 3 : period, values.Distinct().Count());
        }

        Assert.All(Enumerable.Range(0, Documents), i => Assert.Equal(made[i - (i % 100)].FindInt64("block"), made[i].FindInt64("block")));
        Assert.Equal(Enumerable.Range(0, Documents).Select(i => (long?)(i / 50)), made.Select(one => one.FindInt64("round")));
        long[] ticks = [.. made.Select(one => one.FindInt64("tick")!.Value)];
        Assert.Equal(Enumerable.Range(0, Documents).Select(i => 10_000L * (i / 50)), ticks.Select(tick => tick - ticks[0]));
        long[] times = [.. made.Select(one => one.FindInt64("at")!.Value)];
        double[] steps = [.. times.Zip(times.Skip(1)).Select(pair => (double)pair.Second - pair.First)];
        Assert.InRange(steps.Average(), 9900, 10_100);
        // The mean distance of even draws from 0 to 6,000 is 2,000.
        Assert.InRange(steps.Average(step => Math.Abs(step - 10_000)), 1600, 2400);
        Assert.DoesNotContain("drawn: {^number: {start: 0, cycle", text, StringComparison.Ordinal);
        Assert.DoesNotContain("halle", text, StringComparison.Ordinal);

        static string Hex(BsonDocument document, string field) => Convert.ToHexString(document.Find(field)!.Value.Bytes.Span);
    }

    /// <summary>Of many documents only a few are read one after the other.</summary>
    [Fact]
    public void Consecutive_documents_tell_the_order_where_others_are_drawn()
    {
        BsonDocument[] drawn = [.. Enumerable.Range(0, Documents).Select(i => One(i * 7919L % 100_000))];
        var sample = new CollectionSample("orders", 100_000, drawn, AreInOrder: false)
        {
            Consecutive = [.. Enumerable.Range(0, 500).Select(i => One(i))],
        };
        BsonDocument[] made = Made(sample);
        Assert.All(Enumerable.Range(0, Documents - 20), i => Assert.Equal(made[i].FindString("dev"), made[i + 20].FindString("dev")));
        Assert.Equal(20, made.Select(one => one.FindString("dev")).Distinct().Count());

        static BsonDocument One(long i) => BsonDocument.Of(("_id", i), ("dev", $"geraet{i % 20:00}"));
    }

    [Fact]
    public void ObjectIds_have_the_times_that_they_had_and_refer_to_what_they_referred_to()
    {
        uint begin = (uint)new DateTimeOffset(Begin).ToUnixTimeSeconds();
        var rooms = new CollectionSample("rooms", 40, [.. Enumerable.Range(0, 40).Select(i => BsonDocument.Of(("_id", Room(i))))], true);
        CollectionSample orders = Sample(i => BsonDocument.Of(("_id", new ObjectId(begin + (uint)(60 * i), (ulong)i)),
            ("room", Room(i * 7 % 40)), ("lines", Enumerable.Range(0, 5).Select(j => (object)BsonDocument.Of(
                ("id", new ObjectId(begin + (uint)(60 * i), 7_000_000 + (ulong)((i * 5) + j))))).ToArray())));
        var database = new DatabaseSample("shop", [orders, rooms], new SamplingCost(0, 0, 0, 0), "", "", []);
        string text = ScenarioText.Of(database, new DataWriter(database, new WrittenNames(null), new HashSet<string>()), phases: null);
        Plan plan = ScenarioTexts.Plan(text);
        BsonDocument[] made = [.. Enumerable.Range(0, Documents).Select(i => plan.Collections.First().Documents.Make(i))];
        ObjectId[] there = [.. Enumerable.Range(0, 40)
            .Select(i => plan.Collections.Last().Documents.Make(i).Find("_id")!.Value.ToObjectId())];
        Assert.Equal(there.Order(), made.Select(one => one.Find("room")!.Value.ToObjectId()).Distinct().Order());
        Assert.All(made, one => Assert.Equal(5, one.FindDocument("lines")!.Select(line => line.Value.ToDocument().Find("id")!.Value
            .ToObjectId()).Distinct().Count()));
        Assert.InRange(made[0].Find("_id")!.Value.ToObjectId().High, begin - 3600, begin);
        Assert.Equal(60u, made[1].Find("_id")!.Value.ToObjectId().High - made[0].Find("_id")!.Value.ToObjectId().High);

        ObjectId Room(int i) => new(begin - 1_000_000 + (uint)(500 * i), (ulong)i);
    }

    [Fact]
    public void Doubles_of_few_places_stay_so() => Assert.All(
        Made(Sample(i => BsonDocument.Of(("_id", i), ("temp", Math.Round(i * 2654435761L % 10_007 / 333.0, 2))))),
        one => Assert.Equal(Math.Round(one.Find("temp")!.Value.ToDouble(), 2), one.Find("temp")!.Value.ToDouble()));

    /// <summary>An import in turn, and then something else.</summary>
    [Fact]
    public void What_came_in_turn_at_first_alone_does_not_go_on_so()
    {
        var sample = new CollectionSample("orders", 100_000,
            [.. Enumerable.Range(0, Documents).Select(i => One(i, i * i % 97 % 10 < 8 ? 2 : i % 2))], AreInOrder: false)
        {
            Consecutive = [.. Enumerable.Range(0, 500).Select(i => One(i, i % 3))],
        };
        int[] counts = [.. Made(sample).CountBy(one => one.FindInt64("state") ?? -1).Select(one => one.Value).OrderDescending()];
        Assert.InRange(counts[0], 700, 900);

        static BsonDocument One(int i, int state) => BsonDocument.Of(("_id", $"n{i}"), ("state", state));
    }

    /// <summary>Ids that some applications hash have any time until 2106.</summary>
    [Fact]
    public void ObjectIds_of_any_time_are_written() => Assert.Equal(Documents, Made(Sample(i => BsonDocument.Of(
        ("_id", new ObjectId((uint)(i * 2654435761L), (ulong)i)), ("of", new ObjectId((uint)((i * 40503L * 65_537) + 9), (ulong)i)))))
        .Select(one => one.Find("of")!.Value.ToObjectId()).Distinct().Count());

    /// <summary>Sixteen digits, of which the last ones differ.</summary>
    [Fact]
    public void Few_long_numbers_stay_as_many_and_are_others()
    {
        long[] real = [4_012_888_888_881_881, 4_012_888_888_881_882, 4_012_888_888_881_884];
        CollectionSample sample = Sample(i => BsonDocument.Of(("_id", i), ("card", real[i * 7 % 5 % 3])));
        long[] made = [.. Made(sample).Select(one => one.FindInt64("card")!.Value).Distinct()];
        Assert.Equal(3, made.Length);
        Assert.All(made, number => Assert.Equal(16, number.ToString(CultureInfo.InvariantCulture).Length));
        Assert.DoesNotContain("40128", Text(sample), StringComparison.Ordinal);
    }

    private static readonly DateTime Begin = new(2025, 6, 1, 0, 0, 0, DateTimeKind.Utc);

    private static CollectionSample Sample(Func<int, BsonDocument> make) =>
        new("orders", Documents, [.. Enumerable.Range(0, Documents).Select(make)], AreInOrder: true);

    private static BsonDocument Index(string field, params (string, object?)[] options) =>
        BsonDocument.Of([("v", 2), ("key", BsonDocument.Of((field, 1))), ("name", $"{field}_1"), .. options]);

    private static string Text(CollectionSample sample, string? key = null, string? kept = null)
    {
        var database = new DatabaseSample("shop", [sample], new SamplingCost(0, 0, 0, 0), "", "", []);
        return ScenarioText.Of(database, new DataWriter(database, new WrittenNames(key),
            kept is null ? new HashSet<string>() : new HashSet<string> { kept }), phases: null);
    }

    private static BsonDocument[] Made(CollectionSample sample, string? kept = null)
    {
        PlanCollection collection = ScenarioTexts.Plan(Text(sample, kept: kept)).Collections.Single();
        Assert.Equal(sample.Count, collection.Count);
        return [.. Enumerable.Range(0, Documents).Select(i => collection.Documents.Make(i))];
    }

    private static IEnumerable<string> Texts(BsonDocument document) => document.SelectMany(field =>
        field.Value.Type == BsonType.String ? [field.Value.ToString()]
        : field.Value.Type is BsonType.Document or BsonType.Array ? Texts(field.Value.ToDocument()) : []);
}
