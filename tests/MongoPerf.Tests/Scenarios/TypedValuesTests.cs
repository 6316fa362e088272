using System.Text.RegularExpressions;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Decimals, places, UUIDs, patterns, people, references and sequences.</summary>
public sealed class TypedValuesTests
{
    private const int Documents = 2000;

    [Fact]
    public void Decimals_have_the_places_of_their_ends()
    {
        string[] found = [.. Values("{^decimal: [-0.05, 1.1]}").Select(value => Decimal128.FromBytes(value.Bytes.Span).ToString())];
        Assert.All(found, text => Assert.InRange(decimal.Parse(text), -0.05m, 1.1m));
        Assert.All(found, text => Assert.Matches(@"^-?\d\.\d\d$", text));
        Assert.Contains("-0.05", found);
        Assert.Contains("1.10", found);
    }

    /// <summary>Found by a review: an exponent beyond decimal128's made another number.</summary>
    [Fact]
    public void Decimals_of_too_many_places_are_refused() => Assert.Contains(
        "expected two numbers of at most 18 digits",
        ScenarioTexts.Refusal(
            $"data: {{c: {{count: 9, document: {{v: {{^decimal: [0, 0.{new string('0', 7000)}]}}}}}}}}\nphases: [{{load: c}}]").Message,
        StringComparison.Ordinal);

    [Theory]
    [InlineData("[A-Z]{2}-[0-9]{4}")]
    [InlineData("(BE|ZH|GE)-[1-9][0-9]{3,5}")]
    [InlineData(@"\d+\.\d{2}( \w*)?ä?")]
    [InlineData("[^a-z]{3}x.")]
    public void Texts_match_their_pattern(string pattern) =>
        Assert.All(Values($"{{^pattern: '{pattern}'}}"), value => Assert.Matches($"^(?:{pattern})$", value.ToString()));

    [Theory]
    [InlineData("a(b", "a ( without its )")]
    [InlineData("a)", "a ) without its (")]
    [InlineData("[a", "a [ without its ]")]
    [InlineData("[z-a]", "z-a is not a range")]
    [InlineData("*a", "* has nothing before it to repeat")]
    [InlineData("a{3,1}", "expected {n} or {n,m}, each 0 to 1,000, the smaller first")]
    [InlineData("^a", "^ is not needed")]
    [InlineData("\\q", "\\q is not known")]
    [InlineData("((a{1000}){1000}){1000}", "allowed are 65,536")]
    public void Pattern_that_is_none_gets_one_line(string pattern, string expected) => Assert.Contains(
        expected,
        ScenarioTexts.Refusal($"data: {{c: {{count: 9, document: {{v: {{^pattern: '{pattern}'}}}}}}}}\nphases: [{{load: c}}]").Message,
        StringComparison.Ordinal);

    /// <summary>Found by a review: the empty group was repeated 10^15 times for each text.</summary>
    [Fact]
    public void Pattern_that_repeats_nothing_makes_its_text_at_once() => Assert.All(
        Values("{^pattern: 'a(((((b{0}){1000}){1000}){1000}){1000}){1000}'}"), value => Assert.Equal("a", value.ToString()));

    [Fact]
    public void Times_of_ObjectIds_follow_the_number()
    {
        PlanCollection collection = Collection("{_id: {^objectId: {start: 2024-01-01, step: 10ms}}}");
        ObjectId[] ids = [.. Enumerable.Range(0, Documents).Select(i => collection.Documents.Ids.Of(i).ToObjectId())];
        Assert.Equal(ids.Order(), ids);
        Assert.Equal(Documents, ids.Distinct().Count());
        Assert.Equal(SecondsOf("2024-01-01"), ids[0].High);
        Assert.Equal(SecondsOf("2024-01-01") + 19, ids[^1].High);
        Assert.All(Enumerable.Range(0, Documents), i => Assert.Equal(i, NumberOf(ids[i])));
        Assert.Equal(-1, NumberOf(ids[500] with { High = ids[500].High + 1 }));
        // Times end, numbers don't.
        ObjectId[] late = [.. Values("{^objectId: {start: 2106-01-01, step: 1d}}").Select(value => value.ToObjectId())];
        Assert.Equal(late.Order(), late);
        Assert.Equal(Documents, late.Distinct().Count());

        long NumberOf(ObjectId id) =>
            collection.Documents.Ids.NumberOf(BsonType.ObjectId, BsonDocument.Of(("v", id)).First().Value.Bytes.Span);
    }

