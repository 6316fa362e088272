using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace MongoPerf.Wire.Connections;

/// <summary>Whom to trust and who to be: files are read once, for all connections. Immutable, for any thread; prints no secret.</summary>
public sealed class TlsSettings
{
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

    public bool HasClientCertificate => _client is not null;

    /// <summary>For looking whether a server speaks TLS at all: nothing is verified and nothing must be sent.</summary>
    internal static TlsSettings AnyServer { get; } = new() { AllowInvalidCertificates = true, AllowInvalidHostnames = true };

    /// <exception cref="ConnectionStringException">A file is missing or holds something else, or the password does not open the key.</exception>
    public static TlsSettings Load(ConnectionString uri) => new()
    {
        AllowInvalidCertificates = uri.TlsAllowInvalidCertificates,
        AllowInvalidHostnames = uri.TlsAllowInvalidHostnames,
        CheckRevocation = uri.TlsChecksRevocation,
        _authorities = uri.TlsCAFile is { } file ? ReadAuthorities(file) : null,
        _client = uri.TlsCertificateKeyFile is { } pem ? ReadClient(pem, uri.TlsCertificateKeyFilePassword) : null,
    };

    public override string ToString() => $"TLS{(HasClientCertificate ? " with a client certificate" : "")}";

    internal SslClientAuthenticationOptions ToOptions(ServerAddress server, RemoteCertificateValidationCallback check)
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

        return new SslClientAuthenticationOptions
        {
            TargetHost = server.Host,
            CertificateChainPolicy = policy,
            RemoteCertificateValidationCallback = check,
            ClientCertificateContext = _client,
        };
    }

    private static X509Certificate2Collection ReadAuthorities(string file)
    {
        var found = new X509Certificate2Collection();
        string text = ReadFile("tlsCAFile", file);
        try
        {
            found.ImportFromPem(text);
        }
        catch (CryptographicException)
        {
            found.Clear();
        }

        return found.Count > 0 ? found : throw new ConnectionStringException($"tlsCAFile: '{file}' holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)");
    }

    private static SslStreamCertificateContext ReadClient(string file, string? password)
    {
        string pem = ReadFile("tlsCertificateKeyFile", file);
        bool isEncrypted = pem.Contains("BEGIN ENCRYPTED PRIVATE KEY", StringComparison.Ordinal);
        if (pem.Contains("Proc-Type: 4,ENCRYPTED", StringComparison.Ordinal))
            throw WrongKeyFile(file, "is encrypted in an old form; openssl pkcs8 -topk8 -in KEY writes the form that is read here");
        if (isEncrypted && password is null)
            throw WrongKeyFile(file, "is encrypted: tlsCertificateKeyFilePassword has to be there");
        try
        {
            using X509Certificate2 own = isEncrypted ? X509Certificate2.CreateFromEncryptedPem(pem, pem, password) : X509Certificate2.CreateFromPem(pem, pem);
            var chain = new X509Certificate2Collection();
            chain.ImportFromPem(pem);
            // Through PKCS 12, so that the key belongs to the certificate for as long as that lives.
            X509Certificate2 lasting = X509CertificateLoader.LoadPkcs12(own.Export(X509ContentType.Pkcs12), null);
            return SslStreamCertificateContext.Create(lasting, chain, offline: true);
        }
        catch (CryptographicException) when (isEncrypted && HoldsCertificate(pem))
        {
            throw WrongKeyFile(file, "does not open with tlsCertificateKeyFilePassword");
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException)
        {
            throw new ConnectionStringException($"tlsCertificateKeyFile: '{file}' does not hold a certificate and its private key, both in PEM form");
        }
    }

    private static bool HoldsCertificate(string pem) => pem.Contains("BEGIN CERTIFICATE", StringComparison.Ordinal);

    private static ConnectionStringException WrongKeyFile(string file, string what) => new($"tlsCertificateKeyFile: the key in '{file}' {what}");

    private static string ReadFile(string option, string file)
    {
        try
        {
            return File.ReadAllText(file);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            throw new ConnectionStringException($"{option}: '{file}' can't be read: {(File.Exists(file) ? "may this user read it?" : "there is no such file")}");
        }
    }
}
