using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace MongoPerf.Deployments.Security;

/// <summary>Makes a certificate for servers of this machine, and the authority that signs it and nothing else, ever.</summary>
internal static class LocalCertificate
{
    private const string ServerAuthentication = "1.3.6.1.5.5.7.3.1";
    private const string ClientAuthentication = "1.3.6.1.5.5.7.3.2";

    // Data are kept for years at most, and a clock may be wrong by a day.
    private static readonly TimeSpan Lifetime = TimeSpan.FromDays(3650);
    private static readonly TimeSpan Tolerance = TimeSpan.FromDays(1);

    /// <returns>
    /// Texts in PEM form: the authority's certificate, whose key is kept nowhere, and the certificate for localhost and the loopback
    /// addresses with its key.
    /// </returns>
    public static (string Authority, string Server) Create()
    {
        DateTimeOffset from = DateTimeOffset.UtcNow - Tolerance;
        using var authorityKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using X509Certificate2 authority = DescribeAuthority(authorityKey).CreateSelfSigned(from, from + Lifetime);
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using X509Certificate2 server = DescribeServer(key, authority)
            .Create(authority, from, from + Lifetime, RandomNumberGenerator.GetBytes(16));
        return (authority.ExportCertificatePem() + "\n", $"{server.ExportCertificatePem()}\n{key.ExportPkcs8PrivateKeyPem()}\n");
    }

    private static CertificateRequest DescribeAuthority(ECDsa key)
    {
        var request = new CertificateRequest("O=MongoPerf, CN=MongoPerf local authority", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(certificateAuthority: true, hasPathLengthConstraint: true,
            pathLengthConstraint: 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(
            X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, critical: true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        return request;
    }

    private static CertificateRequest DescribeServer(ECDsa key, X509Certificate2 authority)
    {
        var request = new CertificateRequest("O=MongoPerf, OU=local server, CN=localhost", key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName("localhost");
        names.AddIpAddress(IPAddress.Loopback);
        names.AddIpAddress(IPAddress.IPv6Loopback);
        request.CertificateExtensions.Add(names.Build());
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(false, false, 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, critical: true));
        // Members of a set are each other's clients with the same certificate.
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension(
            [new Oid(ServerAuthentication), new Oid(ClientAuthentication)], critical: false));
        request.CertificateExtensions.Add(X509AuthorityKeyIdentifierExtension.CreateFromCertificate(authority, includeKeyIdentifier: true,
            includeIssuerAndSerial: false));
        return request;
    }
}
