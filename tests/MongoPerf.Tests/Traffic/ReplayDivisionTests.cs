using MongoPerf.Load.Executors;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Traffic.Replaying;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Tests.Traffic;

/// <summary>What of a recording each of several clients replays, and how much and how fast all of it is.</summary>
public sealed class ReplayDivisionTests : IDisposable
{
    private static readonly BsonDocument Ok = ServerRecordingTests.Ok();

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    /// <summary>Nobody waits for another client's request, or reads on a cursor that another one opened.</summary>
    [Theory]
    [InlineData(1, 1, null)]
    [InlineData(2, 1, null)]
    [InlineData(3, 2, null)]
    [InlineData(4, 1, 30)]
    [InlineData(5, 3, 25)]
    public void Every_request_is_replayed_once_by_whoever_replays_what_it_waits_for(int seed, int copies, int? threads)
    {
        ReplayScript script = Read(Make(new Random(seed), 40, 400), new ReplaySettings { Copies = copies, Threads = threads });
        foreach (int clients in (int[])[1, 2, 3, 4])
        {
            IReadOnlyList<ReplayScript> parts = script.Divide(clients);
            Assert.Equal(clients, parts.Count);
            Assert.Equal(script.Lines, parts.SelectMany(part => part.Lines).OrderBy(line => (line.Copy, line.Worker)));
            Assert.Equal(script.Count, parts.Sum(part => part.Count));
            Assert.All(parts, part => Assert.Equal(part.Lines.OrderBy(line => (line.Copy, line.Worker)), part.Lines));
            Assert.All(parts, part => Assert.Equal((part.Lines.Length, part.Count), (part.Group.Threads, part.Group.Script!.Count)));
            int[][] openers = [.. script.Requests.Select((_, number) => Needed(script, number))];
            foreach (ReplayScript part in parts)
            {
                var own = part.Lines.SelectMany(line => script.Workers[line.Worker].Select(number => (line.Copy, number))).ToHashSet();
                Assert.All(own, one => Assert.All(openers[one.number], needed => Assert.Contains((one.Copy, needed), own)));
            }
        }
    }

    [Fact]
    public void Connections_that_need_nothing_of_one_another_are_divided_evenly()
    {
        var file = new TrafficFile();
        for (int connection = 1; connection <= 10; connection++)
            file.Request(connection, 1, ServerRecordingTests.Ping());
        for (int i = 0; i < 100; i++)
            file.Exchange((i % 10) + 1, i + 10, ServerRecordingTests.Ping(), Ok);
        Assert.Equal([44, 33, 33], Read(file).Divide(3).Select(part => part.Count));
        Assert.Equal(10, Read(file).Divide(10).Count);
        string refused = Assert.Throws<MongoPerfException>(() => Read(file).Divide(11)).Message;
        Assert.Contains("can't be divided among 11 agents", refused, StringComparison.Ordinal);
        Assert.EndsWith("leaves 10 to divide", refused, StringComparison.Ordinal);
    }

    /// <summary>Three connections that share a cursor are as much as all of their requests.</summary>
    [Fact]
    public void Connections_that_stay_together_count_together()
    {
        var file = new TrafficFile();
        for (int connection = 1; connection <= 5; connection++)
            file.Request(connection, 1, ServerRecordingTests.Ping());
        BsonDocument opened = BsonDocument.Of(("cursor", BsonDocument.Of(
            ("id", 77L), ("ns", "d.a"), ("firstBatch", Array.Empty<object>()))), ("ok", 1.0));
        file.Exchange(1, 2, BsonDocument.Of(("find", "a"), ("$db", "d")), opened);
        file.Exchange(2, 2, BsonDocument.Of(("getMore", 77L), ("collection", "a"), ("$db", "d")), opened);
        file.Exchange(3, 2, BsonDocument.Of(("getMore", 77L), ("collection", "a"), ("$db", "d")), opened);
        int[] more = [0, 8, 8, 8, 20, 13];
        for (int connection = 1; connection <= 5; connection++)
        {
            for (int i = 0; i < more[connection]; i++)
                file.Exchange(connection, 10 + i, ServerRecordingTests.Ping(), Ok);
        }

        // 10, 10 and 10 together; 21; 14.
        Assert.Equal([30, 35], Read(file).Divide(2).Select(part => part.Count).Order());
        Assert.Equal([14, 21, 30], Read(file).Divide(3).Select(part => part.Count).Order());
    }

    /// <summary>What it must remember of each copy is some bytes for each request.</summary>
    [Fact]
    public void An_agent_remembers_only_the_copies_of_which_it_has_a_part()
    {
        const int Requests = 20_000, Copies = 100;
        var file = new TrafficFile();
        for (int i = 0; i < Requests; i++)
            file.Request(1, i, ServerRecordingTests.Ping());
        ReplayScript part = Read(file, new ReplaySettings { Copies = Copies }).Divide(Copies)[0];
        using IExecutorSource source = new ReplayEngine(part).Open(new ClientOptions
        {
            Address = () => throw new InvalidOperationException("nobody connects"), Connections = ConnectionSettings.Default,
            Database = "d", Workers = 1,
        });
        Assert.InRange(Allocation.LeastBytes(() => source.OpenExecutor().Dispose()), Requests, 10 * Requests);
    }

