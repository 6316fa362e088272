using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Server;

/// <summary>Work ends when its time is up, when somebody kills it, when its client leaves and when the server stops.</summary>
public sealed class InterruptionTests : ServerTest
{
    // Hours, for a thousand documents.
    private const string Slow =
        "{'$expr': {'$gt': [{'$size': {'$map': {'input': {'$range': ['$_id', 4000000]}, 'in': {'$add': ['$$this', '$_id']}}}}, 5000000]}}";

    // A second or so, before the first document is looked at: the numbers are the same for all.
    private static readonly string SlowConstant = Slow.Replace("['$_id', 4", "[0, 4", StringComparison.Ordinal);

    // A million million comparisons in one update of one document.
    private const string SlowUpdate = "{'$addToSet': {'z': {'$each': [ITEMS]}}}";

    private static readonly string[] SlowOnes =
    [
        $"{{'find': 'c', 'filter': {Slow}}}",
        $"{{'find': 'c', 'filter': {SlowConstant}}}",
        $"{{'count': 'c', 'query': {Slow}}}",
        $"{{'distinct': 'c', 'key': 'n', 'query': {Slow}}}",
        $"{{'aggregate': 'c', 'pipeline': [{{'$match': {Slow}}}], 'cursor': {{}}}}",
        $"{{'aggregate': 'c', 'pipeline': [{{'$group': {{'_id': {Slow[10..^1]}}}}}], 'cursor': {{}}}}",
        $"{{'update': 'c', 'updates': [{{'q': {Slow}, 'u': {{'$set': {{'k': 1}}}}, 'multi': true}}]}}",
        $"{{'delete': 'c', 'deletes': [{{'q': {Slow}, 'limit': 0}}]}}",
        $"{{'findAndModify': 'c', 'query': {Slow}, 'remove': true}}",
        $"{{'find': 'long', 'filter': {{'$or': "
        + $"[{string.Join(", ", Enumerable.Range(0, 500).Select(i => $"{{'t': {{'$regex': '(x+x+x+)+q{i}$'}}}}"))}]}}}}",
    ];

    public static TheoryData<string> SlowCommands => [.. SlowOnes];

    [Theory]
    [MemberData(nameof(SlowCommands))]
    public void Time_limit_ends_any_work(string command)
    {
        Fill(command.Contains("'long'", StringComparison.Ordinal));
        BsonDocument timed =
            BsonDocument.Of([.. TestClient.Json(command).Select(pair => (pair.Key, (object?)pair.Value)), ("maxTimeMS", 100)]);
        BsonDocument reply = Client.Run(timed);
        Assert.Equal((0, 50L, "MaxTimeMSExpired"), (reply.FindDouble("ok"), reply.FindInt64("code"), reply.FindString("codeName")));
        Assert.Equal(1000, Succeed("{'count': 'c'}").FindInt64("n"));
    }

    [Theory]
    [MemberData(nameof(SlowCommands))]
    public async Task Kill_ends_any_work(string command)
    {
        Fill(command.Contains("'long'", StringComparison.Ordinal));
        using var other = new TestClient(Port);
        Task<BsonDocument> running = Task.Run(() => other.Run(command));
        Succeed(
            $"{{'killOp': 1, 'op': {await OperationOn(command.Contains("'long'", StringComparison.Ordinal) ? "test.long" : "test.c")}}}",
            "admin");
        BsonDocument reply = await running;
        Assert.Equal((0, 11601L, "Interrupted"), (reply.FindDouble("ok"), reply.FindInt64("code"), reply.FindString("codeName")));
    }

    [Fact]
    public async Task Kill_reaches_one_who_waits_for_a_lock()
    {
        Fill();
        using var writer = new TestClient(Port);
        using var waiter = new TestClient(Port);
        Task<BsonDocument> running =
            Task.Run(() => writer.Run($"{{'update': 'c', 'updates': [{{'q': {Slow}, 'u': {{'$set': {{'k': 1}}}}}}]}}"));
        long id = await OperationOn("test.c");
        BsonDocument reply = waiter.Run("{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$set': {'k': 1}}}], 'maxTimeMS': 50}");
        Assert.Equal(50, reply.FindInt64("code"));
        Succeed($"{{'killOp': 1, 'op': {id}}}", "admin");
        Assert.Equal(11601, (await running).FindInt64("code"));
    }

