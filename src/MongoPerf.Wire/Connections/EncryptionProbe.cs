using System.Net.Sockets;
using System.Security.Authentication;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Connections;

/// <summary>When a server hangs up before it has said anything: looks whether it wanted TLS, or wanted none, so that the user need not guess.</summary>
internal static class EncryptionProbe
{
    /// <summary>The server answered once already, so this is quick or nothing.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    /// <returns>What to do; null when this is not what is wrong.</returns>
    public static string? Explain(ServerAddress server, ConnectionSettings settings)
    {
        if (settings.Tls is null)
            return !server.IsUnixSocket && SpeaksTls(server) ? "this server takes TLS connections only: add tls=true" : null;
        if (settings.Tls != TlsSettings.AnyServer && SpeaksPlain(server))
            return "this server does not speak TLS: leave tls out (with mongodb+srv, which asks for it, add tls=false)";
        return null;
    }

    private static bool SpeaksTls(ServerAddress server)
    {
        try
        {
            SocketTransport socket = SocketTransport.Connect(server, Patience);
            socket.SetTimeout(Patience);
            TlsTransport.Open(server, socket, TlsSettings.AnyServer).Dispose();
            return true;
        }
        catch (TlsFailedException e)
        {
            // An alert is TLS too; what is no TLS at all fails in the framing.
            return e.InnerException is AuthenticationException { InnerException: not null };
        }
        catch (Exception e) when (e is IOException or SocketException)
        {
            return false;
        }
    }

    private static bool SpeaksPlain(ServerAddress server)
    {
        try
        {
            SocketTransport socket = SocketTransport.Connect(server, Patience);
            using (socket)
            {
                socket.SetTimeout(Patience);
                socket.Send(new OpMsgWriter().WriteCommand("admin", Bson.BsonDocument.Of(("isMaster", 1)), requestId: 1));
                byte[] header = new byte[MessageHeader.Size];
                return socket.Receive(header) == header.Length && MessageHeader.Read(header) is { OpCode: OpCode.Msg, ResponseTo: 1 };
            }
        }
        catch (Exception e) when (e is IOException or SocketException)
        {
            return false;
        }
    }
}
