using System.Globalization;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Tests.Server;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Load.Sharding;

/// <summary>
/// A cluster that several runs and an administrator share ends as the administrator left it, whatever the runs did, and wherever they were
/// killed. The embedded server is the cluster; what stands before it adds what a mongos of 8.0 does and it does not.
/// </summary>
public sealed class SharedClusterTests : ServerTest, IDisposable
{
    private static readonly string[] Databases = ["one", "two"];
    private static readonly string[] Names = ["a", "b"];

    private readonly LyingServer _mongos = new();
    private readonly ManualClock _clock = new();
    private readonly List<(string Id, string Database)> _runs = [];
    private readonly List<string> _told = [];
    private readonly List<string> _done = [];
    private bool _mayShard = true;
    private int? _commandsLeft;
    private bool _diesBehind;
    private int? _commandsUntil;
    private Action _between = () => { };

    public SharedClusterTests()
    {
        _mongos.Handshake = exchange => exchange.Reply(Pass(BsonDocument.Of(("isMaster", 1)), "admin"));
        _mongos.Answer = Answer;
    }

    protected override int Shards => 2;

    [Fact]
    public void A_setting_that_one_run_has_changed_is_put_back_by_the_last_one_that_changed_it_and_by_no_other()
    {
        string[] before = Config("settings");
        Run("A", "one", "a", new ShardingSettings { ShardKey = "hashed", Balancer = "off" });
        string[] off = Config("settings");
        Run("B", "two", "a", new ShardingSettings { ShardKey = "hashed" });
        Run("C", "two", "b", new ShardingSettings { ShardKey = "hashed", Balancer = "on", ChunkMegabytes = 8 });
        Clean("A");
        Assert.NotEqual(before, Config("settings"));
        Clean("C");
        Assert.NotEqual(off, Config("settings"));
        Clean("B");
        Assert.Equal(before, Config("settings"));
        Assert.Empty(Config("mongoperf"));
        Assert.Empty(_told);
    }

    [Fact]
    public void The_cluster_says_who_has_changed_which_setting_from_what_and_when()
    {
        Do("{'update': 'settings', 'updates': [{'q': {'_id': 'chunksize'}, 'u': {'_id': 'chunksize', 'value': 64}, 'upsert': true}]}",
            "config");
        Run("A", "one", "a", new ShardingSettings { ShardKey = "hashed", ChunkMegabytes = 8 });
        BsonDocument record = Assert.Single(Read("config", "mongoperf"));
        Assert.Equal((64, 8), (record.FindInt64("settings.chunksize.before.value"), record.FindInt64("settings.chunksize.left.value")));
        Assert.Equal(("one", "A", 8), (record.FindString("holders.0.database"), record.FindString("holders.0.run"),
            record.FindInt64("holders.0.chunkMegabytes")));
        Assert.Equal(BsonType.DateTime, record.Find("holders.0.at")!.Value.Type);
    }

    [Fact]
    public void What_an_administrator_sets_meanwhile_stays_and_is_what_later_runs_put_back()
    {
        Run("A", "one", "a", new ShardingSettings { ShardKey = "hashed", ChunkMegabytes = 8 });
        SetAsAdministrator("chunksize", "{'_id': 'chunksize', 'value': 200}");
        Run("B", "two", "a", new ShardingSettings { ShardKey = "hashed", ChunkMegabytes = 16 });
        Clean("B");
        Assert.Equal(8, Read("config", "settings").Single(one => one.FindString("_id") == "chunksize").FindInt64("value"));
        Clean("A");
        Assert.Equal(200, Read("config", "settings").Single(one => one.FindString("_id") == "chunksize").FindInt64("value"));

        Run("C", "one", "a", new ShardingSettings { ShardKey = "hashed", ChunkMegabytes = 8 });
        SetAsAdministrator("chunksize", "{'_id': 'chunksize', 'value': 300}");
        Clean("C");
        Assert.Equal(300, Read("config", "settings").Single(one => one.FindString("_id") == "chunksize").FindInt64("value"));
        Assert.Contains("'chunksize' is left as it is", Assert.Single(_told), StringComparison.Ordinal);
    }

