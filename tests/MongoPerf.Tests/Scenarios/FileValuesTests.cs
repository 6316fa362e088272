using MongoPerf.Load.Documents;
using MongoPerf.Load.Documents.Rows;
using MongoPerf.Load.Plans;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Tests.Scenarios;

/// <summary><c>^file</c>: documents and values from CSV and JSON-lines files.</summary>
public sealed class FileValuesTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("mongoperf-rows-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public void Document_is_the_line_with_its_extended_types()
    {
        Write("a.jsonl", Json("{'d': {'$numberDecimal': '-12.50'}, 'when': {'$date': '2024-01-01T10:00:00.5Z'}, 'n': 3000000000}\n\n"
            + "{'u': {'$uuid': '00112233-4455-6677-8899-aabbccddeeff'}, 'r': {'$regularExpression': {'pattern': '^a', 'options': 'i'}}, "
            + "'t': '\\u00e4\\'x', 'a': [1, 2.5, {'b': null}], 'when': {'$date': {'$numberLong': '7'}}}"));
        PlanCollection collection = Collection("document: {_id: {^number: {type: int}}, ^file: a.jsonl}");
        Assert.Equal(2, collection.Count);
        Assert.Equal(
            Json("{'_id': 0, 'd': {'$numberDecimal': '-12.50'}, 'when': {'$date': '2024-01-01T10:00:00.500Z'}, 'n': 3000000000}"),
            Shown(collection, 0));
        Assert.Equal(
            Json("{'_id': 1, 'u': {'$binary': {'base64': 'ABEiM0RVZneImaq7zN3u/w==', 'subType': '04'}}, "
                + "'r': {'$regularExpression': {'pattern': '^a', 'options': 'i'}}, 't': 'ä\\'x', "
                + "'a': [1, 2.5, {'b': null}], 'when': {'$date': '1970-01-01T00:00:00.007Z'}}"),
            Shown(collection, 1));
    }

    [Fact]
    public void Cells_are_what_they_are_written_as_unless_types_says_otherwise()
    {
        Write("a.csv", Json("s,q,n,big,d,b,zip,empty,when,price\r\nx,'1, ''2''\n3',-7,3000000000,1.5,true,01234,,2024-02-03,19.90\r\n"));
        Assert.Equal(
            Json("{'_id': 0, 's': 'x', 'q': '1, \\'2\\'\\n3', 'n': -7, 'big': 3000000000, 'd': 1.5, 'b': true, 'zip': '01234', "
                + "'empty': null, 'when': {'$date': '2024-02-03T00:00:00Z'}, 'price': {'$numberDecimal': '19.90'}}"),
            Shown(Collection("document: {^file: {path: a.csv, types: {when: date, price: decimal}}, _id: {^number: {type: int}}}"), 0));
    }

    [Fact]
    public void Fields_beside_a_row_take_the_place_of_its_own()
    {
        Write("a.csv", "_id,name,city\n7,x,y\n");
        Assert.Equal("""{"_id": 7, "name": "x", "city": "z", "more": 1}""",
            Shown(Collection("document: {^file: a.csv, city: z, more: 1}"), 0));
    }

    [Fact]
    public void Rows_come_in_order_and_begin_again_after_the_last()
    {
        Write("a.csv", "n\n" + string.Concat(Enumerable.Range(0, 5000).Select(i => $"{i}\n")));
        DocumentTemplate documents = Collection("count: 12k\n    document: {n: {^file: {path: a.csv, field: n}}}").Documents;
        // Also backwards and far apart: each row is found by its number.
        Assert.All(Enumerable.Range(0, 12_000).Concat(Enumerable.Range(0, 300).Select(i => 11_999 - (i * 37))), number =>
            Assert.Equal(number % 5000, documents.Make(number).FindInt64("n")));
    }

    [Fact]
    public void Values_of_one_document_come_from_one_row()
    {
        Write("a.csv", "a,b\n1,1\n2,2\n3,3\n4,4\n");
        DocumentTemplate documents = Collection("""
            count: 100
                document: {a: {^file: {path: a.csv, field: a, pick: random}}, b: {^file: {path: a.csv, field: b, pick: random}}}
            """).Documents;
        BsonDocument[] made = [.. Enumerable.Range(0, 100).Select(i => documents.Make(i))];
        Assert.All(made, document => Assert.Equal(document.FindInt64("a"), document.FindInt64("b")));
        Assert.Equal(4, made.Select(document => document.FindInt64("a")).Distinct().Count());
    }

    [Fact]
    public void Weights_decide_how_often_a_row_comes()
    {
        Write("a.csv", "n,w\n0,0\n1,3\n2,1\n3,0\n");
        DocumentTemplate documents = Collection("count: 4000\n    document: {n: {^file: {path: a.csv, field: n, weight: w}}}").Documents;
        int[] counts = new int[4];
        for (int i = 0; i < 4000; i++)
            counts[(int)documents.Make(i).FindInt64("n")!]++;
        Assert.Equal((0, 0), (counts[0], counts[3]));
        Assert.InRange(counts[1], 2850, 3150);
    }

    [Fact]
    public void Fields_that_every_row_has_can_be_asked_for()
    {
        Write("a.jsonl", """
            {"place": {"city": "x"}, "stars": 1}
            {"place": {"city": "y"}}
            """);
        const string Text = "data:\n  c: {{document: {{^file: a.jsonl}}}}\nphases:\n"
            + "  - {{count: 9, operations: [{{find: c, filter: {{{0}: {{^field: {0}}}}}}}]}}";
        var find = (FindDocuments)Read(string.Format(Text, "place.city")).Plan.Phases.Last().Groups[0].Operations[0].Operation;
        Assert.Equal("y", find.Filter.ToDocument(new ValueContext(1, 0)).First().Value.ToString());
        Assert.Contains("have no field 'stars', or too few of them do", Refusal(string.Format(Text, "stars")).Message,
            StringComparison.Ordinal);
        Assert.Contains("did you mean 'place.city'?", string.Concat(Read("""
            data:
              c: {document: {^file: a.jsonl}}
            phases:
              - {count: 9, operations: [{find: c, filter: {place.cit: x}}]}
            """).Warnings), StringComparison.Ordinal);
    }

    [Fact]
    public void Replacement_keeps_the_stored_shard_key_of_a_row()
    {
        Write("a.csv", "city,name\nx,y\n");
        ReadPlan plan = ShardedWrites.Of(Read("""
            data:
              c: {count: 10, document: {^file: {path: a.csv, pick: random}}, shardKey: {city: 1}}
            phases:
              - {count: 9, operations: [{replace: c, key: uniform}]}
            """), null);
        var replace = (UpdateDocuments)plan.Plan.Phases.Last().Groups[0].Operations[0].Operation;
        Assert.Equal("""{"name": "y", "city": "x"}""", ExtendedJson.Write(
            DocumentValue.Of(("u", replace.Update)).ToDocument(new ValueContext(1, 0)).FindDocument("u")!.Bytes));
    }

    [Fact]
    public void Another_file_makes_another_fingerprint()
    {
        Write("a.csv", "n\n1\n2\n3\n4\n5\n6\n");
        string before = Collection("document: {^file: a.csv}").Documents.Fingerprint;
        // Of another length, so that it is not taken for the same; the documents that a fingerprint looks at stay.
        Write("a.csv", "n\n1\n2\n3\n44\n5\n6\n");
        Assert.NotEqual(before, Collection("document: {^file: a.csv}").Documents.Fingerprint);
    }

    [Fact]
    public void Making_documents_allocates_nothing()
    {
        Write("a.csv", "name,city,price,when\n"
            + string.Concat(Enumerable.Range(0, 3000).Select(i => $"n{i},\"c \"\"{i}\"\"\",{i}.5,2024-01-01\n")));
        Write("b.jsonl", Json(string.Concat(Enumerable.Range(0, 3000).Select(i => $"{{'_id': {{'$oid': '{i:x24}'}}, "
            + $"'d': {{'$numberDecimal': '{i}.25'}}, 'a': [1, {{'b': '\\u00e4'}}], 'w': {{'$date': '2024-01-01T00:00:00Z'}}}}\n"))));
        DocumentTemplate[] all =
        [
            Collection("document: {^file: {path: a.csv, types: {price: decimal, when: date}}}").Documents,
            Collection("document: {^file: b.jsonl}").Documents,
            Collection("count: 9\n    document: {n: {^file: {path: a.csv, pick: random, field: name}}}").Documents,
        ];
        var writer = new BsonWriter(1 << 20);
        Make();
        long before = GC.GetAllocatedBytesForCurrentThread();
        Make();
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);

        void Make()
        {
            foreach (DocumentTemplate documents in all)
            {
                for (int number = 0; number < 2000; number++)
                {
                    writer.Clear();
                    documents.Write(writer, number);
                }
            }
        }
    }

    [Theory]
    [InlineData("short.csv", "a,b\n1,2\n3\n", "short.csv, line 3: 1 cell; the first line names 2 columns")]
    [InlineData("quote.csv", "a,b\n1,\"x\n3,4\n", "quote.csv, line 2: the quote that begins here never ends")]
    [InlineData("after.csv", "a\n\"x\"y\n", "after.csv, line 2: 'y' follows a closing quote; a quote within quotes is written twice")]
    [InlineData("twice.csv", "a,a\n1,2\n", "twice.csv: two columns are called 'a'")]
    [InlineData("head.csv", "a,b\n", "head.csv has no rows")]
    [InlineData("dot.csv", "a.b\n1\n", "dot.csv: 'a.b' can't name a column")]
    [InlineData("broken.jsonl", "{\"a\": 1}\n{\"a\": \n", "broken.jsonl, line 2: not JSON, at byte 7")]
    [InlineData("two.jsonl", "{\"a\": 1} {\"a\": 2}\n", "two.jsonl, line 1: not JSON")]
    [InlineData("array.json", "[{\"a\": 1}]", "array.json is one JSON array; expected one document on each line")]
    [InlineData("number.jsonl", "7\n", "number.jsonl, line 1: not a JSON document; expected {…} on each line")]
    [InlineData("oid.jsonl", "{\"a\": {\"$oid\": \"z\"}}\n", "oid.jsonl, line 1: a: Extended JSON, 'v': $oid is 'z'")]
    [InlineData("date.jsonl", "{\"a\": {\"$date\": {}}}\n", "date.jsonl, line 1: a: Extended JSON, 'v'")]
    [InlineData("binary.jsonl", "{\"a\": {\"$binary\": {\"base64\": \"AA==\"}}}\n", "binary.jsonl, line 1: a: Extended JSON, 'v'")]
    [InlineData("half.jsonl", "{\"a\": \"\\ud800\"}\n", "half.jsonl, line 1: a string holds half of a surrogate pair")]
    [InlineData("key.jsonl", "{\"\\ud800\": 1}\n", "key.jsonl, line 1: a string holds half of a surrogate pair")]
    [InlineData("\"a\\0.csv\"", null, "the file's name contains a zero character")]
    [InlineData("zero.jsonl", "{\"a\\u0000\": 1}\n", "zero.jsonl, line 1: a field's name contains a zero character")]
    [InlineData("some.jsonl", "{\"_id\": 1}\n{\"a\": 1}\n", "some rows of some.jsonl have an _id, and others have none")]
    [InlineData("empty.csv", "", "empty.csv is empty, or not a regular file")]
    [InlineData("a.txt", "x", "a.txt: unknown file extension; allowed: .csv, .tsv, .jsonl, .ndjson, .json")]
    [InlineData("../a.csv", null, "../a.csv is outside the scenario's folder; --files DIR names another")]
    [InlineData("/etc/passwd.csv", null, "/etc/passwd.csv is outside the scenario's folder; --files DIR names another")]
    [InlineData("missing.csv", null, "missing.csv: no such file")]
    public void File_that_cannot_be_used_gets_one_line(string name, string? text, string expected)
    {
        if (text is not null)
            Write(name, text);
        Assert.Contains($"test.yaml:2: ^file: {expected}",
            Refusal($"data:\n  c: {{document: {{^file: {name}}}}}\nphases: [{{load: c}}]").Message, StringComparison.Ordinal);
    }

    /// <summary>Found by a review: some changes ended in an error of the program's own.</summary>
    [Theory]
    [InlineData("a.csv", "n,w\n", "12345,1\n", "''1''2,4\n", "{^file: {path: a.csv, weight: w}}")]
    [InlineData("a.jsonl", "", "{'n': 1, 'w': 1}\n", "{'\\ud800': 1, }\n", "{n: {^file: {path: a.jsonl, field: n}}}")]
    [InlineData("a.jsonl", "", "{'n': 1, 'w': 1}\n", "[[[[[[[[[[[[[[[\n", "{^file: {path: a.jsonl, weight: w}}")]
    public void File_that_changes_during_a_run_is_named(string name, string head, string row, string changed, string document)
    {
        const int Rows = 50_000;
        Write(name, Json(head + string.Concat(Enumerable.Repeat(row, Rows))));
        DocumentTemplate documents = Collection($"count: {Rows}\n    document: {document}").Documents;
        Write(name, Json(head + string.Concat(Enumerable.Repeat(changed, Rows * 2))));
        Assert.Equal($"{name} has changed since it was opened",
            Assert.Throws<MongoPerfException>(() =>
            {
                for (int i = 0; i < 100; i++)
                    documents.Make(i * 499);
            }).Message);
    }

    [Fact]
    public void Binary_data_are_no_rows()
    {
        File.WriteAllBytes(Path.Combine(_folder, "a.jsonl"), [0x7B, 0x80, 0xFF, 0x00, 0x0A]);
        File.WriteAllBytes(Path.Combine(_folder, "a.csv"), [0xFF, 0xFE, 0x61, 0x00, 0x0A, 0x00]);
        Assert.Contains("a.jsonl, line 1: not text in UTF-8", Refusal(Of("a.jsonl")).Message, StringComparison.Ordinal);
        Assert.Contains("a.csv is in UTF-16; save it as UTF-8", Refusal(Of("a.csv")).Message, StringComparison.Ordinal);

        static string Of(string name) => $"data:\n  c: {{document: {{^file: {name}}}}}\nphases: [{{load: c}}]";
    }

    [Fact]
    public void Link_is_not_followed()
    {
        Write("a.csv", "n\n1\n");
        File.CreateSymbolicLink(Path.Combine(_folder, "b.csv"), Path.Combine(_folder, "a.csv"));
        Assert.Contains("b.csv goes through a symbolic link, which is not followed",
            Refusal("data:\n  c: {document: {^file: b.csv}}\nphases: [{load: c}]").Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("document: {^file: {path: a.csv, pick: random}}", "_id comes from random rows of a.csv, so some would come twice")]
    [InlineData("count: 3\n    document: {^file: a.csv}", "3 documents, but a.csv has 2 rows, and each _id can be there only once")]
    [InlineData("document: {a: {^file: {path: a.csv, field: b}}}", "no row of a.csv has a field 'b'")]
    [InlineData("document: {^file: {path: a.csv, field: n}}", "with field it is a single value, not a document's fields")]
    [InlineData("document: {^file: {path: a.csv, types: {m: int}}}", "types names a column 'm'; it has _id, n")]
    [InlineData("document: {^file: {path: a.csv, types: {n: date}}}", "a.csv, line 2: n is '5'; expected a date such as 2011-03-13")]
    [InlineData("document: {a: {^file: {path: a.csv, weight: m}}}", "a.csv, line 2: m is not a number of 0 or more, as a weight must be")]
    [InlineData("document: {a: {^file: {path: a.csv, weight: n, pick: random}}}", "pick and weight are both given")]
    public void Wrong_use_of_a_file_gets_one_line(string collection, string expected)
    {
        Write("a.csv", "_id,n\n1,5\n2,6\n");
        Assert.Contains(expected, Refusal($"data:\n  c:\n    {collection}\nphases: [{{load: c}}]").Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("{aggregate: c, pipeline: [{^file: stages.jsonl}]}")]
    [InlineData("{aggregate: c, pipeline: [{$match: {}}, {^choice: [{$limit: 1}, {^file: {path: stages.jsonl, field: stage}}]}]}")]
    [InlineData("{aggregate: c, pipeline: [{^field: row}]}")]
    [InlineData("{aggregate: c, pipeline: [{$out: {coll: log, ^file: stages.jsonl}}]}")]
    [InlineData("{aggregate: c, pipeline: [{$merge: {into: {coll: log, ^file: stages.jsonl}}}]}")]
    [InlineData("{runCommand: {aggregate: c, pipeline: {^file: {path: stages.jsonl, field: pipeline}}, cursor: {}}}")]
    [InlineData("{runCommand: {aggregate: c, cursor: {}, ^file: stages.jsonl}}")]
    [InlineData("{runCommand: {explain: {aggregate: c, cursor: {}, ^file: stages.jsonl}}}")]
    public void A_row_decides_nothing_about_where_an_operation_writes(string operation)
    {
        Write("stages.jsonl", Json("{'stage': {'$out': 'audit'}, 'pipeline': [{'$out': 'audit'}]}\n{'db': 'shop'}\n"));
        ReadPlan read = Read("mayWrite: [server, mongoperf.*, shop.*]\ndata:\n  c: {count: 1, document: {row: {^file: stages.jsonl}}}\n"
            + $"  log: {{}}\nphases: [{{name: p, count: 1, operations: [{operation}]}}]\n");
        var refused = Assert.Throws<UserException>(() => WritePermission.RequireListed(read, "mongoperf"));
        Assert.Equal(ExitCode.Refused, refused.Code);
        Assert.Contains("can't be checked before the run", refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("aggregate: c, pipeline: [{^file: stages.jsonl}]")]
    [InlineData("aggregate: c, pipeline: [{^existing: c.stage}]")]
    [InlineData("runCommand: {aggregate: c, cursor: {}, ^file: stages.jsonl}")]
    public void No_stage_that_only_the_run_knows_reads_existing_data(string operation)
    {
        Write("stages.jsonl", Json("{'stage': {'$out': 'audit'}}\n"));
        Assert.Contains("but 'c' is existing data, which is only read",
            Refusal($"data: {{c: {{existing: true}}}}\nphases: [{{operations: [{{{operation}}}]}}]\n").Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Stored_scenario_opens_files_only_where_its_user_says_so()
    {
        Write("a.csv", "n\n1\n");
        UserException refused = Assert.ThrowsAny<UserException>(() => PlanReader.Read(
            new ScenarioFile("test", Path.Combine(_folder, "test.yaml"), "data:\n  c: {document: {^file: a.csv}}\nphases: [{load: c}]"),
            new PlanOverrides(), 42));
        Assert.Contains("only in a folder that you name", refused.Message, StringComparison.Ordinal);
        Assert.Equal("name the folder that holds it: --files DIR", refused.Hint);
    }

    private static string Json(string text) => text.Replace('\'', '"');

    private static string Shown(PlanCollection collection, long number) =>
        ExtendedJson.Write(collection.Documents.Make(number).Bytes);

    private void Write(string name, string text) => File.WriteAllText(Path.Combine(_folder, name), text);

    private PlanCollection Collection(string text) => Read($"data:\n  c:\n    {text}\nphases: [{{load: c}}]").Plan.Collections.Single();

    private ReadPlan Read(string text) =>
        PlanReader.Read(new ScenarioFile("test", "test.yaml", text) { Data = new FilesFolder(_folder) }, new PlanOverrides(), 42);

    private UserException Refusal(string text) => Assert.ThrowsAny<UserException>(() => Read(text));
}
