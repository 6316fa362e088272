using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace MongoPerf.Testing;

/// <summary>An authority of a test's own and what it signs, as PEM files in a folder of their own.</summary>
internal sealed class TestCertificates : IDisposable
{
    private readonly ECDsa _key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
    private readonly X509Certificate2 _authority;

    public TestCertificates(string name = "MongoPerf test authority")
    {
        var request = new CertificateRequest($"CN={name}, O=MongoPerf", _key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(
            certificateAuthority: true, hasPathLengthConstraint: false, 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(
            X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, critical: true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        _authority = request.CreateSelfSigned(DateTimeOffset.UtcNow.AddYears(-20), DateTimeOffset.UtcNow.AddYears(20));
        AuthorityFile = Write("ca.pem", _authority.ExportCertificatePem());
    }

    /// <summary>For tlsCAFile.</summary>
    public string AuthorityFile { get; }

    public string Folder { get; } = Directory.CreateTempSubdirectory("mongoperf-tls-").FullName;

    /// <summary>A server's certificate with its key.</summary>
    /// <param name="notAfter">When it expires; null: in ten years.</param>
    /// <param name="hosts">Names and addresses it is for.</param>
    public string ForServer(DateTimeOffset? notAfter = null, params string[] hosts)
    {
        var names = new SubjectAlternativeNameBuilder();
        foreach (string host in hosts)
        {
            if (IPAddress.TryParse(host, out IPAddress? address))
                names.AddIpAddress(address);
            else
                names.AddDnsName(host);
        }

        return Sign($"server-{Guid.NewGuid():N}", "CN=server, O=MongoPerf, OU=servers", notAfter, password: null, names.Build());
    }

    public string ForLoopback() => ForServer(null, "localhost", "127.0.0.1");

    /// <summary>A client's certificate with its key, encrypted when there is a password.</summary>
    public string ForClient(string subject, string? password = null, DateTimeOffset? notAfter = null) =>
        Sign($"client-{Guid.NewGuid():N}", subject, notAfter, password, alternativeNames: null);

    public string Write(string name, string text)
    {
        string path = Path.Combine(Folder, name);
        File.WriteAllText(path, text);
        return path;
    }

    public void Dispose()
    {
        _authority.Dispose();
        _key.Dispose();
        Directory.Delete(Folder, recursive: true);
    }

    private string Sign(string name, string subject, DateTimeOffset? notAfter, string? password, X509Extension? alternativeNames)
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest(subject, key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, critical: true));
        if (alternativeNames is not null)
            request.CertificateExtensions.Add(alternativeNames);
        DateTimeOffset end = notAfter ?? DateTimeOffset.UtcNow.AddYears(10);
        using X509Certificate2 signed = request.Create(_authority, end.AddYears(-12), end, Guid.NewGuid().ToByteArray());
        string keyPem = password is null
            ? key.ExportPkcs8PrivateKeyPem()
            : key.ExportEncryptedPkcs8PrivateKeyPem(
                password, new PbeParameters(PbeEncryptionAlgorithm.Aes256Cbc, HashAlgorithmName.SHA256, 10_000));
        return Write(name + ".pem", signed.ExportCertificatePem() + "\n" + keyPem + "\n");
    }
}