    [Fact]
    public void A_run_that_is_refused_leaves_nothing_and_what_an_administrator_shards_then_is_emptied_and_kept()
    {
        string before = Snapshot();
        _mayShard = false;
        Assert.Throws<MongoPerfException>(() => Run("A", "one", "a", new ShardingSettings { ShardKey = "hashed" }));
        Assert.Equal(before, Snapshot());
        ShardAsAdministrator("one.a");
        string sharded = Snapshot();
        Run("B", "one", "a", new ShardingSettings());
        Assert.NotEqual(sharded, Snapshot());
        Clean("B");
        Assert.Equal(sharded, Snapshot());
    }

    [Fact]
    public void A_run_that_is_killed_before_it_has_made_its_collection_takes_nobody_elses_for_its_own()
    {
        // The first run learns how many commands there are until then.
        int commands = 1;
        while (true)
        {
            _commandsLeft = commands++;
            _diesBehind = true;
            Kill(() => Run("A", "one", "a", new ShardingSettings { ShardKey = "hashed" }));
            if (Read("one", "mongoperf").Any(one => one.IsTrue("pending")))
                break;
            Clean("A");
        }

        ShardAsAdministrator("one.a");
        string[] sharded = [.. Config("collections"), .. Config("chunks")];
        Run("B", "one", "a", new ShardingSettings());
        Clean("B");
        Clean("A");
        Assert.Equal(sharded, (string[])[.. Config("collections"), .. Config("chunks")]);
        Assert.Empty(Read("one", "a"));
    }

    [Fact]
    public void Documents_that_somebody_else_wrote_where_a_killed_run_had_made_nothing_are_kept()
    {
        Do("{'insert': 'mongoperf', 'documents': [{'_id': 'a', 'program': 'mongoperf', 'run': 'A', 'token': 'A', 'pending': true}]}",
            "one");
        Do("{'insert': 'a', 'documents': [{'_id': 1}]}", "one");
        _runs.Add(("A", "one"));
        using (WireCollection collection = Open("A", "one", "a", new ShardingSettings()))
            Assert.True(collection.Inspect() is { Exists: true, Marker: null });
        Clean("A");
        Assert.Single(Read("one", "a"));
        Assert.Empty(Read("one", "mongoperf"));
    }

    [Fact]
    public void An_administrators_collection_is_neither_cut_nor_pinned_to_a_shard()
    {
        ShardAsAdministrator("one.a", "{'n': 1}");
        string sharded = Snapshot();
        var n = ShardKey.Parse("n");
        foreach (Func<ShardingPlan, ShardingPlan> asked in (Func<ShardingPlan, ShardingPlan>[])
            [
                plan => plan with { OnlyShard = 1 }, plan => plan with { Presplit = 4 },
                plan => plan with { Zones = [new ZoneRange(2, null, null)] },
            ])
        {
            Run("A", "one", "a", new ShardingSettings(), plan => asked(plan) with { Key = n });
            Clean("A");
            Assert.Equal(sharded, Snapshot());
        }

        Assert.Equal(["shard is", "chunks are", "zones are"], _told.Select(line => line.Split("the run's ")[1].Split(" ignored")[0]));
    }

    /// <summary>Found with a scenario of two collections: the database stayed, because the run had not made it.</summary>
    [Fact]
    public void A_run_that_first_drops_what_is_not_there_knows_that_it_made_the_database()
    {
        _runs.Add(("A", "one"));
        using (WireCollection collection = Open("A", "one", "a", new ShardingSettings { ShardKey = "hashed" }))
        {
            collection.Drop();
            collection.Create(new CollectionMarker(42, "", "A", 0, IsGrown: false) { Token = "A" });
        }

        Assert.Contains("one", Read("config", "databases").Select(one => one.FindString("_id")));
        Clean("A");
        Assert.DoesNotContain("one", Read("config", "databases").Select(one => one.FindString("_id")));
    }

    /// <summary>Wherever the change was killed: what it can't have set is the administrator's.</summary>
    [Theory]
    [InlineData("chunksize", "{'_id': 'chunksize', 'value': 300}")]
    [InlineData("balancer", "{'_id': 'balancer', 'activeWindow': {'start': '01:30', 'stop': '05:00'}}")]
    [InlineData("balancer", "{'_id': 'balancer', 'stopped': true, 'mode': 'off', 'why': 'maintenance'}")]
    public void What_an_administrator_sets_after_a_change_that_was_killed_stays(string id, string value)
    {
        SetAsAdministrator("chunksize", "{'_id': 'chunksize', 'value': 128}");
        bool wasKilled;
        int commands = 1;
        do
        {
            _commandsLeft = commands++;
            ClusterControl control = Control("A", "one");
            wasKilled = Kill(() => control.Apply(new ShardingSettings { Balancer = "22:00-06:00", ChunkMegabytes = 8 }));
            SetAsAdministrator(id, value);
            string theirs = Config("settings").Single(one => one.Contains($"\"{id}\"", StringComparison.Ordinal));
            Control("A", "one").Restore();
            Assert.Contains(theirs, Config("settings"));
            Assert.Empty(Config("mongoperf"));
            SetAsAdministrator("chunksize", "{'_id': 'chunksize', 'value': 128}");
            Do("{'delete': 'settings', 'deletes': [{'q': {'_id': {'$ne': 'chunksize'}}, 'limit': 0}]}", "config");
        }
        while (wasKilled);

        Assert.InRange(commands, 10, 100);
    }

