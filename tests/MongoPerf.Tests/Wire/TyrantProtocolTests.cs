using System.Text;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Tests.Wire;

/// <summary>Requests and responses byte for byte as exchanged with a server of version 1.1.41; and a server that lies.</summary>
public sealed class TyrantProtocolTests : IDisposable
{
    private const string SetIndexCreateTime = "c890000000080000000000000002736574696e6465780000000a43726561746554696d650000000131";

    private const string PutNews =
        "c89000000003000000000000000b7075740000000131000000055469746c650000000568656c6c6f0000000a43617465676f7279494400000001370000000a4372"
        + "6561746554696d65"
        + "0000000a3132363731383432383000000006557365724944000000023432000000045461677300000003612c62";

    private const string PutWithoutLog = "c8900000000300000001000000037075740000000132000000055469746c650000000178";
    private const string PutKeep = "c8900000000700000000000000037075746b6565700000000131000000055469746c650000000179";
    private const string GetNews = "c8900000000300000000000000016765740000000131";

    private const string GotNews =
        "000000000a000000055469746c650000000568656c6c6f0000000a43617465676f7279494400000001370000000a43726561746554696d650000000a3132363731"
        + "3834323830"
        + "00000006557365724944000000023432000000045461677300000003612c62";

    private const string SearchNews =
        "c89000000006000000000000000473656172636800000016616464636f6e640043617465676f7279494400380037000000157365746f7264657200437265617465"
        + "54696d6500330000000d"
        + "7365746c696d6974003130003000000003676574";

    private const string FoundNews =
        "0000000001000000440031005469746c650068656c6c6f0043617465676f7279494400370043726561746554696d650031323637313834323830005573657249"
        + "4400343200546167"
        + "7300612c62";

    private const string NoSuchFunction = "c8900000000600000000000000006e6f73756368";
    private const string Done = "0000000000";
    private const string Failed = "0100000000";

    private readonly ScriptedTyrant _server = new();

    public void Dispose() => _server.Dispose();

    [Fact]
    public void Requests_are_those_of_a_real_exchange()
    {
        Assert.Equal(SetIndexCreateTime, Function("setindex", changes: true, "CreateTime", "1"));
        Assert.Equal(PutNews, Function("put", changes: true, "1", "Title", "hello", "CategoryID", "7", "CreateTime", "1267184280",
            "UserID", "42", "Tags", "a,b"));
        Assert.Equal(PutWithoutLog, Function("put", changes: false, "2", "Title", "x"));
        Assert.Equal(PutKeep, Function("putkeep", changes: true, "1", "Title", "y"));
        Assert.Equal(GetNews, Function("get", changes: true, "1"));
        Assert.Equal(SearchNews,
            Function("search", changes: true, "addcond\0CategoryID\08\07", "setorder\0CreateTime\03", "setlimit\010\00", "get"));
        Assert.Equal(NoSuchFunction, Function("nosuch", changes: true));
        Assert.Equal("c880", Convert.ToHexStringLower(TyrantRequest.Plain(TyrantCommand.RecordCount)));
    }

    [Fact]
    public void A_request_by_key_has_the_lengths_first_and_then_the_texts()
    {
        var request = new TyrantRequest();
        request.StartRecord(TyrantCommand.PutUnacknowledged, "k1"u8, "a\0b"u8);
        Assert.Equal("c8180000000200000003" + "6b31" + "610062", Convert.ToHexStringLower(request.Written));
    }

    [Fact]
    public void Responses_of_a_real_exchange_are_understood()
    {
        using TyrantConnection connection = Open();
        Assert.Equal(0, Call(connection, SetIndexCreateTime, Done).Code);
        Assert.Equal(1, Call(connection, PutKeep, Failed).Code);
        Assert.Equal(1, Call(connection, NoSuchFunction, Failed).Code);
        Assert.Equal(["Title", "hello", "CategoryID", "7", "CreateTime", "1267184280", "UserID", "42", "Tags", "a,b"],
            Call(connection, GetNews, GotNews).Elements);
        Assert.Equal(["\01\0Title\0hello\0CategoryID\07\0CreateTime\01267184280\0UserID\042\0Tags\0a,b"],
            Call(connection, SearchNews, FoundNews).Elements);
        _server.Answer = exchange => exchange.Send("000000000000000002");
        Assert.Equal(2, connection.CallForNumber(TyrantRequest.Plain(TyrantCommand.RecordCount)));
        _server.Answer = exchange => exchange.Send("00");
        Assert.Equal(0, connection.CallForCode(TyrantRequest.Plain(TyrantCommand.Vanish)));
    }