    [Fact]
    public void Random_ObjectIds_differ_within_an_array_and_have_times_in_their_range()
    {
        ObjectId[] ids = [.. Values("{^array: {length: 5, of: {^objectId: {from: 2024-01-01, to: 2024-02-01}}}}")
            .SelectMany(value => value.ToDocument()).Select(one => one.Value.ToObjectId())];
        Assert.Equal(5 * Documents, ids.Distinct().Count());
        Assert.All(ids, id => Assert.InRange(id.High, SecondsOf("2024-01-01"), SecondsOf("2024-02-01")));
        Assert.InRange(ids.Average(id => (double)id.High), SecondsOf("2024-01-15"), SecondsOf("2024-01-18"));
    }

    [Theory]
    [InlineData("{start: 1969-01-01}", "the times of ObjectIds are from 1970 to 2106")]
    [InlineData("{from: 2024-01-01, step: 1s}", "'from' and 'to' draw times")]
    [InlineData("{from: 2024-01-01}", "'to' is missing")]
    [InlineData("{to: 2024-01-01}", "'from' is missing")]
    [InlineData("{step: 1s}", "'start' is missing")]
    [InlineData("{from: 2024-01-02, to: 2024-01-01}", "'from' is later than 'to'")]
    public void Wrong_times_of_ObjectIds_get_one_line(string keys, string expected) => Assert.Contains(expected, ScenarioTexts.Refusal(
        $"data: {{c: {{count: 9, document: {{v: {{^objectId: {keys}}}}}}}}}\nphases: [{{load: c}}]").Message, StringComparison.Ordinal);

    [Fact]
    public void Doubles_are_rounded_to_their_places()
    {
        double[] found = [.. Values("{^double: {min: -1.5, max: 2.5, decimals: 2}}").Select(value => value.ToDouble())];
        Assert.All(found, number => Assert.Equal(Math.Round(number, 2), number));
        Assert.InRange(found.Distinct().Count(), 350, 401);
        Assert.InRange(found.Average(), 0.35, 0.65);
    }

    [Fact]
    public void Dates_with_jitter_are_later_by_less_than_it()
    {
        long[] late = [.. Values("{^date: {start: 2024-01-01, step: 1s, every: 4, jitter: 200ms}}").Index()
            .Select(one => one.Item.ToInt64() - (SecondsOf("2024-01-01") * 1000L) - (one.Index / 4 * 1000))];
        Assert.All(late, milliseconds => Assert.InRange(milliseconds, 0, 199));
        Assert.True(late.Distinct().Count() > 190);
    }

    [Fact]
    public void Choices_of_one_draw_belong_together_and_those_by_another_value_follow_it()
    {
        DocumentTemplate documents = Collection("{kind: {^choice: {of: [car, bike, boat], weights: [5, 3, 2], draw: what}}, "
            + "wheels: {^choice: {of: [4, 2, 0], weights: [5, 3, 2], draw: what}}, other: {^choice: {of: [4, 2, 0], weights: [5, 3, 2]}}, "
            + "n: {^int: [1, 3]}, next: {^choice: {by: {^number: {start: 1, cycle: 4}}, of: {1: one, 2: [two], 3: ^uuid}}}}").Documents;
        BsonDocument[] made = [.. Enumerable.Range(0, Documents).Select(i => documents.Make(i))];
        Assert.All(made, one => Assert.Equal(one.FindString("kind") switch { "car" => 4, "bike" => 2, _ => 0 }, one.FindInt64("wheels")));
        Assert.Contains(made, one => one.FindInt64("other") != one.FindInt64("wheels"));
        Assert.All(made.Index(), one => Assert.Equal((BsonType[])[BsonType.String, BsonType.Array, BsonType.Binary, BsonType.Int64]
            is var types ? types[one.Index % 4] : default, one.Item.Find("next")!.Value.Type));
        Assert.Equal("one", made[4].FindString("next"));
        Assert.Equal(4, made[3].FindInt64("next"));
    }

    [Theory]
    [InlineData("{of: [a, b], by: 1}", "with by, of is a mapping")]
    [InlineData("{of: {a: b}, by: 1, draw: x}", "by and draw are both given")]
    [InlineData("{of: [a, b], turns: [1, 2], draw: x}", "draw and turns are both given")]
    public void Wrong_choices_get_one_line(string keys, string expected) => Assert.Contains(expected, ScenarioTexts.Refusal(
        $"data: {{c: {{count: 9, document: {{v: {{^choice: {keys}}}}}}}}}\nphases: [{{load: c}}]").Message, StringComparison.Ordinal);

    private static uint SecondsOf(string day) =>
        (uint)DateTimeOffset.Parse(day + "T00:00:00Z", System.Globalization.CultureInfo.InvariantCulture).ToUnixTimeSeconds();