    /// <summary>One client runs whole between two commands of the other, whichever these are.</summary>
    [Theory]
    [InlineData("", "+A", "+B", "-A-B")]
    [InlineData("", "+A", "+B-B", "-A")]
    [InlineData("+B", "+A", "-B", "-A")]
    [InlineData("+A+B", "-A", "-B", "")]
    [InlineData("+B+A", "-A", "-B", "")]
    [InlineData("+A", "-A", "+B", "-B")]
    [InlineData("+A", "-A", "+B-B", "")]
    public void Clients_that_change_settings_at_once_get_what_they_want_and_leave_what_was_there(
        string before, string act, string between, string after)
    {
        SetAsAdministrator("chunksize", "{'_id': 'chunksize', 'value': 128}");
        string[] settings = Config("settings");
        bool isInterrupted;
        int commands = 0;
        do
        {
            Control(before);
            isInterrupted = Interrupt(() => Control(act), commands++, () => Control(between));
            CheckHeld();
            foreach (string step in after.Chunk(2).Select(step => new string(step)))
            {
                Control(step);
                CheckHeld();
            }

            Assert.Equal(settings, Config("settings"));
            Assert.Empty(Config("mongoperf"));
            Assert.DoesNotContain(_told, line => line != "balancer: restored");
        }
        while (isInterrupted);

        Assert.InRange(commands, 10, 100);

        // +A: run A sets what it wants; -A: it gives that up.
        void Control(string steps)
        {
            foreach (char[] step in steps.Chunk(2))
            {
                ClusterControl control = this.Control(step[1].ToString(), step[1] == 'A' ? "one" : "two");
                if (step[0] == '-')
                    control.Restore();
                else
                    control.Apply(step[1] == 'A'
                        ? new ShardingSettings { Balancer = "off", ChunkMegabytes = 8 }
                        : new ShardingSettings { Balancer = "22:00-06:00", ChunkMegabytes = 16 });
            }
        }

        void CheckHeld()
        {
            BsonDocument[] holders = [.. Read("config", "mongoperf").SelectMany(one => one.FindDocument("holders")!)
                .Select(one => one.Value.ToDocument())];
            if (holders.Length == 0)
                return;
            bool isA = holders[^1].FindString("run") == "A";
            BsonDocument Setting(string id) => Read("config", "settings").Single(one => one.FindString("_id") == id);
            Assert.Equal((isA ? 8 : 16, isA, !isA), (Setting("chunksize").FindInt64("value"), Setting("balancer").IsTrue("stopped"),
                Setting("automerge").IsTrue("enabled")));
        }
    }

    /// <summary>
    /// Also where the other drops the last collection of the database in which the one makes its first, unless its marker goes, too.
    /// </summary>
    [Fact]
    public void A_run_that_begins_in_a_database_while_another_is_cleaned_there_keeps_its_settings()
    {
        SetAsAdministrator("chunksize", "{'_id': 'chunksize', 'value': 128}");
        string[] settings = Config("settings");
        bool isInterrupted;
        int commands = 0, kept = 0;
        do
        {
            Run("B", "one", "b", new ShardingSettings { ShardKey = "hashed", ChunkMegabytes = 16 });
            isInterrupted = Interrupt(
                () => Clean("B"), commands++, () => Run("A", "one", "a", new ShardingSettings { ShardKey = "hashed", ChunkMegabytes = 8 }));
            if (Read("one", "mongoperf").Any(one => one.FindString("_id") == "a"))
            {
                kept++;
                Assert.Equal(8, Read("config", "settings").Single(one => one.FindString("_id") == "chunksize").FindInt64("value"));
            }

            Clean("A");
            Assert.Equal(settings, Config("settings"));
            Assert.Empty(Config("mongoperf"));
            Assert.DoesNotContain(_told, line => line != "balancer: restored");
            Do("{'dropDatabase': 1}", "one");
        }
        while (isInterrupted);

        Assert.InRange(kept, 20, commands - 1);
    }

