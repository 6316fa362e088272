using System.Net.Sockets;
using System.Security.Authentication;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Connections;

/// <summary>
/// When a server hangs up before it has said anything: looks whether it wanted TLS, or wanted none, so that the user need not guess.
/// </summary>
internal static class EncryptionProbe
{
    /// <summary>The server answered once already, so this is quick or nothing. The settings may say less.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    /// <summary>The server took the connection, with TLS when that was asked for, and closed it without a word.</summary>
    /// <returns>What to do; null when this is not what is wrong.</returns>
    public static string? ExplainSilence(ServerAddress server, ConnectionSettings settings) => settings.Tls switch
    {
        null => !server.IsUnixSocket && SpeaksTls(server, settings.ConnectingWithin(Patience).ConnectTimeout)
            ? "this server takes TLS connections only: add tls=true"
            : null,
        // With TLS 1.3 a server looks at the client's certificate when the client holds the handshake for done; mongod says nothing then.
        { HasClientCertificate: false } =>
            "the server closed the connection after the TLS handshake: it may require a client certificate: add tlsCertificateKeyFile=FILE",
        _ => "the server closed the connection after the TLS handshake: it may not trust this client's certificate (tlsCertificateKeyFile)",
    };

    /// <summary>The TLS handshake was cut.</summary>
    /// <inheritdoc cref="ExplainSilence"/>
    public static string? ExplainNoTls(ServerAddress server, ConnectionSettings settings) =>
        SpeaksPlain(server, settings.ConnectingWithin(Patience).ConnectTimeout)
            ? "this server does not speak TLS: leave tls out (with mongodb+srv, which asks for it, add tls=false)"
            : null;

    private static bool SpeaksTls(ServerAddress server, TimeSpan patience)
    {
        try
        {
            SocketTransport socket = SocketTransport.Connect(server, patience);
            socket.SetTimeouts(patience, patience);
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

    private static bool SpeaksPlain(ServerAddress server, TimeSpan patience)
    {
        try
        {
            SocketTransport socket = SocketTransport.Connect(server, patience);
            using (socket)
            {
                socket.SetTimeouts(patience, patience);
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
