using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;

namespace MongoPerf.Wire.Connections;

/// <summary>Whom to trust and who to be: files are read once, for all connections. Immutable, for any thread; prints no secret.</summary>
public sealed class TlsSettings
{
    /// <summary>What refused a certificate is not asked here.</summary>
    private static readonly ServerAddress NoServer = new("", 0);

    private X509Certificate2Collection? _authorities;
    private SslStreamCertificateContext? _client;

    private TlsSettings()
    {
    }

    /// <summary>Any certificate is taken, whoever signed it.</summary>
    public bool AllowInvalidCertificates { get; private init; }

    /// <summary>The certificate need not be the host's.</summary>
    public bool AllowInvalidHostnames { get; private init; }

    /// <summary>Asks the certificate's authority whether it was revoked; drivers don't unless they are told to.</summary>
    public bool CheckRevocation { get; private init; }

    /// <summary>tlsCAFile is given: its authorities are trusted and no others.</summary>
    internal bool HasAuthorities => _authorities is not null;

    public bool HasClientCertificate => _client is not null;

    /// <summary>The client certificate with its key; null when there is none.</summary>
    public X509Certificate2? ClientCertificate => _client?.TargetCertificate;

    /// <summary>The settings for looking whether a server speaks TLS at all: nothing is verified and nothing must be sent.</summary>
    internal static TlsSettings AnyServer { get; } = new() { AllowInvalidCertificates = true, AllowInvalidHostnames = true };

    /// <exception cref="ConnectionStringException">
    /// A file is missing or holds something else, or the password does not open the key.
    /// </exception>
    public static TlsSettings Load(ConnectionString uri)
    {
        try
        {
            return new()
            {
                AllowInvalidCertificates = uri.TlsAllowInvalidCertificates,
                AllowInvalidHostnames = uri.TlsAllowInvalidHostnames,
                CheckRevocation = uri.TlsChecksRevocation,
                _authorities = uri.TlsCAFile is { } file ? PemFiles.ReadAuthorities("tlsCAFile", file) : null,
                _client = uri.TlsCertificateKeyFile is { } pem
                    ? PemFiles.ReadIdentity(
                        "tlsCertificateKeyFile", pem, uri.TlsCertificateKeyFilePassword, "tlsCertificateKeyFilePassword")
                    : null,
            };
        }
        catch (PemFileException e)
        {
            throw new ConnectionStringException(e.Message);
        }
    }

    public override string ToString() => $"TLS{(HasClientCertificate ? " with a client certificate" : "")}";

    /// <summary>
    /// Checks for a client whose library takes no policy: as RemoteCertificateValidationCallback it trusts the same servers as our own
    /// connections do.
    /// </summary>
    public bool Check(object sender, X509Certificate? certificate, X509Chain? chain, SslPolicyErrors errors)
    {
        if (certificate is X509Certificate2 own)
        {
            using var ours = new X509Chain { ChainPolicy = MakePolicy() };
            foreach (X509ChainElement element in chain?.ChainElements ?? Enumerable.Empty<X509ChainElement>())
                ours.ChainPolicy.ExtraStore.Add(element.Certificate);
            errors = ours.Build(own)
                ? errors & ~SslPolicyErrors.RemoteCertificateChainErrors
                : errors | SslPolicyErrors.RemoteCertificateChainErrors;
        }

        return new CertificateVerdict(NoServer, this).Check(sender, certificate, chain, errors);
    }

    /// <summary>Speaks TLS over a connection, and judges the server's certificate.</summary>
    /// <param name="connection">Just made; belongs to the stream, also when this fails.</param>
    /// <param name="server">Its name goes into the handshake (SNI) and is compared with the certificate's.</param>
    /// <exception cref="TlsFailedException">The certificate is not to be trusted, or the server refused the handshake.</exception>
    /// <exception cref="IOException">
    /// The connection broke, as it does when a plain server is asked for TLS; a SocketException may come too.
    /// </exception>
    public SslStream Secure(Stream connection, ServerAddress server)
    {
        var stream = new SslStream(connection, leaveInnerStreamOpen: false);
        var verdict = new CertificateVerdict(server, this);
        try
        {
            stream.AuthenticateAsClient(ToOptions(server, verdict.Check));
            return stream;
        }
        catch (AuthenticationException e)
        {
            stream.Dispose();
            throw new TlsFailedException(server, verdict.Refusal ?? TlsTransport.Explain(e), e);
        }
        catch
        {
            stream.Dispose();
            throw;
        }
    }

    private SslClientAuthenticationOptions ToOptions(ServerAddress server, RemoteCertificateValidationCallback check)
    {
        return new SslClientAuthenticationOptions
        {
            TargetHost = server.Host,
            CertificateChainPolicy = MakePolicy(),
            RemoteCertificateValidationCallback = check,
            ClientCertificateContext = _client,
            // A new client process has no session to resume: whoever measures what opening a connection costs is to see all of it.
            AllowTlsResume = false,
        };
    }

    private X509ChainPolicy MakePolicy()
    {
        var policy = new X509ChainPolicy
        {
            RevocationMode = CheckRevocation ? X509RevocationMode.Online : X509RevocationMode.NoCheck,
            DisableCertificateDownloads = !CheckRevocation,
        };
        if (_authorities is not null)
        {
            policy.TrustMode = X509ChainTrustMode.CustomRootTrust;
            policy.CustomTrustStore.AddRange(_authorities);
        }

        return policy;
    }
}
