using System.Net;
using System.Net.Sockets;
using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Server;

public sealed class WatchedConnectionTests
{
    /// <summary>
    /// Its next command is read while the watch looks: between two looks at the socket, "something has come" and "nothing is left"
    /// would both be true.
    /// </summary>
    [Fact]
    public async Task Client_that_sends_its_next_command_early_has_not_left()
    {
        const int Commands = 12;
        using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        using var client = new TestClient(((IPEndPoint)listener.LocalEndPoint!).Port);
        using var session = new SlowSession();
        using var connection = new Connection(await listener.AcceptAsync(), 1, new NetworkCounters(),
            new ByteBudget(1 << 20), new HeapReturn());
        using var ended = new CancellationTokenSource();
        Task served = Task.Factory.StartNew(() => connection.Serve(session), TaskCreationOptions.LongRunning);
        Task watched = Task.Factory.StartNew(() => WatchAtEnds(connection, session, ended.Token), TaskCreationOptions.LongRunning);

        byte[] command = new OpMsgWriter().WriteCommand("test", TestClient.Json("{'ping': 1}"), 1).ToArray();
        client.Send(command);
        for (int i = 0; i < Commands; i++)
        {
            session.Begun.Wait();
            client.Send(command);
            Assert.NotNull(client.ReceiveMessage());
        }

        Assert.NotNull(client.ReceiveMessage());
        await ended.CancelAsync();
        await watched;
        Assert.False(session.HasClientLeft);
        client.Dispose();
        await served;
    }

    private static void WatchAtEnds(Connection connection, SlowSession session, CancellationToken ended)
    {
        while (!ended.IsCancellationRequested)
        {
            if (session.IsEnding)
                connection.Watch();
            else
                Thread.Sleep(1);
        }
    }

    private sealed class SlowSession : ICommandSession
    {
        public SemaphoreSlim Begun { get; } = new(0);

        public bool IsEnding { get => Volatile.Read(ref field); private set => Volatile.Write(ref field, value); }

        public bool HasClientLeft { get => Volatile.Read(ref field); private set => Volatile.Write(ref field, value); }

        public void Handle(in CommandRequest request, ReplyWriter reply)
        {
            IsEnding = false;
            Begun.Release();
            // Watched from 100 ms on.
            Thread.Sleep(105);
            IsEnding = true;
            Thread.Sleep(5);
            reply.Succeed();
        }

        public void ClientLeft() => HasClientLeft = true;

        public void Dispose() => Begun.Dispose();
    }
}