    /// <summary>Whatever is drawn: when every run is cleaned, all is as the administrator left it.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Any_sequence_of_runs_refusals_acts_of_an_administrator_kills_and_cleanings_ends_where_it_began(int seed)
    {
        var random = new Random(seed);
        Do("{'addShardToZone': 'shard1', 'zone': 'theirs'}", "admin");
        SetAsAdministrator("chunksize", "{'_id': 'chunksize', 'value': 128}");
        for (int round = 0; round < 3; round++)
        {
            string[] theirs = [.. Read("config", "collections").Select(one => one.FindString("_id")!)];
            string expected = Snapshot();
            Dictionary<string, string> settings = Read("config", "settings").ToDictionary(
                one => one.FindString("_id")!, one => ExtendedJson.Write(one.Bytes));
            _done.Clear();
            for (int step = 0; step < 10; step++)
                Act(random, settings);
            foreach ((string id, _) in _runs.OrderBy(_ => random.Next()).ToArray())
                Clean(id);
            Assert.True(_commandsLeft is null);
            string history = string.Join("; ", _done);
            Assert.Equal(settings.Values.Order(StringComparer.Ordinal).Prepend(history),
                Config("settings").Order(StringComparer.Ordinal).Prepend(history));
            foreach (string ns in Read("config", "collections").Select(one => one.FindString("_id")!).Except(theirs))
            {
                Assert.True(_done.Contains($"administrator shards {ns}"), $"{ns} is left: {history}");
                string[] parts = ns.Split('.');
                Assert.True(Read(parts[0], parts[1]).Length == 0, $"{ns} holds documents: {history}");
                Do($"{{'drop': '{parts[1]}'}}", parts[0]);
            }

            foreach (string database in Databases.Where(
                one => _done.Any(done => done.StartsWith($"administrator shards {one}.", StringComparison.Ordinal))))
                Do("{'dropDatabase': 1}", database);
            Assert.Equal($"{history}\n{WithoutSettings(expected)}", $"{history}\n{WithoutSettings(Snapshot())}");
            Assert.True(Config("mongoperf").Length == 0, history);
            _runs.Clear();
        }
    }

    public new void Dispose()
    {
        _mongos.Dispose();
        base.Dispose();
    }

    private void Act(Random random, Dictionary<string, string> settings)
    {
        string database = Databases[random.Next(2)];
        string name = Names[random.Next(2)];
        string id = $"r{_runs.Count}";
        _diesBehind = random.Next(2) == 0;
        switch (random.Next(10))
        {
            case < 5:
                var asked = new ShardingSettings
                {
                    ShardKey = random.Next(2) == 0 ? "hashed" : null, Balancer = new[] { null, "off", "on", "22:00-06:00" }[random.Next(4)],
                    ChunkMegabytes = random.Next(3) == 0 ? 8 : null,
                };
                bool hasZones = random.Next(3) == 0;
                _mayShard = random.Next(4) > 0;
                _commandsLeft = random.Next(3) == 0 ? random.Next(1, 90) : null;
                _done.Add($"{id}: {database}.{name} {asked.Balancer}/{asked.ChunkMegabytes}{(hasZones ? " zones" : "")}"
                    + $"{(_mayShard ? "" : " forbidden")}{(_commandsLeft is { } left ? $" killed at {left}" : "")}");
                Kill(() => Run(id, database, name, asked, plan => !hasZones ? plan : plan with
                {
                    Key = ShardKey.Parse("n"), Zones = [new ZoneRange(2, BsonDocument.Of(("n", 1)), BsonDocument.Of(("n", 5)))],
                }));
                break;
            case 5:
                _commandsLeft = random.Next(2) == 0 ? random.Next(1, 20) : null;
                _done.Add($"{id}: balancer in {database}{(_commandsLeft is { } until ? $" killed at {until}" : "")}");
                _runs.Add((id, database));
                Kill(() =>
                {
                    ClusterControl control = Control(id, database);
                    control.Apply(new ShardingSettings { Balancer = "off" });
                    control.Restore();
                });
                break;
            case 6 when !Read("config", "collections").Any(one => one.FindString("_id") == $"{database}.{name}")
                && !Read(database, "mongoperf").Any(one => one.FindString("_id") == name && !one.IsTrue("pending")):
                _done.Add($"administrator shards {database}.{name}");
                ShardAsAdministrator($"{database}.{name}");
                break;
            case 7:
                (string setting, string value) = random.Next(2) == 0
                    ? ("chunksize", $"{{'_id': 'chunksize', 'value': {random.Next(300, 900)}}}")
                    : ("balancer", $"{{'_id': 'balancer', 'activeWindow': {{'start': '01:{random.Next(10, 60)}', 'stop': '05:00'}}}}");
                _done.Add($"administrator sets {value}");
                SetAsAdministrator(setting, value);
                settings[setting] = Config("settings").Single(one => one.Contains($"\"{setting}\"", StringComparison.Ordinal));
                break;
            case > 7 when _runs.Count > 0:
                string cleaned = _runs[random.Next(_runs.Count)].Id;
                _commandsLeft = random.Next(2) == 0 ? random.Next(1, 40) : null;
                _done.Add($"clean {cleaned}{(_commandsLeft is { } at ? $" killed at {at}" : "")}");
                Kill(() => Clean(cleaned));
                break;
        }

        _mayShard = true;
    }

