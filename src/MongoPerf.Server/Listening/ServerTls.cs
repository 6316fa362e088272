using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Server.Listening;

/// <summary>Who a server is, and whose clients it takes: files are read once, for all connections. Immutable, for any thread.</summary>
public sealed class ServerTls
{
    private ServerTls(SslStreamCertificateContext own, X509Certificate2Collection? authorities)
    {
        Options = new SslServerAuthenticationOptions { ServerCertificateContext = own, AllowRenegotiation = false };
        if (authorities is null)
            return;
        Options.ClientCertificateRequired = true;
        Options.CertificateChainPolicy = new X509ChainPolicy
        {
            RevocationMode = X509RevocationMode.NoCheck, DisableCertificateDownloads = true, TrustMode = X509ChainTrustMode.CustomRootTrust,
        };
        Options.CertificateChainPolicy.CustomTrustStore.AddRange(authorities);
        // A client's name need not be that of its host.
        Options.RemoteCertificateValidationCallback = (_, _, _, errors) => errors == SslPolicyErrors.None;
    }

    internal SslServerAuthenticationOptions Options { get; }

    /// <param name="certificateKeyFile">Certificate and private key, in PEM form.</param>
    /// <param name="password">Opens the key; null when it is not encrypted.</param>
    /// <param name="authorityFile">Every client must have a certificate of one of these authorities; null: clients need none.</param>
    /// <exception cref="PemFileException">A file can't be used.</exception>
    public static ServerTls Load(string certificateKeyFile, string? password = null, string? authorityFile = null) => new(
        PemFiles.ReadIdentity("--tls-certificate-key-file", certificateKeyFile, password, "that password"),
        authorityFile is null ? null : PemFiles.ReadAuthorities("--tls-ca-file", authorityFile));
}
