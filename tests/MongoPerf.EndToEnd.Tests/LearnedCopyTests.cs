using System.Text.RegularExpressions;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>An application is recorded and learned, and the learned file finds, changes and leaves what the application did.</summary>
[Collection(LightTests.Name)]
public sealed partial class LearnedCopyTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void Deletes_that_never_match_delete_nothing_from_the_copy()
    {
        Copied copy = Copy(
            db => Documents.Insert(db.Connection, db.Name, "jobs", [.. Enumerable.Range(0, 3000).Select(i => BsonDocument.Of(
                ("_id", i), ("s", i % 3 == 0 ? "fertig" : "laufend"), ("st", $"zustand{i % 7}"), ("v", i))) ]),
            (db, i) =>
            {
                Assert.Equal(0, db.Delete("jobs", "{s: 'verschwunden'}"));
                Assert.Equal(0, db.Delete("jobs", $"{{st: 'keiner', v: {{$lt: {i * 37 % 3000}}}}}"));
            });
        Assert.DoesNotMatch("fertig|laufend|verschwunden|zustand|keiner", copy.Text);
        Assert.Equal(3000, copy.Count("jobs", "{}"));
        Assert.All(copy.Operations, one => Assert.Equal(0, one.Documents));
    }

    /// <summary>A queue of which one in a hundred is open, with a partial index on these.</summary>
    [Fact]
    public void A_rare_value_is_the_same_in_documents_filters_updates_and_partial_indexes()
    {
        Copied copy = Copy(
            db =>
            {
                Documents.Insert(db.Connection, db.Name, "queue", [.. Enumerable.Range(0, 10_000).Select(i => BsonDocument.Of(
                    ("_id", i), ("status", i % 100 == 0 ? "offen" : "erledigt"), ("due", new DateTime(2026, 1, 1, 0, 0, 0,
                        DateTimeKind.Utc).AddMinutes(i)), ("tries", 0))) ]);
                db.Connection.RunCommand(db.Name, ExtendedJson.Parse("""
                    {"createIndexes": "queue", "indexes": [
                        {"key": {"due": 1}, "name": "due_1", "partialFilterExpression": {"status": "offen"}}]}
                    """));
            },
            (db, i) =>
            {
                Assert.Equal(100, db.Find("queue", $"{{status: 'offen', due: {{$lte: {{$date: '2026-02-01T00:00:{i % 60:00}Z'}}}}}}",
                    "{due: 1}", 100));
                Assert.Equal(100, db.Update("queue", "{status: 'offen'}", "{$inc: {tries: 1}}", many: true));
            });
        Match index = PartialIndex().Match(copy.Text);
        Assert.True(index.Success, copy.Text);
        string open = index.Groups[1].Value;
        Assert.Contains($"filter: {{status: {open}, due: {{$lte: ", copy.Text, StringComparison.Ordinal);
        Assert.Contains($"filter: {{status: {open}}}", copy.Text, StringComparison.Ordinal);
        Assert.DoesNotMatch("offen|erledigt", copy.Text);
        // One in a hundred is drawn for each document: 100, and by chance (four deviations) 40 more or less.
        Assert.InRange(copy.Count("queue", $"{{status: {open}}}"), 60, 140);
        Assert.All(copy.Operations, one => Assert.InRange((double)one.Documents / one.Operations, 60, 140));
        Assert.Equal(2, copy.Operations.Count);
    }

    /// <summary>Finds that always or sometimes find nothing, upserts that always insert, inserts that always fail.</summary>
    [Fact]
    public void Misses_upserts_and_failures_come_as_often_as_they_did()
    {
        Copied copy = Copy(
            db => Documents.Insert(db.Connection, db.Name, "users", [.. Enumerable.Range(0, 1000).Select(i => BsonDocument.Of(
                ("_id", $"benutzer{i:0000}"), ("mail", $"nr{i}@example.org"), ("n", i % 10))) ]),
            (db, i) =>
            {
                Assert.Equal(0, db.Find("users", $"{{mail: 'nie{i}@example.org'}}"));
                Assert.Equal(i % 4 == 0 ? 0 : 1, db.Find("users", $"{{_id: '{(i % 4 == 0 ? "keiner" : "benutzer")}{i:0000}'}}", "{n: 1}"));
                Assert.Equal(1, db.Update("users", $"{{_id: 'neuer{i:0000}'}}", "{$set: {n: 10}}", many: false, upsert: true));
                db.Connection.RunUnchecked(db.Name, ExtendedJson.Parse(
                    $$"""{"insert": "users", "documents": [{"_id": "benutzer{{i:0000}}"}]}"""));
            });
        Assert.Equal(0, copy.PerOperation("find users mail"));
        Assert.InRange(copy.PerOperation("find users _id"), 0.6, 0.9);
        OperationResult upsert = copy.Operations.Single(one => one.Operation.StartsWith("update users _id", StringComparison.Ordinal));
        Assert.Equal(1060 + upsert.Operations, copy.Count("users", "{}"));
        Assert.Contains("not learned: 60 of 60 operations (insert) failed, most of them with error 11000: these are left out", copy.Text,
            StringComparison.Ordinal);
        Assert.DoesNotMatch("benutzer|neuer|keiner|nie", copy.Text);
    }

    /// <summary>
    /// Updates find the version that was read just before, but for every fourth; bursts of six in which one is always there already insert
    /// five.
    /// </summary>
    [Fact]
    public void Versions_are_found_and_bursts_inserted_as_often_as_they_were()
    {
        int[] versions = new int[3];
        Copied copy = Copy(
            db =>
            {
                Documents.Insert(db.Connection, db.Name, "flags", [.. Enumerable.Range(0, 40).Select(i => BsonDocument.Of(
                    ("_id", $"schalter{i}"), ("version", 0))) ]);
                Documents.Insert(db.Connection, db.Name, "queue", [BsonDocument.Of(("_id", "da"), ("n", 0))]);
            },
            (db, i) =>
            {
                int version = versions[i % 3] - (i % 4 == 0 ? 1 : 0);
                int changed = (int)db.Update(
                    "flags", $"{{_id: 'schalter{i % 3}', version: {version}}}", "{$inc: {version: 1}}", many: false);
                Assert.Equal(i % 4 == 0 ? 0 : 1, changed);
                versions[i % 3] += changed;
                string burst = string.Join(", ", Enumerable.Range(0, 5).Select(j => $$"""{"_id": "neu{{i}}-{{j}}", "n": {{j}}}"""));
                db.Connection.RunUnchecked(db.Name, ExtendedJson.Parse(
                    $$"""{"insert": "queue", "ordered": false, "documents": [{{burst}}, {"_id": "da", "n": 9}]}"""));
            },
            times: 240);
        // By chance (four deviations of 240 draws) 0.11 more or less than 0.75.
        Assert.InRange(copy.PerOperation("update flags _id version inc version"), 0.64, 0.86);
        OperationResult bursts = copy.Operations.Single(one => one.Operation.StartsWith("insertMany queue", StringComparison.Ordinal));
        // 1,200 documents in bursts of six beside 240 updates: of 300 operations 136, and by chance 35 more or less.
        Assert.InRange(bursts.Operations, 101, 171);
        Assert.Equal(6 * bursts.Operations, bursts.Documents);
        Assert.Contains("240 of 240 operations (insertMany) failed, most of them with error 11000: what they inserted is learned",
            copy.Text, StringComparison.Ordinal);
        Assert.DoesNotContain("fails with", copy.Text, StringComparison.Ordinal);
    }

    /// <summary>Counters by the names of people: one operation here, too, whatever their names.</summary>
    [Fact]
    public void Names_that_are_data_are_changed_in_each_document_that_has_them()
    {
        Copied copy = Copy(
            db => Documents.Insert(db.Connection, db.Name, "rooms", [.. Enumerable.Range(0, 200).Select(i => BsonDocument.Of(
                ("_id", i), ("unread", BsonDocument.Of([.. Enumerable.Range(0, 5).Select(j =>
                    ($"gast{((i * 5) + j) * 7 % 600}", (object?)0))])))) ]),
            (db, i) => Assert.Equal(1, db.Update("rooms", $"{{_id: {i}}}", $"{{$inc: {{'unread.gast{i * 7 % 600}': 1}}}}", many: false)));
        Assert.Contains("60 requests = 60 learned (100 % of their time) + 0 left out", copy.Text, StringComparison.Ordinal);
        Assert.DoesNotContain("gast", copy.Text, StringComparison.Ordinal);
        Assert.Equal(1, copy.PerOperation(Assert.Single(copy.Operations).Operation));
        Assert.InRange(copy.Count("rooms", "{$or: [{'unread.k0': {$gte: 1}}, {'unread.k4': {$gte: 1}}]}"), 1, 200);
    }

    /// <summary>A chat: pages backwards, the newest hours, windows of an hour and what a dashboard shows, and a scan by number.</summary>
    [Fact]
    public void Pages_windows_and_scans_find_as_many_documents_as_they_did()
    {
        const int Messages = 6000;
        DateTime begin = new(2026, 3, 1, 0, 0, 0, DateTimeKind.Utc);
        var seen = new Dictionary<string, List<double>>();
        Copied copy = Copy(
            db =>
            {
                foreach (int[] some in Enumerable.Range(0, Messages).Chunk(1000))
                {
                    Documents.Insert(db.Connection, db.Name, "messages", [.. some.Select(i => BsonDocument.Of(
                        ("_id", new ObjectId((uint)new DateTimeOffset(begin.AddSeconds(30 * i)).ToUnixTimeSeconds(), (ulong)i)),
                        ("n", i), ("room", RoomOf(i)), ("at", begin.AddSeconds(30 * i)))) ]);
                }
            },
            (db, i) =>
            {
                string room = RoomOf(i * 97 % Messages);
                BsonDocument[] page = db.Documents("messages", $"{{room: '{room}'}}", "{_id: -1}", 20);
                See("find messages room", page.Length);
                See("find messages room _id", db.Find("messages",
                    $"{{room: '{room}', _id: {{$lt: {{$oid: '{page[^1].Find("_id")!.Value.ToObjectId()}'}}}}}}", "{_id: -1}", 20));
                See("find messages room at", db.Find("messages",
                    $"{{room: '{RoomOf(i * 61 % Messages)}', at: {{$gte: {Date((30 * Messages) - 21_600 + i)}}}}}"));
                int from = i * 2711 % ((30 * Messages) - 7200);
                See("find messages at", db.Find("messages", $"{{at: {{$gte: {Date(from)}, $lt: {Date(from + 3600)}}}}}"));
                See("aggregate messages at", db.Aggregate("messages",
                    $"[{{$match: {{at: {{$gte: {Date(from)}, $lt: {Date(from + 7200)}}}}}}}, {{$group: {{_id: '$room'}}}}]"));
                See("find messages n", db.Find("messages", $"{{n: {100 + i}}}"));
            });
        Assert.Contains("key: sequential", copy.Text, StringComparison.Ordinal);
        foreach ((string operation, List<double> found) in seen)
        {
            OperationResult own = copy.Operations.Single(one => one.Operation == operation);
            double mean = found.Average();
            double variance = found.Average(one => (one - mean) * (one - mean));
            double chance = 4 * Math.Sqrt(variance * ((1.0 / found.Count) + (1.0 / own.Operations)));
            Assert.True(Math.Abs(copy.PerOperation(operation) - mean) <= (0.1 * mean) + chance,
                $"{operation}: {copy.PerOperation(operation):0.##} documents in place of {mean:0.##} ± {chance:0.##}\n{copy.Text}");
        }

        void See(string operation, double documents)
        {
            if (!seen.TryGetValue(operation, out List<double>? all))
                seen[operation] = all = [];
            all.Add(documents);
        }

        string Date(int seconds) => $"{{$date: '{begin.AddSeconds(seconds):yyyy-MM-dd'T'HH:mm:ss'Z'}'}}";

        static string RoomOf(int i) => $"zimmer{(int)(30 * Math.Pow(i * 2654435761L % (1L << 32) / 4294967296.0, 2)):00}";
    }

    /// <summary>A queue that is empty in the end, lists of which only the beginning is read, a change of one element of an array.</summary>
    [Fact]
    public void Drained_queues_beginnings_of_lists_and_elements_are_as_they_were()
    {
        Copied copy = Copy(
            db =>
            {
                db.Run("{insert: 'jobs', documents: [" + string.Join(", ", Enumerable.Range(0, 30).Select(i => $"{{_id: {i}, art: 'alt'}}"))
                    + "]}");
                Documents.Insert(db.Connection, db.Name, "lists", [.. Enumerable.Range(0, 500).Select(i => BsonDocument.Of(
                    ("_id", i), ("lines", Enumerable.Range(0, 5).Select(j => (object)BsonDocument.Of(
                        ("id", new ObjectId(1_700_000_000, (ulong)((i * 5) + j))), ("n", 0))).ToArray()))) ]);
            },
            (db, i) =>
            {
                db.Run($"{{insert: 'jobs', documents: [{{_id: {100 + i}, art: 'neu', size: {i % 7}}}]}}");
                Assert.NotNull(db.Run("{findAndModify: 'jobs', query: {}, sort: {_id: 1}, remove: true}").FindDocument("value"));
                if (i % 2 == 0)
                    Assert.NotNull(db.Run("{findAndModify: 'jobs', query: {}, sort: {_id: 1}, remove: true}").FindDocument("value"));
                long cursor = db.Run("{find: 'lists', filter: {_id: {$gte: 0}}, batchSize: 40}").FindInt64("cursor.id")!.Value;
                db.Run($"{{killCursors: 'lists', cursors: [{{$numberLong: '{cursor}'}}]}}");
                Assert.Equal(1, db.Run($"{{update: 'lists', updates: [{{q: {{_id: {i}}}, u: {{$inc: {{'lines.$[one].n': 1}}}}, "
                    + $"arrayFilters: [{{'one.id': {{$oid: '{new ObjectId(1_700_000_000, (ulong)((i * 5) + (i % 5)))}'}}}}]}}]}}")
                    .FindInt64("nModified"));
            });
        Assert.Matches("count: [1-9][0-9]*    # 0 with what the phases remove", copy.Text);
        Assert.Contains("size: ", copy.Text, StringComparison.Ordinal);
        Assert.InRange(copy.PerOperation("findAndModify jobs"), 0.6, 1);
        Assert.Equal(40, copy.PerOperation("find lists _id"));
        Assert.Contains("100 % of the cursors of 60 operations (find) were closed before their end", copy.Text, StringComparison.Ordinal);
        // Each document that was changed has elements that were not.
        Assert.Equal(0, copy.Count("lists", "{lines: {$not: {$elemMatch: {n: 0}}}}"));
        Assert.InRange(copy.Count("lists", "{'lines.n': {$gte: 1}}"), 20, 250);
    }

    /// <summary>What is written next depends on the state that was asked for, by _id or for any document that has it.</summary>
    [Fact]
    public void Written_values_follow_from_those_that_were_asked_for()
    {
        string[] states = ["neu", "bezahlt", "versandt", "fertig"];
        string[] halls = ["nord", "mitte", "sued"];
        Copied copy = Copy(
            db => Documents.Insert(db.Connection, db.Name, "orders", [.. Enumerable.Range(0, 2000).Select(i => BsonDocument.Of(
                ("_id", i), ("state", states[i * i % 7 % 4]), ("hall", halls[i * i % 11 % 3]))) ]),
            (db, i) =>
            {
                Assert.Equal(1, db.Update("orders", $"{{_id: {i}, state: '{states[i * i % 7 % 4]}'}}",
                    $"{{$set: {{next: '{states[((i * i % 7) + 1) % 4]}'}}}}", many: false));
                Assert.NotEqual(0, db.Update("orders", $"{{hall: '{halls[i % 3]}'}}", $"{{$set: {{gate: '{halls[(i + 1) % 3]}'}}}}",
                    many: true));
            });
        // Some documents had been changed when they were read: a few of the copy's have any of these values from the beginning.
        Assert.InRange(Told("state", "next"), 0.7, 1);
        Assert.InRange(Told("hall", "gate"), 0.9, 1);
        Assert.Equal(1, copy.PerOperation("update orders _id state set next"));

        double Told(string asked, string written)
        {
            using MongoConnection connection = copy.Server.Connect();
            (string?, string?)[] pairs = [.. new Client(connection, copy.Database).Documents("orders", $"{{{written}: {{$exists: true}}}}")
                .Select(one => (one.FindString(asked), one.FindString(written)))];
            return pairs.GroupBy(pair => pair.Item1).Sum(one => one.CountBy(pair => pair.Item2 ?? "").Max(same => same.Value))
                / (double)pairs.Length;
        }
    }

    [MongodFact]
    public void Searches_for_words_find_as_many_texts_as_they_did()
    {
        string[] words = [.. Enumerable.Range(0, 300).Select(i => $"wort{(char)('a' + (i / 26))}{(char)('a' + (i % 26))}")];
        double found = 0;
        Copied copy = Copy(
            db =>
            {
                Documents.Insert(db.Connection, db.Name, "notes", [.. Enumerable.Range(0, 1500).Select(i => BsonDocument.Of(("_id", i),
                    ("text", string.Join(' ', Enumerable.Range(0, 4 + (i % 9)).Select(j => words[((i * 31) + (j * 97)) % 300]))))) ]);
                db.Run("{createIndexes: 'notes', indexes: [{key: {text: 'text'}, name: 'text_text'}]}");
            },
            (db, i) => found += db.Find("notes", $"{{$text: {{$search: '{(i % 5 == 0 ? "keines" : words[i * 7 % 300])}'}}}}") / 60.0,
            on: servers["mongod"]);
        Assert.InRange(found, 15, 50);
        Assert.DoesNotContain("wort", copy.Text, StringComparison.Ordinal);
        OperationResult search = Assert.Single(copy.Operations);
        // Each finds what a word has or, one in five, nothing: a deviation of some half of it.
        Assert.InRange((double)search.Documents / search.Operations, 0.8 * found, 1.2 * found);
    }

    /// <summary>Fifty sensors that tell their value one after the other, each two and a half minutes.</summary>
    [MongodFact]
    public void A_time_series_takes_as_many_buckets_as_it_did()
    {
        TestServer mongod = servers["mongod"];
        string shop = servers.NewDatabase();
        string copy = servers.NewDatabase();
        string file = _runs.At("series.yaml");
        Directory.CreateDirectory(_runs.Path);
        DateTime begin = new(2026, 3, 1, 0, 0, 0, DateTimeKind.Utc);
        using MongoConnection connection = mongod.Connect();
        connection.RunCommand(shop, BsonDocument.Of(("create", "values"), ("timeseries", BsonDocument.Of(
            ("timeField", "at"), ("metaField", "sensor")))));
        foreach (int[] some in Enumerable.Range(0, 15_000).Chunk(1000))
        {
            Documents.Insert(connection, shop, "values", [.. some.Select(i => BsonDocument.Of(
                ("at", begin.AddSeconds(150 * (i / 50)).AddMilliseconds((long)i * i * 7919 % 1000)),
                ("sensor", BsonDocument.Of(("hall", $"halle{i % 5}"), ("number", i % 50))),
                ("value", i * 2654435761L % 1000 / 10.0))) ]);
        }

        ProgramRun.Run("learn", "--uri", mongod.Uri, "--db", shop, "--budget", "6k,256MB,120s", "-o", file).Expect(0);
        ProgramRun.Run("run", file, "--uri", mongod.Uri, "--db", copy, "--out", _runs.Path).Expect(0);
        Assert.Equal(15_000, Documents.Count(connection, copy, "values"));
        long there = Buckets(shop);
        Assert.InRange(there, 500, 800);
        Assert.InRange(Buckets(copy), 0.9 * there, 1.1 * there);
        using var run = StoredRun.Open(Path.Combine(_runs.Path, _runs.Ids[^1]));
        Assert.Equal(Buckets(copy), run.Phases.Single().Sizes.Single().Buckets);

        long Buckets(string database) => connection.RunCommand(database, BsonDocument.Of(("collStats", "values")))
            .FindInt64("timeseries.bucketCount")!.Value;
    }

    /// <summary>
    /// What is learned is tried: what is simple to mend is mended (a state that another condition asks for, a cursor that is not read on),
    /// and of all the rest it is said how far it is (of what has been deleted since).
    /// </summary>
    [Fact]
    public void What_is_learned_has_been_tried_and_says_how_close_it_came()
    {
        Copied copy = Copy(
            db => Documents.Insert(db.Connection, db.Name, "orders", [.. Enumerable.Range(0, 2000).Select(i => BsonDocument.Of(
                ("_id", i), ("customer", i % 100), ("active", i % 2 == 0), ("at", i))) ]),
            (db, i) =>
            {
                Assert.Equal(20, db.Find("orders", $"{{customer: {i * 7 % 100}}}"));
                Assert.Equal(i % 2 == 0 ? 1 : 0, db.Find("orders", $"{{_id: {i * 13 % 2000}, active: true}}", limit: 1));
                db.Connection.RunCommand(db.Name, Client.Parse($"{{find: 'orders', filter: {{at: {{$gte: {i % 3}}}}}}}"));
            },
            times: 400, afterwards: db => db.Delete("orders", "{_id: {$gte: 1000}}"));
        Assert.Contains("tried on the embedded server: 2 of 3 operations find and change as much as was seen", copy.Output,
            StringComparison.Ordinal);
        Assert.Contains("  find orders customer: documents of an operation 10 (seen: 20)", copy.Output, StringComparison.Ordinal);
        Assert.Matches(@"# tried [0-9]+ times, not close: documents of an operation 10 \(seen: 20\)\n", copy.Text);
        Assert.Matches(@"filter: \{_id: [^\n]*, active: true\}\n(?: +[^-\n][^\n]*\n)* +# tried [0-9]+ times, close: [^\n]*finds nothing",
            copy.Text);
        Assert.Equal(101, copy.PerOperation("find orders at"));
    }

    /// <summary>The embedded server has no text indexes: that operation can't be tried, and all others are.</summary>
    [MongodFact]
    public void What_the_embedded_server_lacks_is_not_tried()
    {
        Copied copy = Copy(
            db =>
            {
                Documents.Insert(db.Connection, db.Name, "notes", [.. Enumerable.Range(0, 200).Select(i => BsonDocument.Of(
                    ("_id", i), ("text", $"wort{i % 7} und wort{i % 11}"))) ]);
                db.Connection.RunCommand(db.Name,
                    ExtendedJson.Parse("""{"createIndexes": "notes", "indexes": [{"key": {"text": "text"}, "name": "text"}]}"""));
            },
            (db, i) =>
            {
                db.Find("notes", $"{{$text: {{$search: 'wort{i % 7}'}}}}");
                db.Find("notes", $"{{_id: {i}}}");
            },
            on: servers["mongod"]);
        Assert.Matches(@"filter: \{\$text: [^\n]*\n(?: +[^-\n][^\n]*\n)* +# not tried: ", copy.Text);
        Assert.Matches(@"filter: \{_id: \^key\}\n(?: +[^-\n][^\n]*\n)* +# tried [0-9]+ times, close: ", copy.Text);
        Assert.Contains("1 of 1 operations find and change as much as was seen; 1 more can't be compared", copy.Output,
            StringComparison.Ordinal);
    }

    /// <summary>
    /// Customers and five orders of each, which come while they are read: the file grows both, reads at each size, and is taken by a
    /// decision and a forecast.
    /// </summary>
    [Fact]
    public void A_growth_takes_collections_to_what_they_will_be()
    {
        string grown = _runs.At("growth.yaml");
        Copied copy = Copy(
            db =>
            {
                Documents.Insert(db.Connection, db.Name, "customers", [.. Enumerable.Range(0, 100).Select(i =>
                    BsonDocument.Of(("_id", i), ("name", $"kunde{i:0000}"))) ]);
                Documents.Insert(db.Connection, db.Name, "orders", [.. Enumerable.Range(0, 500).Select(i =>
                    BsonDocument.Of(("_id", i), ("customer", i % 100), ("total", i * 7 % 90))) ]);
                Documents.Insert(db.Connection, db.Name, "countries", [BsonDocument.Of(("_id", 1))]);
            },
            (db, i) =>
            {
                Assert.Equal(1, db.Find("customers", $"{{_id: {i}}}"));
                db.Find("orders", $"{{customer: {i}}}");
                Documents.Insert(db.Connection, db.Name, "customers",
                    [BsonDocument.Of(("_id", 100 + i), ("name", $"kunde{100 + i:0000}"))]);
                for (int j = 0; j < 5; j++)
                    Documents.Insert(db.Connection, db.Name, "orders",
                        [BsonDocument.Of(("_id", 500 + (5 * i) + j), ("customer", 100 + i), ("total", j))]);
            },
            growth: ("--documents 6M", grown));
        string text = File.ReadAllText(grown);
        Assert.Contains("grow: {customers: 1, orders: 5}\n    name: growth\n    to: 1000000\n    step: 100000\n", text,
            StringComparison.Ordinal);
        Assert.Contains("  countries:\n    count: 1\n", text, StringComparison.Ordinal);
        Assert.DoesNotMatch("(?m)^        (insert|insertMany): ", text);
        Assert.Contains("grows to 1,000,000 customers, 5,000,000 orders: 6,000,000 documents in all", copy.Output,
            StringComparison.Ordinal);
        ProgramRun.Run("validate", grown).Expect(0);
        string runs = _runs.At("growths");
        ProgramRun.Run("run", grown, "--uri", servers.Embedded.Uri, "--db", servers.NewDatabase(), "--out", runs, "--target", "80",
            "--step", "20", "--duration", "1s", "--warmup", "0s", "--max-skipped", "100%").Expect(0);
        string id = Path.GetFileName(Directory.GetDirectories(runs).Single());
        using (var run = StoredRun.Open(Path.Combine(runs, id)))
        {
            Assert.Equal([20L, 40, 60, 80], run.Phases.Where(phase => phase.Growth is not null)
                .Select(phase => phase.Growth!.Documents).Distinct());
            Assert.InRange(run.Phases.Count(phase => phase.Kind == PhaseKind.Measure), 4, 12);
            Assert.Equal(400, run.Phases.Last(phase => phase.Phase == "size orders").Sizes.Single().Documents);
        }

        ProgramRun.Run("forecast", id, "--documents", "1M", "--out", runs).Expect(0);
        string decision = _runs.At("decide.yaml");
        ProgramRun.Run("new", decision, "--decide", "single-or-sharded", "--data", grown).Expect(0);
        ProgramRun.Run("validate", decision).Expect(0);
    }

    /// <param name="prepare">Makes the data.</param>
    /// <param name="work">What the application does, so many times.</param>
    /// <param name="times">How often.</param>
    /// <param name="afterwards">What happens between the recording and the learning, seen by nobody.</param>
    /// <param name="on">The deployment; null for the embedded server.</param>
    /// <param name="growth">What is typed to learn a growth in place of a copy, and the file; null for a copy.</param>
    private Copied Copy(Action<Client> prepare, Action<Client, int> work, int times = 60, Action<Client>? afterwards = null,
        TestServer? on = null, (string How, string File)? growth = null)
    {
        TestServer server = on ?? servers.Embedded;
        string shop = servers.NewDatabase();
        string copy = servers.NewDatabase();
        string recording = _runs.At("app.rec");
        string file = _runs.At("app.yaml");
        Directory.CreateDirectory(_runs.Path);
        using (MongoConnection direct = server.Connect())
            prepare(new Client(direct, shop));
        using (ProgramRun record = RecordTests.StartProxy(server.Uri, recording, out int port))
        {
            using (MongoConnection through = MongoConnection.Open(new ServerAddress("127.0.0.1", port), ConnectionSettings.Default))
            {
                for (int i = 0; i < times; i++)
                    work(new Client(through, shop), i);
            }

            record.SendInterrupt();
            record.WaitForEnd().Expect(0);
        }

        if (afterwards is not null)
        {
            using MongoConnection direct = server.Connect();
            afterwards(new Client(direct, shop));
        }

        if (growth is var (how, grown))
            return new Copied("", ProgramRun.Run(["learn", "--uri", server.Uri, "--db", shop, "--from", "recording", recording,
                "--growth", .. how.Split(' '), "-o", grown]).Expect(0).Output, server, copy, []);
        string output = ProgramRun.Run("learn", "--uri", server.Uri, "--db", shop, "--from", "recording", recording, "-o", file)
            .Expect(0).Output;
        ProgramRun.Run("run", file, "--uri", server.Uri, "--db", copy, "--out", _runs.At("runs"), "--operations", "300",
            "--max-skipped", "100%").Expect(0);
        using var run = StoredRun.Open(Directory.GetDirectories(_runs.At("runs")).Single());
        return new Copied(File.ReadAllText(file), output, server, copy,
            [.. run.Phases.Where(phase => phase.Kind == PhaseKind.Measure).SelectMany(phase => phase.Operations)
                .Where(one => !one.IsTotal)]);
    }

    [GeneratedRegex("partialFilterExpression: {status: (\"[^\"]+\")}")]
    private static partial Regex PartialIndex();

    /// <summary>The learned file, what was printed with it, and what a run of it did.</summary>
    private sealed record Copied(string Text, string Output, TestServer Server, string Database, IReadOnlyList<OperationResult> Operations)
    {
        public double PerOperation(string name) =>
            Operations.Where(one => one.Operation == name).Select(one => (double)one.Documents / one.Operations).Single();

        public long Count(string collection, string filter)
        {
            using MongoConnection connection = Server.Connect();
            return connection.RunCommand(Database, BsonDocument.Of(("count", collection), ("query", Client.Parse(filter))))
                .FindInt64("n")!.Value;
        }
    }

    /// <summary>The application's connection; commands are written in JSON with single quotes and plain names.</summary>
    private sealed record Client(MongoConnection Connection, string Name)
    {
        public static BsonDocument Parse(string text) =>
            ExtendedJson.Parse(Names().Replace(text.Replace('\'', '"'), "$1\"$2\":"));

        /// <summary>Any command; one that fails throws.</summary>
        public BsonDocument Run(string command) => Connection.RunCommand(Name, Parse(command));

        public long Find(string collection, string filter, string? sort = null, int limit = 0) =>
            Documents(collection, filter, sort, limit).Length;

        public BsonDocument[] Documents(string collection, string filter, string? sort = null, int limit = 0) =>
            [.. Connection.RunCursor(Name, BsonDocument.Of(
                ("find", collection), ("filter", Parse(filter)), ("sort", Parse(sort ?? "{}")), ("limit", limit)))];

        public long Aggregate(string collection, string pipeline) => Connection.RunCursor(Name, BsonDocument.Of(("aggregate", collection),
            ("pipeline", Parse($"{{p: {pipeline}}}").FindDocument("p")!.Select(stage => stage.Value.ToDocument()).ToArray()),
            ("cursor", BsonDocument.Empty))).Count();

        public long Update(string collection, string filter, string update, bool many, bool upsert = false) =>
            Connection.RunCommand(Name, BsonDocument.Of(("update", collection), ("updates", new object[]
            {
                BsonDocument.Of(("q", Parse(filter)), ("u", Parse(update)), ("multi", many), ("upsert", upsert)),
            }))).FindInt64("n")!.Value;

        public long Delete(string collection, string filter) => Connection.RunCommand(Name, BsonDocument.Of(("delete", collection),
            ("deletes", new object[] { BsonDocument.Of(("q", Parse(filter)), ("limit", 0)) }))).FindInt64("n")!.Value;
    }

    [GeneratedRegex(@"([{,]\s*)([$A-Za-z_.]+):")]
    private static partial Regex Names();
}