    [Fact]
    public void A_response_may_come_in_any_two_pieces()
    {
        using TyrantConnection connection = Open(new ConnectionSettings { ReceiveBufferBytes = 8 });
        byte[] reply = Convert.FromHexString(GotNews);
        int split = 0;
        _server.Answer = exchange =>
        {
            exchange.Send(reply.AsSpan(0, split));
            Thread.Yield();
            exchange.Send(reply.AsSpan(split));
        };
        for (split = 1; split < reply.Length; split++)
            Assert.Equal(10, connection.Call(Convert.FromHexString(GetNews)).Count);
    }

    /// <summary>What is sent instead of an answer to a search, and what comes of it.</summary>
    [Theory]
    [InlineData("00ffffffff", "declares -1; allowed: 0 to")]
    [InlineData("007fffffff", "declares 2147483647; allowed: 0 to")]
    [InlineData("0000000001ffffffff", "element declares -1; allowed: 0 to")]
    [InlineData("00000000027fffffff", "element declares 2147483647; allowed: 0 to")]
    [InlineData("000000000000", "1 bytes follow a response of 5 bytes")]
    [InlineData("00000000010000000161ff", "1 bytes follow a response of 10 bytes")]
    [InlineData("485454502f312e31", "an HTTP server answers there")]
    public void A_response_out_of_bounds_closes_the_connection(string answer, string text)
    {
        using TyrantConnection connection = Open();
        _server.Answer = exchange => exchange.Send(answer);
        var e = Assert.Throws<WireProtocolException>(() => connection.Call(Convert.FromHexString(SearchNews)));
        Assert.Contains(text, e.Message, StringComparison.Ordinal);
        Assert.EndsWith("(connection closed)", e.Message, StringComparison.Ordinal);
        Assert.Throws<ConnectionFailedException>(() => connection.Call(Convert.FromHexString(SearchNews)));
    }

    [Theory]
    [InlineData("0000", "1 bytes follow a response of 1 bytes")]
    [InlineData("01", null)]
    [InlineData("ff", null)]
    public void A_code_is_one_byte_and_all_but_zero_are_failures(string answer, string? text)
    {
        using TyrantConnection connection = Open();
        _server.Answer = exchange => exchange.Send(answer);
        byte[] vanish = TyrantRequest.Plain(TyrantCommand.Vanish);
        if (text is null)
            Assert.NotEqual(0, connection.CallForCode(vanish));
        else
            Assert.Contains(
                text, Assert.Throws<WireProtocolException>(() => connection.CallForCode(vanish)).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("010000000000000002")]
    [InlineData("00ffffffffffffffff")]
    [InlineData("0000000000000000020b")]
    public void A_number_comes_with_code_0_and_alone(string answer)
    {
        using TyrantConnection connection = Open();
        _server.Answer = exchange => exchange.Send(answer);
        Assert.Throws<WireProtocolException>(() => connection.CallForNumber(TyrantRequest.Plain(TyrantCommand.RecordCount)));
    }

    [Fact]
    public void A_great_length_that_is_not_sent_costs_no_memory()
    {
        using TyrantConnection connection = Open(new ConnectionSettings { ReceiveBufferBytes = 1024 });
        _server.Answer = exchange =>
        {
            exchange.Send("00000000010f000000");
            exchange.Close();
        };
        long before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Throws<ConnectionFailedException>(() => connection.Call(Convert.FromHexString(SearchNews)));
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 1 << 20);
    }