    [Theory]
    [MemberData(nameof(SlowCommands))]
    public async Task Work_stops_when_its_client_leaves(string command)
    {
        Fill(command.Contains("'long'", StringComparison.Ordinal));
        string nameSpace = command.Contains("'long'", StringComparison.Ordinal) ? "test.long" : "test.c";
        using (var other = new TestClient(Port))
        {
            other.Send(new OpMsgWriter().WriteCommand("test", TestClient.Json(command), 1));
            await OperationOn(nameSpace);
        }

        await Eventually.IsAsync(() => !Operations().Any(operation => operation.FindString("ns") == nameSpace));
        Assert.Equal(1000, Succeed("{'count': 'c'}").FindInt64("n"));
    }

    [Fact]
    public async Task What_nobody_wants_a_reply_to_is_done_when_its_client_has_left()
    {
        Fill();
        using (var other = new TestClient(Port))
        {
            other.SendWithoutReply("{'update': 'c', 'writeConcern': {'w': 0}}", "updates",
                [TestClient.Json(
                    "{'q': {'$expr': {'$gt': [{'$size': {'$range': [0, 2000]}}, 1]}}, 'u': {'$set': {'k': 1}}, 'multi': true}")]);
        }

        await Eventually.IsAsync(() => Succeed("{'count': 'c', 'query': {'k': 1}}").FindInt64("n") == 1000);
    }

    [Fact]
    public async Task Stop_cancels_what_runs_and_loses_nothing()
    {
        Fill(withLongTexts: true);
        TestClient[] others = [.. SlowOnes.Select(_ => new TestClient(Port))];
        foreach ((TestClient other, string command) in others.Zip(SlowOnes))
            other.Send(new OpMsgWriter().WriteCommand("test", TestClient.Json(command), 1));
        await OperationOn("test.c");
        await OperationOn("test.long");
        Restart();
        Array.ForEach(others, other => other.Dispose());
        Assert.Equal(1000, Succeed("{'count': 'c'}").FindInt64("n"));
        Assert.True(Succeed("{'validate': 'c'}").IsTrue("valid"));
    }

    [Theory]
    [InlineData("-1", "-1 value for maxTimeMS is out of range")]
    [InlineData("1.5", "maxTimeMS has non-integral value")]
    [InlineData("'x'", "maxTimeMS must be a number")]
    [InlineData("2147483648", "2147483648 value for maxTimeMS is out of range")]
    public void Time_limit_is_checked(string value, string text) => Fails($"{{'ping': 1, 'maxTimeMS': {value}}}", 2, text);

    [Fact]
    public void Cursor_has_what_its_find_left_of_the_time()
    {
        Fill();
        BsonDocument first = Succeed("{'find': 'c', 'filter': {'$expr': {'$gt': [{'$size': {'$range': [0, {'$cond': [{'$lt': ['$_id', 2]}, "
            + "1, 4000000]}]}}, 0]}}, 'batchSize': 2, 'maxTimeMS': 400}");
        string getMore = $"'getMore': {{'$numberLong': '{first.FindInt64("cursor.id")}'}}, 'collection': 'c'";
        Fails($"{{{getMore}, 'maxTimeMS': 5}}", 2, "cannot set maxTimeMS on getMore command for a non-awaitData cursor");
        Fails($"{{{getMore}}}", 50, "operation exceeded time limit");
        Fails($"{{{getMore}}}", 43, "not found");
    }

    [Fact]
    public async Task The_collection_of_a_command_is_told_while_its_constants_are_worked_out()
    {
        Fill();
        using var other = new TestClient(Port);
        other.Send(new OpMsgWriter().WriteCommand("test", TestClient.Json($"{{'find': 'c', 'filter': {SlowConstant}}}"), 1));
        BsonDocument? query = null;
        await Eventually.IsAsync(() => (query = Operations().FirstOrDefault(operation => operation.FindString("op") == "query")) != null);
        Assert.Equal("test.c", query!.FindString("ns"));
    }

    [Fact]
    public void Operations_are_the_administrators()
    {
        Fails("{'currentOp': 1}", 13, "may only be run against the admin database.");
        Fails("{'killOp': 1, 'op': 1}", 13, "may only be run against the admin database.");
        Fails("{'killOp': 1}", 4, "Missing expected field \"op\"", "admin");
        Fails("{'killOp': 1, 'op': 'x'}", 14, "to have numeric type, but found string", "admin");
        Succeed("{'killOp': 1, 'op': 123456789}", "admin");
    }