    [Fact]
    public void Places_lie_in_clusters_within_their_rectangle()
    {
        BsonDocument[] points = [.. Values("{^point: {clusters: 3, spread: 1km, within: [5, 45, 10, 48]}}").Select(v => v.ToDocument())];
        Assert.All(points, point => Assert.Equal("Point", point.FindString("type")));
        (double Longitude, double Latitude)[] places = [.. points.Select(p => PositionOf(p.Find("coordinates")!.Value.ToDocument()))];
        Assert.All(places, place => Assert.True(place is { Longitude: > 4.9 and < 10.1, Latitude: > 44.9 and < 48.1 }));
        // Of three clusters the first has 6/11 of all; squares of a tenth of a degree part them.
        int[] sizes = [.. places.GroupBy(p => ((int)(p.Longitude * 5), (int)(p.Latitude * 5))).Select(g => g.Count()).OrderDescending()];
        Assert.True(sizes[0] > Documents / 4, $"the largest square has {sizes[0]}");
    }

    [Fact]
    public void Polygons_are_closed_and_run_counterclockwise()
    {
        foreach (BsonValue value in Values("{^polygon: {corners: 5, radius: 2km}}").Take(200))
        {
            BsonDocument ring = value.ToDocument().Find("coordinates")!.Value.ToDocument().First().Value.ToDocument();
            (double X, double Y)[] corners = [.. ring.Select(corner => PositionOf(corner.Value.ToDocument()))];
            Assert.Equal(6, corners.Length);
            Assert.Equal(corners[0], corners[^1]);
            Assert.True(corners.Zip(corners.Skip(1)).Sum(edge => (edge.First.X * edge.Second.Y) - (edge.Second.X * edge.First.Y)) > 0);
        }
    }

    [Fact]
    public void Uuids_of_version_7_increase_and_say_what_they_are()
    {
        string[] texts = [.. Values("{^uuid: {version: 7, start: 2024-01-01, step: 1s}}")
            .Select(value => Convert.ToHexString(value.Bytes.Span[5..]))];
        Assert.Equal(texts.Order(StringComparer.Ordinal), texts);
        Assert.All(texts, text => Assert.True(text[12] == '7' && text[16] is '8' or '9' or 'A' or 'B'));
        Assert.StartsWith(
            $"{DateTimeOffset.Parse("2024-01-01T00:00:01Z").ToUnixTimeMilliseconds():X12}", texts[1], StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("cycle: 7")]
    [InlineData("every: 10")]
    [InlineData("every: [3, 9]")]
    [InlineData("every: 4, cycle: 5")]
    public void Sequence_counts_the_documents_of_each_value(string number)
    {
        DocumentTemplate documents =
            Collection($"{{customer: {{^number: {{{number}}}}}, order: {{^sequence: {{per: customer}}}}}}").Documents;
        var counts = new Dictionary<long, long>();
        for (int i = 0; i < 500; i++)
        {
            BsonDocument document = documents.Make(i);
            long customer = document.FindInt64("customer")!.Value;
            Assert.Equal(counts[customer] = counts.GetValueOrDefault(customer) + 1, document.FindInt64("order"));
        }
    }

    [Fact]
    public void References_are_skewed_and_meet_documents_that_are_there()
    {
        PlanCollection[] read = [.. ScenarioTexts.Plan("""
            data:
              customers: {count: 100, document: {_id: {^numbered: {prefix: c}}, n: ^number}}
              orders: {count: 2000, document: {by: {^reference: {to: customers, key: zipfian}}, n: {^reference: {to: customers, field: n}}}}
            phases: [{load: customers}, {load: orders}]
            """).Collections];
        BsonDocument[] orders = [.. Enumerable.Range(0, Documents).Select(i => read[1].Documents.Make(i))];
        HashSet<string> ids = [.. Enumerable.Range(0, 100).Select(i => read[0].Documents.Make(i).FindString("_id")!)];
        Assert.All(orders, order => Assert.Contains(order.FindString("by")!, ids));
        Assert.All(orders, order => Assert.InRange(order.FindInt64("n")!.Value, 0, 99));
        int most = orders.GroupBy(order => order.FindString("by")).Max(g => g.Count());
        Assert.True(most > Documents / 30, $"the most popular has {most}");
        Assert.True(orders.GroupBy(order => order.FindInt64("n")).Max(g => g.Count()) < Documents / 40);
    }

    [Theory]
    [InlineData("{v: {^reference: people}}", "'people' is not a collection described before this one in data")]
    [InlineData("{v: {^reference: {to: c}}}", "'c' is not a collection described before this one in data")]
    [InlineData("{v: {^sequence: {per: n}}}", "no field 'n' stands beside it")]
    [InlineData("{n: ^number, v: {^sequence: {per: n}}}", "'n' is not a ^number with cycle or every")]
    [InlineData("{v: [{^sequence: {per: n}}]}", "it counts the equal values of a field beside it, so it must be a field itself")]
    [InlineData("{v: {^decimal: [2, 1]}}", "2 to 1: the least value comes first")]
    [InlineData("{v: {^decimal: [a, 1]}}", "expected two numbers of at most 18 digits")]
    [InlineData("{v: {^uuid: 5}}", "version is '5'; allowed: 4, 7")]
    [InlineData("{v: {^point: {within: [1, 2, 3]}}}", "within must be a list of 4 numbers")]
    [InlineData("{v: {^point: {within: [9, 2, 3, 4]}}}", "expected [west, south, east, north] in degrees")]
    [InlineData("{v: {^point: {spread: 5}}}", "spread is '5'; expected a distance of up to 1000km")]
    [InlineData("{v: {^name: nick}}", "part is 'nick'; allowed: full, first, last")]
    [InlineData("{v: {^address: planet}}", "part is 'planet'; allowed: all, street, city, zip, country")]
    public void Wrong_use_gets_one_line(string document, string expected) => Assert.Contains(
        expected, ScenarioTexts.Refusal($"data: {{c: {{count: 9, document: {document}}}}}\nphases: [{{load: c}}]").Message,
        StringComparison.Ordinal);

    [Fact]
    public void Making_documents_allocates_nothing()
    {
        DocumentTemplate documents = ScenarioTexts.Plan("""
            data:
              a: {count: 100, document: {n: ^number}}
              c:
                count: 9
                document:
                  d: {^decimal: [0.01, 5]}
                  u: {^uuid: 7}
                  p: {^pattern: "[a-z]{2,9}(x|yy)"}
                  g: ^point
                  o: ^polygon
                  name: ^name
                  address: ^address
                  r: {^reference: {to: a, key: zipfian}}
            phases: [{load: a}, {load: c}]
            """).Collections.Last().Documents;
        var writer = new BsonWriter(1 << 16);
        Make();
        long before = GC.GetAllocatedBytesForCurrentThread();
        Make();
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);

        void Make()
        {
            for (int number = 0; number < 500; number++)
            {
                writer.Clear();
                documents.Write(writer, number);
            }
        }
    }