    [Fact]
    public void A_rate_sets_the_speed_at_which_all_copies_together_have_it()
    {
        var file = new TrafficFile();
        for (int i = 0; i < 21; i++)
        {
            file.At = i * 100;
            file.Request(1, i, ServerRecordingTests.Ping());
        }

        // 21 requests in 2 s.
        Assert.Equal(2, Read(file, new ReplaySettings { Rate = 21 }).Speed, 6);
        Assert.Equal(1, Read(file, new ReplaySettings { Rate = 21, Copies = 2 }).Speed, 6);
        Assert.Equal(3, Read(file, new ReplaySettings { Speed = 3 }).Speed);
        Assert.False(Read(file, new ReplaySettings { Speed = double.PositiveInfinity }).Group.Script!.IsPaced);
    }

    [Fact]
    public void Settings_are_stored_and_read_again_and_numbers_that_no_command_gives_are_told()
    {
        var settings = new ReplaySettings
        {
            Speed = double.PositiveInfinity, Copies = 3, Only = ReplayedRequests.Reads, Hash = "abc",
            Databases = new Dictionary<string, string> { ["a"] = "b" },
        };
        ReplaySettings read = RunJson.Read<ReplaySettings>(RunJson.Write(settings));
        Assert.Equal(settings with { Databases = read.Databases }, read);
        Assert.Equal("b", read.Databases["a"]);
        Assert.True(read.IsSound);
        Assert.All((ReplaySettings[])
        [
            settings with { Speed = 0 }, settings with { Speed = double.NaN }, settings with { Rate = -1 }, settings with { Copies = 0 },
            settings with { Loops = 1_000_000 }, settings with { Threads = 0 }, settings with { Only = (ReplayedRequests)9 },
        ], wrong => Assert.False(wrong.IsSound));
    }

    /// <summary>The requests that one of them waits for, or that opened what it uses.</summary>
    private static int[] Needed(ReplayScript script, int number)
    {
        RecordedRequest request = script.Requests[number];
        (int first, int end) = script.PriorsOf(number);
        int[] cursors = script.Closed.GetValueOrDefault(number) ?? (request.Uses < 0 ? [] : [request.Uses]);
        return
        [
            .. request.After < 0 ? [] : (int[])[request.After],
            .. script.Priors.Take(end).Skip(first).Select(prior => prior.Count),
            .. cursors.Select(cursor => Array.FindIndex(script.Requests, opener => opener.Opens == cursor)),
        ];
    }

    /// <summary>Many connections of which some share a cursor, a transaction or an id that the server made with the next one.</summary>
    private static TrafficFile Make(Random random, int connections, int count)
    {
        var file = new TrafficFile();
        for (int connection = 1; connection <= connections; connection++)
            file.Request(connection, 0, ServerRecordingTests.Ping());
        for (int number = 1; number <= count; number++)
        {
            int connection = random.Next(1, connections + 1);
            // One in four connections leans on the one before it, so that there are at least a few groups.
            int other = connection % 4 == 0 ? connection - 1 : connection;
            ObjectId made = new(7, (ulong)number);
            BsonDocument session = BsonDocument.Of(
                ("id", new BsonValue(BsonType.Binary, (byte[])[16, 0, 0, 0, 4, .. BitConverter.GetBytes((long)number), .. new byte[8]])));
            switch (random.Next(5))
            {
                case 0:
                    file.Exchange(connection, 3 * number, Find(("filter", BsonDocument.Empty)), Cursor(number))
                        .Exchange(connection, (3 * number) + 1, Find(("filter", BsonDocument.Empty)), Cursor(number + 100_000))
                        .Exchange(other, (3 * number) + 2, BsonDocument.Of(("killCursors", "a"),
                            ("cursors", new object[] { (long)number, number + 100_000L }), ("$db", "d")), Ok);
                    break;
                case 1:
                    file.Exchange(connection, 3 * number, Find(("lsid", session), ("startTransaction", true), ("autocommit", false)), Ok)
                        .Exchange(other, (3 * number) + 1, BsonDocument.Of(
                            ("commitTransaction", 1), ("lsid", session), ("autocommit", false), ("$db", "admin")), Ok);
                    break;
                case 2:
                    file.Exchange(connection, 3 * number, BsonDocument.Of(("update", "a"), ("$db", "d")), BsonDocument.Of(
                        ("upserted", new object[] { BsonDocument.Of(("index", 0), ("_id", made)) }), ("ok", 1.0)))
                        .Exchange(other, (3 * number) + 1, Find(("filter", BsonDocument.Of(("_id", made)))), Ok);
                    break;
                case 3:
                    file.Exchange(connection, 3 * number, Find(("filter", BsonDocument.Empty)), Cursor(number))
                        .Exchange(other, (3 * number) + 1, Find(("lsid", session), ("startTransaction", true), ("autocommit", false)), Ok)
                        .Exchange(other, (3 * number) + 2, BsonDocument.Of(("getMore", (long)number), ("collection", "a"),
                            ("lsid", session), ("autocommit", false), ("$db", "d")), Ok);
                    break;
                default:
                    file.Exchange(connection, 3 * number, ServerRecordingTests.Ping(), Ok);
                    break;
            }
        }

        return file;
    }

    private static BsonDocument Find(params (string, object?)[] more) => BsonDocument.Of([("find", "a"), .. more, ("$db", "d")]);

    private static BsonDocument Cursor(long id) => BsonDocument.Of(("cursor", BsonDocument.Of(
        ("id", id), ("ns", "d.a"), ("firstBatch", Array.Empty<object>()))), ("ok", 1.0));

    private ReplayScript Read(TrafficFile file, ReplaySettings? settings = null)
    {
        using Recording recording = Recording.Open(file.Write(_folder.At("recorded.bin")));
        return ReplayScriptReader.Read(recording, settings ?? new ReplaySettings());
    }
}
