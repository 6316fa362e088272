using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Wire;

/// <summary>What a connection string asks of every operation arrives at the server with those that don't say so themselves.</summary>
public sealed class OperationDefaultsTests
{
    private const string All = "w=majority&journal=true&wTimeoutMS=500&readConcernLevel=majority&readPreference=secondaryPreferred&"
        + "readPreferenceTags=dc:ny&readPreferenceTags=&maxStalenessSeconds=120";

    private static readonly (string, object?) Own = ("writeConcern", BsonDocument.Of(("w", 1)));

    [Fact]
    public void A_write_gets_the_write_concern_alone()
    {
        BsonDocument sent = Send(All, BsonDocument.Of(("insert", "c")));
        Assert.Equal(("majority", true, 500),
            (sent.FindString("writeConcern.w"), sent.IsTrue("writeConcern.j"), sent.FindInt64("writeConcern.wtimeout")));
        Assert.Equal((null, null), (sent.Find("readConcern"), sent.Find("$readPreference")));
        Assert.Equal("d", sent.FindString("$db"));
    }

    [Fact]
    public void A_read_gets_the_read_concern_alone_since_its_preference_decided_where_it_went()
    {
        BsonDocument sent = Send(All, BsonDocument.Of(("find", "c")));
        Assert.Equal("majority", sent.FindString("readConcern.level"));
        Assert.Equal((null, null), (sent.Find("$readPreference"), sent.Find("writeConcern")));
    }

    [Fact]
    public void What_an_operation_says_itself_stands()
    {
        Assert.Equal(1, Send(All, BsonDocument.Of(("insert", "c"), Own)).FindInt64("writeConcern.w"));
        BsonDocument sent = Send(All, BsonDocument.Of(("find", "c"), ("$readPreference", BsonDocument.Of(("mode", "nearest"))),
            ("readConcern", BsonDocument.Of(("level", "local")))));
        Assert.Equal(("nearest", "local"), (sent.FindString("$readPreference.mode"), sent.FindString("readConcern.level")));
    }

    [Fact]
    public void Other_commands_and_commands_around_the_load_stay_as_they_are()
    {
        Assert.Equal(["serverStatus", "$db"], Send(All, BsonDocument.Of(("serverStatus", 1))).Select(e => e.Key));
        Assert.Equal(["insert", "$db"], Send("", BsonDocument.Of(("insert", "c"))).Select(e => e.Key));
        Assert.Equal(["insert", "$db"], Send(All, BsonDocument.Of(("insert", "c")), isHousekeeping: true).Select(e => e.Key));
    }

    [Fact]
    public void Document_sequences_come_through_whole()
    {
        var writer = new OpMsgWriter();
        writer.Begin();
        writer.Body.WriteString("insert"u8, "c");
        writer.EndBody("d");
        writer.BeginSequence("documents"u8);
        writer.Body.WriteRaw(BsonDocument.Of(("x", 1)).Bytes);
        writer.Body.WriteRaw(BsonDocument.Of(("x", 2)).Bytes);
        writer.EndSequence();
        byte[] sent = SendRaw("w=2", writer.Finish().ToArray());
        Assert.Equal(sent.Length, MessageHeader.Read(sent).Length);
        OpMsg message = OpMsg.Parse(sent);
        Assert.Equal(2, new BsonDocument(message.Body.ToArray()).FindInt64("writeConcern.w"));
        OpMsg.SequenceEnumerator sequences = message.Sequences;
        Assert.True(sequences.MoveNext());
        Assert.Equal(("documents", 24), (sequences.Current.NameText, sequences.Current.Documents.Length));
    }