    [Fact]
    public void Batches_of_long_documents_fit_into_a_message()
    {
        var load = (InsertDocuments)ScenarioTexts.Plan(
            "data: {c: {count: 9, document: {b: {^binary: [10, 16000000]}}}}\nphases: [{load: c}]")
            .Phases.Single().Groups[0].Operations[0].Operation;
        Assert.InRange(load.BatchSize, 1, 2);
    }

    private static PlanCollection Collection(string document) =>
        ScenarioTexts.Plan($"data: {{c: {{count: 9, document: {document}}}}}\nphases: [{{load: c}}]").Collections.Single();

    [Fact]
    public void Distinct_values_are_so_many_and_some_come_more_often()
    {
        const string Generator = "{^distinct: {values: 50, of: {^string: [5, 9]}, key: {zipfian: {theta: 0.9, scrambled: false}}}}";
        string[] found = [.. Values(Generator).Select(value => value.ToString())];
        int[] counts = [.. found.CountBy(text => text).Select(one => one.Value).OrderDescending()];
        Assert.InRange(counts.Length, 45, 50);
        Assert.InRange(counts[0], Documents / 6, Documents / 4);
    }

    [Fact]
    public void Distinct_values_are_the_same_under_every_name()
    {
        const string Generator = "{^distinct: {values: 7, of: ^uuid}}";
        DocumentTemplate documents = Collection($"{{a: {Generator}, b: {{c: {Generator}}}}}").Documents;
        BsonDocument[] made = [.. Enumerable.Range(0, 200).Select(i => documents.Make(i))];
        string[] one = Of("a");
        Assert.Equal(7, one.Length);
        Assert.Equal(one, Of("b.c"));
        Assert.Contains(made, document => Text(document, "a") != Text(document, "b.c"));

        string[] Of(string path) => [.. made.Select(document => Text(document, path)).Distinct().Order(StringComparer.Ordinal)];

        static string Text(BsonDocument document, string path) => Convert.ToHexString(document.Find(path)!.Value.Bytes.Span);
    }

