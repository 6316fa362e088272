using System.Text;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Tyrant;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>Operations against a scripted Tokyo Tyrant server, which tells the truth or lies.</summary>
public sealed class TyrantExecutorTests : IDisposable
{
    private static readonly DocumentTemplate Documents = SeriesFile.Documents();
    private static readonly TyrantColumns TableColumns = TyrantColumns.Of(Documents.Make(0));

    private readonly ScriptedTyrant _server = new();
    private readonly TyrantExecutor _executor;

    public TyrantExecutorTests()
    {
        _executor = new TyrantExecutor(() => _server.Address, ConnectionSettings.Default, TableColumns);
        _executor.Connect();
    }

    public void Dispose()
    {
        _executor.Dispose();
        _server.Dispose();
    }

    [Fact]
    public void Acknowledged_inserts_are_puts_of_the_templates_documents()
    {
        IPreparedOperation insert = Prepare("safe", documents: 2);
        var sent = new List<string[]>();
        _server.Answer = exchange =>
        {
            sent.Add(TyrantRequestReader.ReadFunction(exchange.Request));
            exchange.Send(ScriptedTyrant.Reply(0));
        };
        for (int i = 0; i < 2; i++)
            Assert.Equal(new OperationOutcome(true, 1, Key(i).Length + Columns(i).Length), Run(insert));
        Assert.False(insert.Draw());
        Assert.Equal(
            Enumerable.Range(0, 2).Select(i => (string[])["put", Key(i), .. Columns(i).Split('\0')]),
            sent);
        Assert.Equal(default, insert.Verify());
    }

    [Fact]
    public void A_batch_is_one_putlist_and_the_last_one_is_shorter()
    {
        IPreparedOperation insert = Prepare("batch", documents: 13);
        var sent = new List<string[]>();
        _server.Answer = exchange =>
        {
            sent.Add(TyrantRequestReader.ReadFunction(exchange.Request));
            exchange.Send(ScriptedTyrant.Reply(0));
        };
        Assert.Equal(10, Run(insert).Documents);
        Assert.Equal(3, Run(insert).Documents);
        Assert.False(insert.Draw());
        Assert.All(sent, call => Assert.Equal("putlist", call[0]));
        Assert.Equal(Enumerable.Range(0, 13).SelectMany(i => (string[])[Key(i), Columns(i)]), sent.SelectMany(call => call[1..]));
    }

    [Fact]
    public void Unacknowledged_inserts_wait_for_nothing_but_their_fence()
    {
        IPreparedOperation insert = Prepare("unack");
        var sent = new List<byte[]>();
        _server.Answer = exchange =>
        {
            sent.Add(exchange.Request);
            if (exchange.Request[1] == 0x80)
                exchange.Send("000000000000000003");
        };
        for (int i = 0; i < 3; i++)
            Assert.True(Run(insert).Succeeded);
        insert.Complete();
        Assert.Equal([0x18, 0x18, 0x18, 0x80], sent.Select(request => request[1]));
        Assert.Equal(Key(2) + Columns(2), Encoding.UTF8.GetString(sent[2].AsSpan(10)));
    }

    [Theory]
    [InlineData("safe")]
    [InlineData("batch")]
    [InlineData("q4")]
    public void A_refusal_is_no_success_and_the_connection_goes_on(string test)
    {
        IPreparedOperation operation = Prepare(test);
        _server.Answer = exchange => exchange.Send(ScriptedTyrant.Reply(1));
        Assert.Equal(default, Run(operation));
        Assert.Equal((1, "TyrantFailure"), (operation.LastError!.Code, operation.LastError.Name));
        Assert.StartsWith("Tokyo Tyrant answered code 1", operation.LastError.Message, StringComparison.Ordinal);
        Assert.False(operation.LastError.MeansNoPrimary);
        _server.Answer = exchange => exchange.Send(ScriptedTyrant.Reply(0));
        Assert.True(Run(operation).Succeeded);
    }