    [Fact]
    public void A_secondary_that_was_named_directly_is_asked_as_one_and_writes_are_left_to_it_to_refuse()
    {
        BsonDocument secondary = BsonDocument.Of(("secondary", true), ("setName", "rs0"), ("maxWireVersion", 17), ("ok", 1.0));
        Assert.Equal("secondary", Send("directConnection=true&readPreference=secondary", BsonDocument.Of(("find", "c")), hello: secondary)
            .FindString("$readPreference.mode"));
        foreach (bool isHousekeeping in (bool[])[true, false])
        {
            Assert.Equal("primaryPreferred", Send("directConnection=true", BsonDocument.Of(("find", "c")), isHousekeeping, secondary)
                .FindString("$readPreference.mode"));
            Assert.Equal("primaryPreferred",
                Send("directConnection=true", BsonDocument.Of(("listCollections", 1)), isHousekeeping, secondary)
                    .FindString("$readPreference.mode"));
            Assert.Null(Send("directConnection=true", BsonDocument.Of(("insert", "c")), isHousekeeping, secondary).Find("$readPreference"));
            Assert.Null(Send("", BsonDocument.Of(("find", "c")), isHousekeeping, secondary).Find("$readPreference"));
            Assert.Null(Send("directConnection=true", BsonDocument.Of(("find", "c")), isHousekeeping).Find("$readPreference"));
        }
    }

    [Theory]
    [InlineData("insert")]
    [InlineData("find")]
    [InlineData("getMore")]
    [InlineData("commitTransaction")]
    public void Every_operation_names_the_version_of_the_API(string command)
    {
        BsonDocument sent = Send(
            "apiVersion=1&apiStrict=true&apiDeprecationErrors=true", BsonDocument.Of((command, "c"), ("autocommit", false)));
        Assert.Equal("1", sent.FindString("apiVersion"));
        Assert.True(sent.IsTrue("apiStrict") && sent.IsTrue("apiDeprecationErrors"));
        Assert.Null(Send("", BsonDocument.Of((command, "c"))).Find("apiVersion"));
    }

    [Fact]
    public void A_command_around_the_load_names_the_version_and_is_not_held_to_it()
    {
        BsonDocument sent = Send("apiVersion=1&apiStrict=true", BsonDocument.Of(("collStats", "c")), isHousekeeping: true);
        Assert.Equal("1", sent.FindString("apiVersion"));
        Assert.Null(sent.Find("apiStrict"));
    }

    [Fact]
    public void The_version_of_the_API_that_a_command_names_itself_stays()
    {
        BsonDocument sent = Send("apiVersion=1&apiStrict=true", BsonDocument.Of(("find", "c"), ("apiVersion", "2")));
        Assert.Equal("2", sent.FindString("apiVersion"));
        Assert.Null(sent.Find("apiStrict"));
    }

    [Theory]
    [InlineData("find aggregate count distinct clusterFind clusterAggregate", "readConcern")]
    [InlineData("insert update delete findAndModify findandmodify clusterInsert clusterUpdate clusterDelete create createIndexes drop "
        + "dropIndexes bulkWrite dropDatabase renameCollection collMod", "writeConcern")]
    [InlineData("getMore killCursors ping serverStatus commitTransaction listCollections inserts fin", null)]
    public void Each_command_gets_the_concern_of_its_kind(string commands, string? concern)
    {
        OperationDefaults defaults = Defaults(All);
        Assert.All(commands.Split(' '), command => Assert.Equal(
            (string?[])[command, "$db", .. concern is null ? (string[])[] : [concern]],
            Names(defaults.Apply(new OpMsgWriter().WriteCommand("d", BsonDocument.Of((command, "c")), 1)).ToArray())));
    }

    [Fact]
    public void What_is_added_is_added_whatever_its_length()
    {
        // Both have 30 bytes.
        Assert.Equal(["insert", "$db", "writeConcern", "apiVersion", "apiStrict"],
            Names(Defaults("w=1&journal=true&apiVersion=1&apiStrict=true")
                .Apply(new OpMsgWriter().WriteCommand("d", BsonDocument.Of(("insert", "c")), 1)).ToArray()));
        Assert.Equal(["insert", "autocommit", "$db", "apiVersion"],
            Names(Defaults("w=1&apiVersion=1")
                .Apply(new OpMsgWriter().WriteCommand("d", BsonDocument.Of(("insert", "c"), ("autocommit", false)), 1)).ToArray()));
    }