    /// <returns>False when it came to its end.</returns>
    private bool Kill(Action action)
    {
        try
        {
            action();
            return false;
        }
        catch (Exception e) when (e is IOException or MongoPerfException or ServerCommandException)
        {
            // Killed, or refused.
            return true;
        }
        finally
        {
            _commandsLeft = null;
        }
    }

    /// <summary>As a run does it: looks, takes the lease, drops what an earlier run made, makes its own, fills it.</summary>
    private void Run(string id, string database, string name, ShardingSettings settings, Func<ShardingPlan, ShardingPlan>? change = null)
    {
        if (_runs.All(run => run.Id != id))
            _runs.Add((id, database));
        var leases = new WriterLeases(database, id, id, TimeSpan.Zero);
        using WireCollection collection = Open(id, database, name, settings, leases, change);
        CollectionState state = collection.Inspect();
        if (state is { Exists: true, Marker: null, IsEmptySharded: false })
            throw new MongoPerfException(Fault.Refused, $"{database}.{name} is somebody else's", null);
        collection.Claim();
        if (state is { Exists: true, Marker: not null, IsEmptySharded: false })
            collection.Drop();
        collection.Create(new CollectionMarker(42, "", id, 0, IsGrown: false) { Token = id });
        collection.Run(database, BsonDocument.Of(("insert", name), ("documents", new[] { BsonDocument.Of(("_id", 1), ("n", 3)) })));
        using MongoConnection connection = MongoConnection.Open(_mongos.Address, ConnectionSettings.Default);
        leases.Release(connection);
    }

    /// <summary>As the command does it, but for the run's folder.</summary>
    private void Clean(string id)
    {
        string database = _runs.Single(run => run.Id == id).Database;
        using WireCollection markers = Open(id, database, WireCollection.MarkerCollection, new ShardingSettings());
        foreach (string name in markers.FindMarked(id, id))
        {
            using WireCollection collection = Open(id, database, name, new ShardingSettings());
            if (collection.Inspect() is { Exists: true, Marker: null, IsEmptySharded: false })
                collection.Forget();
            else
                collection.Drop();
        }

        markers.TakeBack();
        Control(id, database).Restore();
    }

    private ClusterControl Control(string id, string database) =>
        new(() => Cluster, ConnectionSettings.Default, database, (id, id), _clock, _told.Add);

    private ShardedCluster Cluster => new(RouterKind.Mongos, _mongos.Address, _mongos.Address,
        [new("shard0", new ServerAddress("127.0.0.1", 1)), new("shard1", new ServerAddress("127.0.0.1", 1))])
    {
        Direct = DirectAccess.Unreachable,
    };

    private WireCollection Open(string id, string database, string name, ShardingSettings settings, WriterLeases? leases = null,
        Func<ShardingPlan, ShardingPlan>? change = null)
    {
        var plan = new ShardingPlan(() => Cluster, ConnectionSettings.Default, settings, 100) { Run = id, Notify = _told.Add };
        return new WireCollection(
            new CollectionAccess(() => _mongos.Address, ConnectionSettings.Default, database, _clock, TimeSpan.Zero) { Leases = leases },
            name, null, new CollectionShape([]),
            commands => new ShardedAdministration(change?.Invoke(plan) ?? plan, database, name, _clock, commands));
    }

