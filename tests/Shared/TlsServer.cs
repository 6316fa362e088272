using System.Buffers.Binary;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Testing;

/// <summary>Speaks TLS on loopback, shakes hands as mongod 6.0 does and answers every later message with the same bytes.</summary>
internal sealed class TlsServer : IDisposable
{
    private readonly ScriptedListener _listener;
    private readonly X509Certificate2 _certificate;
    private readonly byte[] _reply;

    /// <param name="certificateKeyFile">PEM, both in one.</param>
    /// <param name="reply">To every message but the first; null for ok alone.</param>
    public TlsServer(string certificateKeyFile, BsonDocument? reply = null)
    {
        using X509Certificate2 pem = X509Certificate2.CreateFromPemFile(certificateKeyFile, certificateKeyFile);
        _certificate = X509CertificateLoader.LoadPkcs12(pem.Export(X509ContentType.Pkcs12), null);
        _reply = Message(reply ?? BsonDocument.Of(("ok", 1.0)));
        _listener = new ScriptedListener("TLS server", Serve);
    }

    /// <summary>By name, so that it goes into the handshake.</summary>
    public ServerAddress Address => _listener.Address with { Host = "localhost" };

    /// <summary>The name that the last client asked for (SNI).</summary>
    public string? AskedFor { get; private set; }

    public void Dispose()
    {
        _listener.Dispose();
        _certificate.Dispose();
    }

    private static byte[] Message(BsonDocument body)
    {
        var writer = new OpMsgWriter();
        writer.Begin();
        writer.Body.WriteRaw(body.Bytes[4..^1]);
        writer.EndBody();
        return writer.Finish().ToArray();
    }

    private void Serve(Socket socket)
    {
        // As mongod does: what begins with no TLS handshake (22) is hung up on.
        byte[] first = new byte[1];
        if (socket.Receive(first, SocketFlags.Peek) == 0 || first[0] != 22)
        {
            socket.Close();
            return;
        }

        try
        {
            using var stream = new SslStream(new NetworkStream(socket));
            stream.AuthenticateAsServer(new SslServerAuthenticationOptions
            {
                ServerCertificateSelectionCallback = (_, host) =>
                {
                    AskedFor = host;
                    return _certificate;
                },
            });
            Answer(stream);
        }
        catch (Exception e) when (e is IOException or AuthenticationException)
        {
            // The client went, or did not trust the certificate.
        }
    }

    private void Answer(SslStream stream)
    {
        byte[] reply = Message(BsonDocument.Of(("ismaster", true), ("maxWireVersion", 17), ("ok", 1.0)));
        byte[] request = new byte[64 * 1024];
        while (true)
        {
            stream.ReadExactly(request, 0, 4);
            stream.ReadExactly(request, 4, BinaryPrimitives.ReadInt32LittleEndian(request) - 4);
            request.AsSpan(4, 4).CopyTo(reply.AsSpan(8));
            stream.Write(reply);
            reply = _reply;
        }
    }
}