    [Fact]
    public void A_message_that_does_not_begin_with_a_command_stays_as_it_is()
    {
        byte[] command = new OpMsgWriter().WriteCommand("d", BsonDocument.Of(("insert", "c")), 1).ToArray();
        byte[] sequenceFirst = [.. command];
        sequenceFirst[20] = 1;
        Assert.All((byte[][])[[], command[..16], command[..20], command[..21], sequenceFirst],
            message => Assert.Equal(message, Defaults(All).Apply(message).ToArray()));
    }

    [Fact]
    public void Hello_tells_who_connects()
    {
        BsonDocument? hello = null;
        using var server = new LyingServer
        {
            Handshake = exchange =>
            {
                hello = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
                exchange.Reply(LyingServer.Hello(17));
            },
        };
        MongoConnection.Open(server.Address, ConnectionSettings.From(ConnectionString.Parse("mongodb://h/?appName=mine"))).Dispose();
        Assert.Equal(("mine", "mongoperf"), (hello!.FindString("client.application.name"), hello.FindString("client.driver.name")));
        Assert.Equal(
            Environment.OSVersion.Platform.ToString(), hello.FindString("client.os.type"));
        Assert.Matches(@"^\d+\.\d+\.\d+$", hello.FindString("client.driver.version"));
        Assert.Equal(["isMaster", "helloOk", "client", "$db"], hello.Select(element => element.Key));
    }

    [Fact]
    public void Hello_names_the_version_of_the_API()
    {
        BsonDocument? hello = null;
        using var server = new LyingServer
        {
            Handshake = exchange =>
            {
                hello = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
                exchange.Reply(LyingServer.Hello(17));
            },
        };
        MongoConnection.Open(server.Address, ConnectionSettings.From(ConnectionString.Parse("mongodb://h/?apiVersion=1"))).Dispose();
        Assert.Equal("1", hello!.FindString("apiVersion"));
    }

    [Fact]
    public void Adding_allocates_nothing()
    {
        var settings = ConnectionSettings.From(ConnectionString.Parse("mongodb://h/?" + All));
        OperationDefaults defaults = OperationDefaults.ForLoad(settings, new HelloReply(LyingServer.Hello(17)))!;
        byte[] insert = new OpMsgWriter().WriteCommand("d", BsonDocument.Of(("insert", "c")), 1).ToArray();
        byte[] find = new OpMsgWriter().WriteCommand("d", BsonDocument.Of(("find", "c")), 1).ToArray();
        Assert.Equal(0, Allocation.LeastBytes(() =>
        {
            for (int i = 0; i < 1000; i++)
            {
                _ = defaults.Apply(insert);
                _ = defaults.Apply(find);
            }
        }));
    }

    private static OperationDefaults Defaults(string options) => OperationDefaults.ForLoad(
        ConnectionSettings.From(ConnectionString.Parse("mongodb://h/?" + options)), new HelloReply(LyingServer.Hello(17)))!;

    private static IEnumerable<string> Names(byte[] message) =>
        new BsonDocument(OpMsg.Parse(message).Body.ToArray()).Select(element => element.Key);

    private static BsonDocument Send(string options, BsonDocument command, bool isHousekeeping = false, BsonDocument? hello = null)
    {
        byte[] sent = isHousekeeping
            ? SendRaw(options, null, command, hello)
            : SendRaw(options, new OpMsgWriter().WriteCommand("d", command, 1).ToArray(), null, hello);
        return new BsonDocument(OpMsg.Parse(sent).Body.ToArray());
    }

    private static byte[] SendRaw(string options, byte[]? message, BsonDocument? command = null, BsonDocument? hello = null)
    {
        byte[] seen = [];
        using var server = new LyingServer
        {
            Handshake = exchange => exchange.Reply(hello ?? LyingServer.Hello(17)),
            Answer = exchange =>
            {
                seen = exchange.Request;
                exchange.Reply(BsonDocument.Of(("ok", 1.0)));
            },
        };
        using MongoConnection connection = MongoConnection.Open(
            server.Address, ConnectionSettings.From(ConnectionString.Parse("mongodb://h/?" + options)));
        if (message is null)
            connection.RunCommand("d", command!);
        else
            connection.RoundTrip(message);
        return seen;
    }
}
