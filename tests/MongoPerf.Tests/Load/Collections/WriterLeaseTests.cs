using System.Diagnostics;
using MongoPerf.Load.Collections;
using MongoPerf.Tests.Server;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Load.Collections;

/// <summary>
/// One writer for each collection, by what its marker says. Nothing here waits: leases end because the tests say so in the marker.
/// </summary>
public sealed class WriterLeaseTests : ServerTest
{
    private static readonly TimeSpan Length = TimeSpan.FromSeconds(30);

    private readonly MongoConnection _connection;

    public WriterLeaseTests() => _connection = MongoConnection.Open(new ServerAddress("127.0.0.1", Port), ConnectionSettings.Default);

    [Fact]
    public void A_second_run_is_refused_with_the_name_host_and_process_of_the_first()
    {
        Leases("first").Take(_connection, "c");
        var e = Assert.Throws<CollectionBusyException>(() => Leases("second").Take(_connection, "c"));
        Assert.Equal($"test.c is being written by run first (host {Environment.MachineName}, process {Environment.ProcessId})", e.Message);
        Assert.StartsWith("wait for that run, or use another --db or collection; if it was killed, its lease ends in ",
            e.Hint, StringComparison.Ordinal);
        Assert.InRange(int.Parse(e.Hint!.Split(' ')[^2]), 1, 30);
        Leases("second").Take(_connection, "another");
    }

    [Fact]
    public void A_lease_is_the_server_s_time_and_thirty_seconds()
    {
        Leases("first").Take(_connection, "c");
        long now = Succeed("{'isMaster': 1}").FindInt64("localTime")!.Value;
        Assert.InRange(Marker().FindInt64("writer.until")!.Value - now, 20_000, 30_000);
        Assert.Equal(("first", Environment.MachineName, Environment.ProcessId),
            (Marker().FindString("writer.run"), Marker().FindString("writer.host"), (int)Marker().FindInt64("writer.process")!));
    }

    [Fact]
    public void A_run_whose_lease_has_expired_is_taken_over_and_learns_who_did_it()
    {
        WriterLeases first = Leases("first");
        first.Take(_connection, "c");
        Expire();
        WriterLeases second = Leases("second");
        second.Take(_connection, "c");
        Assert.Null(first.Lost);
        first.Renew(_connection);
        Assert.Equal($"test.c was taken over by run second (host {Environment.MachineName}, process {Environment.ProcessId}): "
            + "this run's lease had expired", first.Lost);
        Assert.Equal("second", Marker().FindString("writer.run"));
        second.Renew(_connection);
        Assert.Null(second.Lost);
        // Who has lost it takes it back neither from a run that has paused nor from one that is gone.
        Expire();
        first.Renew(_connection);
        Assert.Equal("second", Marker().FindString("writer.run"));
        Leases("none").Renew(_connection);
    }

    [Fact]
    public void Renewing_keeps_a_lease_also_one_that_has_expired_meanwhile()
    {
        WriterLeases first = Leases("first");
        first.Take(_connection, "c");
        first.Take(_connection, "d");
        Expire();
        first.Renew(_connection);
        Assert.Throws<CollectionBusyException>(() => Leases("second").Take(_connection, "c"));
        Assert.Throws<CollectionBusyException>(() => Leases("second").Take(_connection, "d"));
        Assert.Null(first.Lost);
    }

    [Fact]
    public void A_run_that_has_ended_leaves_the_collection_to_the_next_one_and_no_marker_of_its_own_making()
    {
        WriterLeases first = Leases("first");
        Succeed("{'insert': 'mongoperf', 'documents': [{'_id': 'c', 'program': 'mongoperf', 'run': 'old'}]}");
        first.Take(_connection, "c");
        first.Take(_connection, "only");
        first.Release(_connection);
        Assert.Equal("""{"_id": "c", "program": "mongoperf", "run": "old"}""", ExtendedJson.Write(Marker().Bytes));
        Assert.Null(FindMarker("only"));
        Leases("second").Take(_connection, "c");
    }

    /// <summary>A collection that is dropped and made again by its own run.</summary>
    [Fact]
    public void A_marker_that_is_dropped_with_its_collection_is_no_lost_lease()
    {
        WriterLeases first = Leases("first");
        first.Take(_connection, "c");
        Succeed("{'delete': 'mongoperf', 'deletes': [{'q': {'_id': 'c'}, 'limit': 1}]}");
        first.Renew(_connection);
        Assert.Null(first.Lost);
        Assert.Throws<CollectionBusyException>(() => Leases("second").Take(_connection, "c"));
    }