    [Theory]
    [InlineData("a length of 2 GB", nameof(WireProtocolException))]
    [InlineData("two responses", nameof(WireProtocolException))]
    [InlineData("a close at once", nameof(ConnectionFailedException))]
    [InlineData("a close in the middle", nameof(ConnectionFailedException))]
    [InlineData("a reset", nameof(ConnectionFailedException))]
    public void A_lie_is_found_out_and_a_new_connection_works(string lie, string failure)
    {
        IPreparedOperation find = Prepare("q4");
        _server.Answer = exchange => Tell(lie, exchange);
        Exception e = Assert.ThrowsAny<Exception>(() => Run(find));
        Assert.Equal(failure, e.GetType().Name);
        Assert.True(ErrorTally.BreaksConnection(e));
        _server.Answer = exchange => exchange.Send(ScriptedTyrant.Reply(0, Element(7)));
        _executor.Connect();
        Assert.Equal(new OperationOutcome(true, 1, Element(7).Length), Run(find));
    }

    [Fact]
    public void Each_find_draws_its_values_and_says_them_to_the_server()
    {
        IPreparedOperation find = Prepare("q5");
        var drawn = new List<(int, int)>();
        _server.Answer = exchange =>
        {
            string[] call = TyrantRequestReader.ReadFunction(exchange.Request);
            Assert.Equal(["search", "setlimit\010\00", "get\0Number\0Number1"],
                call.Where(text => !text.StartsWith("addcond", StringComparison.Ordinal)));
            string[][] conditions = [.. call[1..3].Select(text => text.Split('\0'))];
            Assert.Equal("Number 10, Number1 10", string.Join(", ", conditions.Select(condition => string.Join(' ', condition[1..3]))));
            drawn.Add((int.Parse(conditions[0][3]), int.Parse(conditions[1][3])));
            exchange.Send(ScriptedTyrant.Reply(0));
        };
        for (int i = 0; i < 200; i++)
            Run(find);
        Assert.Equal(200, drawn.Distinct().Count());
        Assert.All(drawn, d => Assert.True(d.Item1 is >= 0 and < 900_000 && d.Item2 is >= 0 and < 900_000));
    }

    [Fact]
    public void The_record_of_the_drawn_key_is_right() => Assert.Equal(new VerificationOutcome(1, 0), VerifyFind(Element(7)));

    [Fact]
    public void A_record_that_is_wrong_in_anything_is_found()
    {
        byte[] right = Element(7);
        byte[] changed = [.. right];
        changed[^1] ^= 1;
        byte[] otherKey = [.. right];
        otherKey[5] = (byte)'x';
        Assert.Equal(new VerificationOutcome(1, 1), VerifyFind(changed));
        Assert.Equal(new VerificationOutcome(1, 1), VerifyFind(otherKey));
        Assert.Equal(new VerificationOutcome(1, 1), VerifyFind(right[..^1]));
        Assert.Equal(new VerificationOutcome(1, 1), VerifyFind([.. right, (byte)'x']));
        Assert.Equal(new VerificationOutcome(1, 1), VerifyFind((byte[])[]));
        Assert.Equal(new VerificationOutcome(1, 1), VerifyFind(Element(8)));
        Assert.Equal(new VerificationOutcome(2, 1), VerifyFind(right, "nonsense"u8.ToArray()));
        // None at all is one wrong.
        Assert.Equal(new VerificationOutcome(1, 1), VerifyFind());
    }

    /// <summary>Tokyo Tyrant compares texts as it likes, and its marker is a record among others.</summary>
    [Theory]
    [InlineData("q4")]
    [InlineData("q7")]
    public void Records_of_other_searches_are_not_compared(string name)
    {
        IPreparedOperation operation = Prepare(name);
        _server.Answer = exchange => exchange.Send(ScriptedTyrant.Reply(0, Element(1)));
        Run(operation);
        Assert.Equal(default, operation.Verify());
    }

    [Fact]
    public void What_Tokyo_Tyrant_can_not_do_is_refused_before_anything_is_sent()
    {
        _server.Answer = _ => throw new InvalidOperationException("nothing is to be sent");
        Refused(SeriesFile.Insert("safe", set: [KeyValuePair.Create("journal", "true")]),
            "j: true is not possible with Tokyo Tyrant, which has no journal");
        Refused(SeriesFile.Insert("batch") with { Concerns = SeriesFile.Insert("unack").Concerns },
            "unacknowledged inserts of 10 documents");
        Refused(SeriesFile.Find("q7") with { Filter = DocumentValue.Of(BsonDocument.Of(("$or", Array.Empty<int>()))) },
            "Tokyo Tyrant can't filter with '$or'");
    }

