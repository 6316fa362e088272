using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace MongoPerf.Wire.Connections;

/// <summary>Whom to trust and who to be: files are read once, for all connections. Immutable, for any thread; prints no secret.</summary>
public sealed class TlsSettings
{
    private const string EncryptedKey = "BEGIN ENCRYPTED PRIVATE KEY";
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

    public bool HasClientCertificate => _client is not null;

    /// <summary>With its key; null when there is none.</summary>
    public X509Certificate2? ClientCertificate => _client?.TargetCertificate;

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

    /// <summary>The key in a certificate's file opens only with a password. False as well for a file that can't be read: loading says why.</summary>
    public static bool IsEncrypted(string file)
    {
        try
        {
            return File.ReadAllText(file).Contains(EncryptedKey, StringComparison.Ordinal);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return false;
        }
    }

    public override string ToString() => $"TLS{(HasClientCertificate ? " with a client certificate" : "")}";

    /// <summary>For a client whose library takes no policy: as RemoteCertificateValidationCallback it trusts the same servers as our own connections do.</summary>
    public bool Check(object sender, X509Certificate? certificate, X509Chain? chain, SslPolicyErrors errors)
    {
        if (certificate is X509Certificate2 own)
        {
            using var ours = new X509Chain { ChainPolicy = MakePolicy() };
            foreach (X509ChainElement element in chain?.ChainElements ?? Enumerable.Empty<X509ChainElement>())
                ours.ChainPolicy.ExtraStore.Add(element.Certificate);
            errors = ours.Build(own) ? errors & ~SslPolicyErrors.RemoteCertificateChainErrors : errors | SslPolicyErrors.RemoteCertificateChainErrors;
        }

        return new CertificateVerdict(NoServer, this).Check(sender, certificate, chain, errors);
    }

    internal SslClientAuthenticationOptions ToOptions(ServerAddress server, RemoteCertificateValidationCallback check)
    {
        return new SslClientAuthenticationOptions
        {
            TargetHost = server.Host,
            CertificateChainPolicy = MakePolicy(),
            RemoteCertificateValidationCallback = check,
            ClientCertificateContext = _client,
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
        bool isEncrypted = pem.Contains(EncryptedKey, StringComparison.Ordinal);
        if (pem.Contains("Proc-Type: 4,ENCRYPTED", StringComparison.Ordinal))
            throw WrongKeyFile(file, "is encrypted in an old form; openssl pkcs8 -topk8 -in KEY writes the form that is read here");
        if (isEncrypted && password is null)
            throw WrongKeyFile(file, "is encrypted, and tlsCertificateKeyFilePassword is missing");
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
