using System.Buffers.Binary;
using System.Net.Sockets;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Tyrant;

/// <summary>One TCP connection to a Tokyo Tyrant server with a table database: one request out, its response in.</summary>
/// <remarks>
/// One thread at a time; <see cref="Abort"/> may be called from any. A response does not say which request it answers, so a connection is
/// closed by whatever leaves that in doubt: a time-out, a break, a length out of bounds, bytes too many. Nothing is retried here.
/// </remarks>
public sealed class TyrantConnection : IDisposable
{
    /// <summary>The most bytes of one response; the server takes no argument beyond that either.</summary>
    public const int MaximumResponseBytes = 256 << 20;

    /// <summary>"TTP/", which follows the H of an HTTP server's answer where a number is expected.</summary>
    private const int HttpInsteadOfNumber = 0x5454502F;

    private readonly SocketTransport _transport;
    private readonly TimeSpan _replyTimeout;
    private byte[] _received;
    private int _got;
    private TimeSpan _timeout;
    private CancellationTokenRegistration _stop;

    private TyrantConnection(ServerAddress address, SocketTransport transport, ConnectionSettings settings)
    {
        Address = address;
        _transport = transport;
        _replyTimeout = settings.ReplyTimeout;
        _received = new byte[Math.Max(settings.ReceiveBufferBytes, TyrantReply.HeaderLength)];
        SetTimeout(settings.ConnectTimeout);
    }

    public ServerAddress Address { get; }

    /// <summary>What the server said of itself when the connection opened.</summary>
    public TyrantStatus Server { get; private set; } = TyrantStatus.Empty;

    /// <summary>The response that the last <see cref="Call"/> brought.</summary>
    public TyrantReply LastReply => new(_received.AsSpan(0, _got));

    /// <summary>Connects, and asks the server what it is.</summary>
    /// <exception cref="ConnectionFailedException">Not reachable, or it closed at once.</exception>
    /// <exception cref="WireProtocolException">What answers is no Tokyo Tyrant server.</exception>
    /// <exception cref="TyrantServerException">Its database is no table database.</exception>
    public static TyrantConnection Open(ServerAddress address, ConnectionSettings settings)
    {
        TyrantConnection connection;
        try
        {
            connection = new TyrantConnection(address, SocketTransport.Connect(address, settings.ConnectTimeout, settings.Stop), settings);
        }
        catch (OperationCanceledException e)
        {
            throw new ConnectionFailedException(address, "connecting was stopped", e);
        }

        try
        {
            connection._stop = settings.Stop.UnsafeRegister(static opened => ((TyrantConnection)opened!).Abort(), connection);
            connection.Server = connection.ReadStatus();
            connection.Server.RequireTable(address);
            connection.SetTimeout(settings.ReplyTimeout);
            return connection;
        }
        catch
        {
            connection.Dispose();
            throw;
        }
    }

    /// <summary>Sends a finished request.</summary>
    /// <exception cref="ConnectionFailedException">The connection broke; the request may have arrived in part.</exception>
    public void Send(ReadOnlySpan<byte> request)
    {
        try
        {
            _transport.Send(request);
            _transport.ExpectMessage();
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            throw Broken(e);
        }
    }

    /// <summary>Calls a function. Allocates nothing when it is answered.</summary>
    public TyrantReply Call(ReadOnlySpan<byte> request)
    {
        Send(request);
        return ReceiveReply();
    }

    /// <summary>Sends a request that is answered by a code alone.</summary>
    /// <returns>0 is success, anything else a failure.</returns>
    public int CallForCode(ReadOnlySpan<byte> request)
    {
        Send(request);
        _got = 0;
        Need(1);
        RequireEnd(1);
        return _received[0];
    }

    /// <summary>Sends a request that is answered by a number: rnum or size.</summary>
    /// <exception cref="WireProtocolException">The number is negative, or the code a failure, which these commands have not.</exception>
    public long CallForNumber(ReadOnlySpan<byte> request)
    {
        const int length = 1 + sizeof(long);
        Send(request);
        _got = 0;
        Need(length);
        RequireEnd(length);
        long number = BinaryPrimitives.ReadInt64BigEndian(_received.AsSpan(1));
        return _received[0] == 0 && number >= 0 ? number
            : throw Violation($"answers code {_received[0]} and the number {number}; allowed: 0 and a number from 0 on");
    }