    [Theory]
    [InlineData("close")]
    [InlineData("close in the middle")]
    [InlineData("reset")]
    public void A_cut_connection_is_said_so(string kind)
    {
        using TyrantConnection connection = Open();
        _server.Answer = exchange =>
        {
            if (kind == "close in the middle")
                exchange.Send("0000000001000000");
            if (kind == "reset")
                exchange.Reset();
            else
                exchange.Close();
        };
        var e = Assert.Throws<ConnectionFailedException>(() => connection.Call(Convert.FromHexString(SearchNews)));
        Assert.Contains("connection closed by the server", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_response_that_comes_too_late_is_never_the_next_ones()
    {
        using TyrantConnection connection = Open(new ConnectionSettings { ReplyTimeout = TimeSpan.FromSeconds(0.3) });
        using var timedOut = new ManualResetEventSlim(false);
        _server.Answer = exchange =>
        {
            timedOut.Wait(TimeSpan.FromSeconds(20));
            exchange.Send(Done);
        };
        var e = Assert.Throws<ConnectionFailedException>(() => connection.Call(Convert.FromHexString(GetNews)));
        Assert.EndsWith("no answer within 0.3 s", e.Message, StringComparison.Ordinal);
        timedOut.Set();
        e = Assert.Throws<ConnectionFailedException>(() => connection.Call(Convert.FromHexString(GetNews)));
        Assert.EndsWith("connection was closed by MongoPerf", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Abort_wakes_a_call_that_waits()
    {
        using TyrantConnection connection = Open();
        _server.Answer = _ => ThreadPool.QueueUserWorkItem(_ => connection.Abort());
        Assert.Throws<ConnectionFailedException>(() => connection.Call(Convert.FromHexString(GetNews)));
    }

    [Fact]
    public void Status_is_read_when_the_connection_opens()
    {
        using TyrantConnection connection = Open();
        Assert.Equal(("1.1.41", "table", "news.tct"), (connection.Server.Version, connection.Server.Type, connection.Server.Path));
        Assert.Equal((2L, null, null),
            (connection.Server.FindInt64("rnum"), connection.Server.FindInt64("version"), connection.Server.Find("no such")));
    }

    [Theory]
    [InlineData("on-memory hash")]
    [InlineData("B+ tree")]
    public void A_database_without_columns_is_refused(string type)
    {
        _server.Status = exchange => exchange.Send(ScriptedTyrant.StatusReply(type));
        var e = Assert.Throws<TyrantServerException>(() => Open());
        Assert.Equal($"{_server.Address}: this Tokyo Tyrant server's database is of type '{type}', a table database is needed", e.Message);
    }

    [Theory]
    [InlineData("HTTP/1.1 400 Bad Request\r\n\r\n", nameof(WireProtocolException), "an HTTP server answers there")]
    [InlineData("\u0001\0\0\0\0", nameof(WireProtocolException), "answers code 1 to stat")]
    [InlineData("", nameof(ConnectionFailedException), "connection closed by the server")]
    [InlineData("\0\0\0\0\u0003abc", nameof(TyrantServerException), "of type 'unknown'")]
    public void What_is_no_Tokyo_Tyrant_is_found_out_when_the_connection_opens(string answer, string failure, string text)
    {
        _server.Status = exchange =>
        {
            exchange.Send(Encoding.UTF8.GetBytes(answer));
            exchange.Close();
        };
        Exception e = Assert.ThrowsAny<Exception>(() => Open());
        Assert.Equal(failure, e.GetType().Name);
        Assert.Contains(text, e.Message, StringComparison.Ordinal);
    }

    private static string Function(string name, bool changes, params string[] arguments)
    {
        var request = new TyrantRequest();
        request.StartFunction(Encoding.UTF8.GetBytes(name), changes);
        foreach (string argument in arguments)
            request.AddArgument(argument);
        string hex = Convert.ToHexStringLower(request.Written);
        // Both ways of writing words give the same bytes.
        request.StartFunction(Encoding.UTF8.GetBytes(name), changes);
        foreach (string argument in arguments)
        {
            string[] words = argument.Split('\0');
            request.StartArgument(Encoding.UTF8.GetBytes(words[0]));
            foreach (string word in words.AsSpan(1))
                request.AddWord(Encoding.UTF8.GetBytes(word));
            request.EndArgument();
        }

        Assert.Equal(hex, Convert.ToHexStringLower(request.Written));
        return hex;
    }

    private TyrantConnection Open(ConnectionSettings? settings = null) =>
        TyrantConnection.Open(_server.Address, settings ?? ConnectionSettings.Default);

    /// <summary>One exchange: the server must get that request, and gives that response.</summary>
    private (int Code, string[] Elements) Call(TyrantConnection connection, string request, string response)
    {
        string? sent = null;
        _server.Answer = exchange =>
        {
            sent = exchange.Hex;
            exchange.Send(response);
        };
        TyrantReply reply = connection.Call(Convert.FromHexString(request));
        Assert.Equal(request, sent);
        var elements = new List<string>();
        foreach (ReadOnlySpan<byte> element in reply)
            elements.Add(Encoding.UTF8.GetString(element));
        Assert.Equal(reply.Count, elements.Count);
        Assert.Equal(elements.Sum(Encoding.UTF8.GetByteCount), reply.ElementBytes);
        return (reply.Code, [.. elements]);
    }
}