    /// <summary>What mongosh asks for; the refusals are mongod's.</summary>
    [Fact]
    public void CurrentOp_is_a_stage_too()
    {
        BsonDocument reply = Succeed("{'aggregate': 1, 'pipeline': [{'$currentOp': {'allUsers': true}}, {'$match': {'op': 'command'}}, "
            + "{'$project': {'ns': 1}}], 'cursor': {}}", "admin");
        Assert.Equal("admin.$cmd", Assert.Single(TestClient.Batch(reply, "firstBatch")).FindString("ns"));
        Fails("{'aggregate': 1, 'pipeline': [{'$currentOp': {}}], 'cursor': {}}", 73,
            "must be run against the 'admin' database with {aggregate: 1}");
        Fails("{'aggregate': 'c', 'pipeline': [{'$match': {}}, {'$currentOp': {}}], 'cursor': {}}", 73,
            "must be run against the 'admin' database with {aggregate: 1}", "admin");
        Fails("{'aggregate': 1, 'pipeline': [{'$match': {}}], 'cursor': {}}", 73,
            "{aggregate: 1} is not valid for '$match'; a collection is required.", "admin");
        Fails("{'aggregate': 1, 'pipeline': [], 'cursor': {}}", 73, "{aggregate: 1} is not valid for an empty pipeline.", "admin");
        Fails("{'aggregate': 1, 'pipeline': [{'$currentOp': 1}], 'cursor': {}}", 14,
            "$currentOp options must be specified in an object, but found: int", "admin");
        Fails("{'aggregate': 1, 'pipeline': [{'$currentOp': {'x': true}}], 'cursor': {}}", 9,
            "Unrecognized option 'x' in $currentOp stage.", "admin");
        Fails("{'aggregate': 1, 'pipeline': [{'$currentOp': {'allUsers': 1}}], 'cursor': {}}", 14,
            "The 'allUsers' parameter of the $currentOp stage must be a boolean value, but found: int", "admin");
    }

    [Fact]
    public async Task Readers_who_take_turns_do_not_keep_a_writer_out()
    {
        var gate = new InterruptibleReaderWriterLock();
        bool isWritten = false;
        gate.EnterReadLock();
        Task[] readers = [.. Enumerable.Range(0, 4).Select(_ => Task.Factory.StartNew(Read, TaskCreationOptions.LongRunning))];
        Task writer = Task.Factory.StartNew(Write, TaskCreationOptions.LongRunning);
        gate.ExitReadLock();
        await Task.WhenAll([writer, .. readers]).WaitAsync(TimeSpan.FromMinutes(1));

        // Each longer than a try of the writer's, so that they overlap.
        void Read()
        {
            while (!Volatile.Read(ref isWritten))
            {
                gate.EnterReadLock();
                Thread.Sleep(60);
                gate.ExitReadLock();
            }
        }

        void Write()
        {
            using (gate.EnterWrite())
                Volatile.Write(ref isWritten, true);
        }
    }

    [Fact]
    public void Quadratic_update_ends_too()
    {
        Fill();
        string items = string.Join(",", Enumerable.Range(0, 200_000));
        BsonDocument update =
            TestClient.Json($"{{'q': {{'_id': 1}}, 'u': {SlowUpdate.Replace("ITEMS", items, StringComparison.Ordinal)}}}");
        BsonDocument reply = Client.RunWithSequence("{'update': 'c', 'maxTimeMS': 200}", "updates", [update]);
        Assert.Equal(50, reply.FindInt64("code"));
    }

    private void Fill(bool withLongTexts = false)
    {
        InsertNumbers(1000);
        if (!withLongTexts)
            return;
        // Far longer than what the usual engine of regular expressions is let loose on.
        string text = new string('x', 8_000_000) + "y";
        Client.RunWithSequence(
            "{'insert': 'long'}", "documents", Enumerable.Range(0, 4).Select(i => BsonDocument.Of(("_id", i), ("t", text))));
    }

    private IEnumerable<BsonDocument> Operations() =>
        Succeed("{'currentOp': 1}", "admin").FindDocument("inprog")!.Select(pair => pair.Value.ToDocument());

    /// <summary>The number of the command that works on a collection.</summary>
    private async Task<long> OperationOn(string nameSpace)
    {
        long? found = null;
        await Eventually.IsAsync(() =>
            (found = Operations().FirstOrDefault(operation => operation.FindString("ns") == nameSpace)?.FindInt64("opid")) != null);
        return found!.Value;
    }
}