    private void Answer(Exchange exchange)
    {
        var command = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
        string name = command.First().Key;
        string database = command.FindString("$db")!;
        command = BsonDocument.Of([.. command.Where(field => field.Key != "$db").Select(field => (field.Key, (object?)field.Value))]);
        if (_commandsLeft == 0)
        {
            exchange.Close();
            return;
        }

        if (_commandsUntil-- == 0)
        {
            _commandsUntil = null;
            RunBetween();
        }

        bool dies = --_commandsLeft == 0;
        if (!dies || _diesBehind)
        {
            // Whatever is written, a mongos makes its database first.
            if (name is "delete" or "update" && Databases.Contains(database)
                && !Read("config", "databases").Any(one => one.FindString("_id") == database))
                Do($"{{'enableSharding': '{database}'}}", "admin");
            BsonDocument reply = name switch
            {
                "shardCollection" when !_mayShard => FakeMongos.Refusal(13, "not authorized on admin to execute command shardCollection"),
                "drop" when database == "config" =>
                    FakeMongos.Refusal(20, "Cannot drop collection in 'config' database in sharded cluster"),
                _ => Pass(command, database),
            };
            if (name is "balancerStop" or "balancerStart")
                SetAsAdministrator("automerge", $"{{'_id': 'automerge', 'enabled': {(name == "balancerStart" ? "true" : "false")}}}");
            if (!dies)
                exchange.Reply(reply);
        }

        if (dies)
            exchange.Close();
    }

    /// <summary>Runs another client after so many commands of one, or behind it when it has fewer.</summary>
    /// <returns>Whether it has as many.</returns>
    private bool Interrupt(Action one, int commands, Action other)
    {
        (_commandsUntil, _between) = (commands, other);
        one();
        bool isInterrupted = _commandsUntil is null;
        _commandsUntil = null;
        if (!isInterrupted)
            other();
        return isInterrupted;
    }

    private void RunBetween()
    {
        try
        {
            _between();
        }
        catch (Exception e) when (e is IFailure or IOException or ServerCommandException)
        {
            _told.Add(e.Message);
        }
    }

    private BsonDocument Pass(BsonDocument command, string database)
    {
        lock (_done)
            return Client.Run(command, database);
    }

    private BsonDocument Do(string json, string database) => Pass(TestClient.Json(json), database) is var reply && reply.IsTrue("ok")
        ? reply : throw new InvalidOperationException(ExtendedJson.Write(reply.Bytes));

    private void SetAsAdministrator(string id, string document) => Do(
        $"{{'update': 'settings', 'updates': [{{'q': {{'_id': '{id}'}}, 'u': {document}, 'upsert': true}}]}}", "config");

    private void ShardAsAdministrator(string ns, string key = "{'_id': 'hashed'}")
    {
        Do($"{{'enableSharding': '{ns.Split('.')[0]}'}}", "admin");
        Do($"{{'shardCollection': '{ns}', 'key': {key}}}", "admin");
    }

    private BsonDocument[] Read(string database, string collection) => [.. Do($"{{'find': '{collection}', 'batchSize': 10000}}", database)
        .FindDocument("cursor.firstBatch")!.Select(one => one.Value.ToDocument())];

    private string[] Config(string collection) => [.. Read("config", collection).Select(one => ExtendedJson.Write(one.Bytes))];

    /// <summary>What the cluster knows of itself, and how many documents there are.</summary>
    private string Snapshot()
    {
        string[] databases = [.. Read("config", "databases").Select(one => one.FindString("_id")!)];
        return string.Join('\n', [
            .. new[] { "settings", "collections", "chunks", "tags", "shards" }.SelectMany(
                name => Config(name).Select(one => $"{name} {one}")),
            .. databases.SelectMany(database => Do("{'listCollections': 1, 'nameOnly': true}", database)
                .FindDocument("cursor.firstBatch")!.Select(one => one.Value.ToDocument().FindString("name")!)
                .Order(StringComparer.Ordinal).Select(name => string.Create(CultureInfo.InvariantCulture,
                    $"{database}.{name}: {Read(database, name).Length}"))),
        ]);
    }

    private static string WithoutSettings(string snapshot) =>
        string.Join('\n', snapshot.Split('\n').Where(line => !line.StartsWith("settings ", StringComparison.Ordinal)));
}