    [Fact]
    public void The_same_run_takes_its_own_lease_at_once_when_its_process_is_gone_and_nobody_else_does()
    {
        using Process gone = Process.Start("/bin/true")!;
        gone.WaitForExit();
        Leases("run", "token").Take(_connection, "c");
        // Alive: this very process.
        Assert.Throws<CollectionBusyException>(() => Leases("run", "token").Take(_connection, "c"));
        Set("'writer.process': " + gone.Id);
        Assert.Throws<CollectionBusyException>(() => Leases("run", "another run's of the same id").Take(_connection, "c"));
        Assert.Throws<CollectionBusyException>(() => Leases("run").Take(_connection, "c"));
        Leases("run", "token").Take(_connection, "c");
        // Of a process before the machine's last start nothing lives, whatever has its number now.
        Set($"'writer.process': {Environment.ProcessId}, 'writer.boot': 'another'");
        Leases("run", "token").Take(_connection, "c");
        Set($"'writer.process': {gone.Id}, 'writer.host': 'elsewhere'");
        // Nobody can tell whether it lives there.
        Assert.Throws<CollectionBusyException>(() => Leases("run", "token").Take(_connection, "c"));
    }

    [Fact]
    public void Of_many_that_take_it_at_once_one_has_it()
    {
        Leases("old").Take(_connection, "c");
        foreach (bool isNew in (bool[])[true, false])
        {
            if (isNew)
                Succeed("{'delete': 'mongoperf', 'deletes': [{'q': {}, 'limit': 0}]}");
            else
                Expire();
            int[] taken = new int[8];
            Parallel.For(0, taken.Length, i =>
            {
                using MongoConnection connection = MongoConnection.Open(new ServerAddress("127.0.0.1", Port), ConnectionSettings.Default);
                try
                {
                    Leases($"run {i}").Take(connection, "c");
                    taken[i] = 1;
                }
                catch (CollectionBusyException)
                {
                    // Another one was faster.
                }
            });
            Assert.Equal(1, taken.Sum());
        }
    }

    [Theory]
    [InlineData("'writer': 5")]
    [InlineData("'writer': {}")]
    [InlineData("'writer': {'until': 'soon', 'session': 7}")]
    [InlineData("'writer': {'run': 'x', 'until': {'$date': {'$numberLong': '9000000000000000'}}}")]
    [InlineData("'writer': []")]
    public void A_writer_that_no_program_of_ours_wrote_does_not_hold_the_collection_for_ever(string writer)
    {
        Succeed($"{{'insert': 'mongoperf', 'documents': [{{'_id': 'c', {writer}}}]}}");
        Leases("first").Take(_connection, "c");
        Assert.Equal("first", Marker().FindString("writer.run"));
    }

    /// <summary>Another one that was faster is waited for no longer; what else the server refuses is no other writer.</summary>
    [Theory]
    [InlineData(11000, null)]
    [InlineData(13, 13)]
    public void A_refused_lease_is_another_writers_only_where_its_marker_is_in_the_way(int refused, int? code)
    {
        using var server = new MongoPerf.Tests.Support.LyingServer();
        server.Answer = exchange => exchange.Reply(new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray()).First().Key switch
        {
            "update" => BsonDocument.Of(("n", 0), ("writeErrors", new[]
            {
                BsonDocument.Of(("index", 0), ("code", refused), ("errmsg", "no")),
            }), ("ok", 1.0)),
            "find" => BsonDocument.Of(("cursor", BsonDocument.Of(
                ("firstBatch", Array.Empty<BsonDocument>()), ("id", 0L), ("ns", "test.mongoperf"))), ("ok", 1.0)),
            _ => BsonDocument.Of(("localTime", DateTime.UnixEpoch), ("ok", 1.0)),
        });
        using MongoConnection connection = MongoConnection.Open(server.Address, ConnectionSettings.Default);
        Exception e = Assert.ThrowsAny<Exception>(() => Leases("first").Take(connection, "c"));
        Assert.Equal((code is null, code), (e is CollectionBusyException, (e as ServerCommandException)?.Code));
    }

    [Fact]
    public void A_name_that_is_too_long_is_cut()
    {
        Leases(new string('x', 5000)).Take(_connection, "c");
        Assert.InRange(Assert.Throws<CollectionBusyException>(() => Leases("second").Take(_connection, "c")).Message.Length, 100, 400);
    }

    private static WriterLeases Leases(string run, string? token = null) => new("test", run, token, Length);

    private void Expire()
    {
        long now = Succeed("{'isMaster': 1}").FindInt64("localTime")!.Value;
        Set($"'writer.until': {{'$date': {{'$numberLong': '{now}'}}}}");
    }

    private void Set(string fields) =>
        Succeed($"{{'update': 'mongoperf', 'updates': [{{'q': {{}}, 'u': {{'$set': {{{fields}}}}}, 'multi': true}}]}}");

    private BsonDocument Marker() => FindMarker("c")!;

    private BsonDocument? FindMarker(string name) =>
        _connection.RunCursor("test", BsonDocument.Of(("find", "mongoperf"), ("filter", BsonDocument.Of(("_id", name))))).FirstOrDefault();
}