    [Fact]
    public void Optional_field_is_in_its_share_of_the_documents()
    {
        DocumentTemplate documents = Collection(
            "{a: {^optional: {share: 0.3, of: {^int: [1, 9]}}}, b: {c: {^optional: {share: 1, of: x}}}}")
            .Documents;
        BsonDocument[] made = [.. Enumerable.Range(0, Documents).Select(i => documents.Make(i))];
        Assert.InRange(made.Count(document => document.Find("a") is not null), Documents * 26 / 100, Documents * 34 / 100);
        Assert.All(made, document => Assert.Equal("x", document.FindString("b.c")));
        Assert.Null(documents.Find("a"));
    }

    [Fact]
    public void Optional_field_is_asked_for_as_the_nearest_document_before_has_it()
    {
        const string Text = """
            data:
              c: {count: 9, document: {a: {^optional: {share: 0.3, of: ^uuid}}, b: {^optional: {share: 0.5, of: {d: {^array: {length: 2, of:
                {^long: [0, 1000000000000]}}}}}}}}
              other: {count: 9, document: {ref: {^reference: {to: c, field: a}}}}
            phases:
              - {count: 9, operations: [{find: c, filter: {a: {^field: a}, b.d: {^field: b.d.1}}}]}
            """;
        Plan plan = ScenarioTexts.Plan(Text);
        DocumentTemplate documents = plan.Collections.First().Documents;
        DocumentTemplate others = plan.Collections.Last().Documents;
        BsonDocument[] made = [.. Enumerable.Range(0, Documents).Select(i => documents.Make(i))];
        DocumentValue filter = ((FindDocuments)plan.Phases.Last().Groups[0].Operations[0].Operation).Filter;
        for (int i = 0; i < Documents; i++)
        {
            BsonDocument asked = filter.ToDocument(new ValueContext(i, 7));
            Assert.Equal(Nearest("a", i), Hex(asked.Find("a")));
            Assert.Equal(Nearest("b.d.1", i), Hex(asked.First(one => one.Key == "b.d").Value));
            Assert.Contains(Hex(others.Make(i).Find("ref")), made.Select(one => Hex(one.Find("a"))));
        }

        string Nearest(string path, int from) => Hex(Enumerable.Range(0, from + 1).Select(i => made[from - i]).Concat(made[from..])
            .First(one => one.Find(path) is not null).Find(path));

        static string Hex(BsonValue? value) => value is { } there ? Convert.ToHexString(there.Bytes.Span) : "";
    }

    [Theory]
    [InlineData("^field: a", "the collection's documents have no field 'a', or too few of them do")]
    [InlineData("^reference: {to: c, field: a}", "the documents of 'c' have no field 'a', or too few of them do")]
    public void A_field_that_hardly_a_document_has_can_not_be_asked_for(string value, string expected) => Assert.Contains(expected,
        RefusalOf(value).Message, StringComparison.Ordinal);

    [Fact]
    public void A_field_that_is_too_rare_is_not_taken_for_an_array() =>
        Assert.Equal("at least one of 1,000 documents must have it", RefusalOf("^field: a").Hint);

    private static (string Message, string Hint) RefusalOf(string value) => ScenarioTexts.Refusal(
        "data: {c: {count: 9, document: {a: {^optional: {share: 0.0005, of: 1}}}}}\n"
            + $"phases: [{{count: 9, operations: [{{find: c, filter: {{a: {{{value}}}}}}}]}}]");

    [Theory]
    [InlineData("{_id: {^optional: {share: 0.3, of: ^number}}}", "every document has an _id")]
    [InlineData("{v: {^optional: {of: ^number}}}", "'share' is missing")]
    [InlineData("{v: [{^optional: {share: 0.3, of: ^number}}]}", "it must be the value of one")]
    [InlineData("{v: {^distinct: {of: ^number}}}", "'values' is missing")]
    [InlineData("{v: {^distinct: {values: 3, of: ^number, key: sequential}}}", "key is sequential")]
    public void Distinct_and_optional_say_what_is_wrong(string document, string expected) => Assert.Contains(
        expected, ScenarioTexts.Refusal($"data: {{c: {{count: 9, document: {document}}}}}\nphases: [{{load: c}}]").Message,
        StringComparison.Ordinal);

    private static IEnumerable<BsonValue> Values(string generator)
    {
        DocumentTemplate documents = Collection($"{{v: {generator}}}").Documents;
        return Enumerable.Range(0, Documents).Select(i => documents.Make(i).Find("v")!.Value);
    }

    private static (double Longitude, double Latitude) PositionOf(BsonDocument position) =>
        (position.First().Value.ToDouble(), position.Last().Value.ToDouble());
}