    /// <summary>stat: what the server says of itself. Not for the measured path.</summary>
    public TyrantStatus ReadStatus()
    {
        Send(TyrantRequest.Plain(TyrantCommand.Status));
        _got = 0;
        Need(1 + sizeof(int));
        int length = ReadSize(1, "status", MaximumResponseBytes);
        Need(TyrantReply.HeaderLength + length);
        RequireEnd(TyrantReply.HeaderLength + length);
        return _received[0] == 0
            ? TyrantStatus.Parse(_received.AsSpan(TyrantReply.HeaderLength, length))
            : throw Violation($"answers code {_received[0]} to stat, allowed is 0");
    }

    /// <summary>
    /// Does something that may take longer than a response otherwise may (building an index, say); <see cref="Abort"/> ends it.
    /// </summary>
    /// <remarks>After an exception the connection waits without end, and must be disposed of.</remarks>
    public T WithoutTimeout<T>(Func<TyrantConnection, T> action)
    {
        SetTimeout(TimeSpan.Zero);
        T result = action(this);
        SetTimeout(_replyTimeout);
        return result;
    }

    /// <summary>Breaks the connection, so that a thread that waits on it wakes with a <see cref="ConnectionFailedException"/>.</summary>
    public void Abort() => _transport.Abort();

    public void Dispose()
    {
        _stop.Dispose();
        _transport.Dispose();
    }

    private TyrantReply ReceiveReply()
    {
        _got = 0;
        Need(TyrantReply.HeaderLength);
        int count = ReadSize(1, "response with elements", MaximumResponseBytes / sizeof(int));
        int length = TyrantReply.HeaderLength;
        for (int i = 0; i < count; i++)
        {
            Need(length + sizeof(int));
            length += sizeof(int) + ReadSize(length, "element", Math.Max(0, MaximumResponseBytes - length - sizeof(int)));
        }

        Need(length);
        RequireEnd(length);
        return new TyrantReply(_received.AsSpan(0, length));
    }

    private int ReadSize(int at, string what, int most)
    {
        int size = BinaryPrimitives.ReadInt32BigEndian(_received.AsSpan(at));
        if (size >= 0 && size <= most)
            return size;
        string hint = size == HttpInsteadOfNumber && _received[0] == (byte)'H' ? ": an HTTP server answers there" : "";
        throw Violation($"{what} declares {size}; allowed: 0 to {most}{hint}");
    }

    /// <summary>Receives until that many bytes of the response are there.</summary>
    /// <remarks>The buffer grows with what has arrived, not with what is declared: a lie about a length costs no memory.</remarks>
    private void Need(int length)
    {
        while (_got < length)
        {
            if (_got == _received.Length)
                Array.Resize(ref _received, 2 * _got);
            _got += ReceiveSome();
        }
    }

    private int ReceiveSome()
    {
        int count;
        try
        {
            count = _transport.Receive(_received.AsSpan(_got));
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            throw Broken(e);
        }

        if (count > 0)
            return count;
        Dispose();
        throw new ConnectionFailedException(Address, "connection closed by the server");
    }

    private void RequireEnd(int length)
    {
        if (_got > length)
            throw Violation($"{_got - length} bytes follow a response of {length} bytes");
    }

    private WireProtocolException Violation(string what)
    {
        Dispose();
        return new WireProtocolException($"{Address}: {what} (connection closed)");
    }

    private ConnectionFailedException Broken(Exception cause)
    {
        Dispose();
        return new ConnectionFailedException(
            Address, cause is SocketException e ? SocketTransport.Explain(e, _timeout) : "connection was closed by MongoPerf", cause);
    }

    private void SetTimeout(TimeSpan timeout)
    {
        _timeout = timeout;
        _transport.SetTimeouts(timeout, _replyTimeout);
    }
}