    [Fact]
    public void A_server_without_a_table_is_refused_at_connecting()
    {
        _server.Status = exchange => exchange.Send(ScriptedTyrant.StatusReply("hash"));
        Assert.Contains("of type 'hash', a table database is needed",
            Assert.Throws<TyrantServerException>(_executor.Connect).Message, StringComparison.Ordinal);
        Assert.Throws<ConnectionFailedException>(() => _executor.Connection);
    }

    [Fact]
    public void Where_the_server_is_is_asked_at_each_attempt_and_the_hook_comes_before_all_but_the_first()
    {
        using var another = new ScriptedTyrant();
        var calls = new List<string>();
        using var executor = new TyrantExecutor(Address, ConnectionSettings.Default, TableColumns, () => calls.Add("hook"));
        executor.Connect();
        Assert.Equal(_server.Address, executor.Connection.Address);
        executor.Connect();
        Assert.Equal(another.Address, executor.Connection.Address);
        Assert.Equal(["address", "hook", "address"], calls);

        ServerAddress Address()
        {
            calls.Add("address");
            return calls.Count == 1 ? _server.Address : another.Address;
        }
    }

    [Theory]
    [InlineData("safe")]
    [InlineData("q5")]
    public void An_operation_allocates_nothing(string test)
    {
        IPreparedOperation operation = Prepare(test);
        byte[] reply = ScriptedTyrant.Reply(0);
        _server.Answer = exchange => exchange.Send(reply);
        bool succeeded = true;
        Repeat(100);
        Assert.Equal(0, Allocation.LeastBytes(() => Repeat(2_000)));
        Assert.True(succeeded);

        void Repeat(int times)
        {
            for (int i = 0; i < times; i++)
                succeeded &= operation.Draw() && operation.Execute().Succeeded;
        }
    }

    private static void Tell(string lie, TyrantExchange exchange)
    {
        byte[] reply = ScriptedTyrant.Reply(0, Element(7));
        switch (lie)
        {
            case "a length of 2 GB": reply.AsSpan(5, 4).Fill(0x7F); break;
            case "two responses": reply = [.. reply, .. reply]; break;
            case "a close at once": exchange.Close(); return;
            case "a close in the middle":
                exchange.Send(reply.AsSpan(0, reply.Length / 2));
                exchange.Close();
                return;
            case "a reset": exchange.Reset(); return;
            default: throw new ArgumentException(lie, nameof(lie));
        }

        exchange.Send(reply);
    }

    private static OperationOutcome Run(IPreparedOperation operation)
    {
        Assert.True(operation.Draw());
        return operation.Execute();
    }

    private static TyrantRecord Record(long number)
    {
        var record = new TyrantRecord();
        record.Read(Documents.Make(number).Bytes);
        return record;
    }

    private static string Key(long number) => Encoding.UTF8.GetString(Record(number).Key);

    private static string Columns(long number) => Encoding.UTF8.GetString(Record(number).Columns);

    /// <summary>As a search that fetches gives it.</summary>
    private static byte[] Element(long number) => Encoding.UTF8.GetBytes($"\0{Key(number)}\0{Columns(number)}");

    private VerificationOutcome VerifyFind(params byte[][] elements)
    {
        FindDocuments find = SeriesFile.Find("q7") with
        {
            Filter = DocumentValue.Of(("_id", ReferenceValue.Of(Documents, Documents.Id))), IsOfKey = true,
            Expected = Documents, Chooser = new OneKey(7),
        };
        IPreparedOperation operation = _executor.Prepare(find, new OperationContext(42, 0, null));
        _server.Answer = exchange => exchange.Send(ScriptedTyrant.Reply(0, elements));
        Assert.Equal(elements.Length, Run(operation).Documents);
        return operation.Verify();
    }

    private void Refused(Operation operation, string text) => Assert.StartsWith(
        text, Assert.Throws<OperationLimitException>(() =>
            _executor.Prepare(operation, new OperationContext(42, 0, new NumberSource(0, 1)))).Message, StringComparison.Ordinal);

    private IPreparedOperation Prepare(string test, long documents = 1_000_000) =>
        _executor.Prepare(SeriesFile.Operation(test), new OperationContext(42, 0, new NumberSource(0, documents)));

    private sealed class OneKey(long key) : KeyChooser(new KeySpace(long.MaxValue))
    {
        private protected override long Draw(ref RandomStream random) => key;
    }
}
