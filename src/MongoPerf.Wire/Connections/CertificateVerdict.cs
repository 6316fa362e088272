using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Connections;

/// <summary>Whether one server's certificate is to be trusted, and if not, why and what to do, in one line.</summary>
internal sealed class CertificateVerdict(ServerAddress server, TlsSettings settings)
{
    private const int LongestShown = 200;

    /// <summary>Null unless <see cref="Check"/> refused it.</summary>
    public string? Refusal { get; private set; }

    /// <summary>Judges a certificate for <see cref="SslStream"/>, as its RemoteCertificateValidationCallback.</summary>
    public bool Check(object sender, X509Certificate? certificate, X509Chain? chain, SslPolicyErrors errors)
    {
        if (settings.AllowInvalidHostnames)
            errors &= ~SslPolicyErrors.RemoteCertificateNameMismatch;
        if (settings.AllowInvalidCertificates)
            errors &= ~(SslPolicyErrors.RemoteCertificateChainErrors | SslPolicyErrors.RemoteCertificateNotAvailable);
        if (errors == SslPolicyErrors.None)
            return true;
        Refusal = certificate is X509Certificate2 own ? string.Join("; ", Explain(own, chain, errors)) : "the server sent no certificate";
        return false;
    }

    private IEnumerable<string> Explain(X509Certificate2 certificate, X509Chain? chain, SslPolicyErrors errors)
    {
        if (errors.HasFlag(SslPolicyErrors.RemoteCertificateChainErrors))
        {
            X509ChainStatusFlags status = chain?.ChainStatus.Aggregate(X509ChainStatusFlags.NoError, (all, one) => all | one.Status)
                ?? X509ChainStatusFlags.NoError;
            foreach (string fault in ExplainChain(certificate, chain, status))
                yield return fault;
        }

        if (errors.HasFlag(SslPolicyErrors.RemoteCertificateNameMismatch))
        {
            yield return $"the server's certificate is not for '{server.Host}' but for {Show(NamesOf(certificate))}: "
                + "connect by one of its names, "
                + "or add tlsAllowInvalidHostnames=true where that is safe";
        }
    }

    private IEnumerable<string> ExplainChain(X509Certificate2 certificate, X509Chain? chain, X509ChainStatusFlags status)
    {
        // With tlsCAFile, a wrong signature is that of another authority of the same name, such as one that was made anew.
        X509ChainStatusFlags untrusted = X509ChainStatusFlags.UntrustedRoot | X509ChainStatusFlags.PartialChain
            | (settings.HasAuthorities ? X509ChainStatusFlags.NotSignatureValid : 0);
        X509ChainStatusFlags left = status & ~(X509ChainStatusFlags.NotTimeValid | untrusted);
        if (status.HasFlag(X509ChainStatusFlags.NotTimeValid))
            yield return ExplainTime(
                chain?.ChainElements.Select(element => element.Certificate).FirstOrDefault(IsOutOfTime) ?? certificate);
        if ((status & untrusted) != 0)
        {
            yield return $"the server's certificate is signed by '{Show(certificate.Issuer)}', which is "
                + (settings.HasAuthorities
                    ? "none of the authorities in tlsCAFile: add its certificate to that file, "
                    : "not trusted on this machine: name the authority's certificate with tlsCAFile=FILE, ")
                + "or add tlsAllowInvalidCertificates=true where that is safe";
        }

        if (left.HasFlag(X509ChainStatusFlags.Revoked))
            yield return "the server's certificate was revoked: it needs a new one";
        else if (left != 0 || status == 0)
            yield return $"the server's certificate can't be verified ({left}): it needs a better one, "
                + "or add tlsAllowInvalidCertificates=true where that is safe";
    }

    private static bool IsOutOfTime(X509Certificate2 certificate) =>
        DateTime.Now < certificate.NotBefore || DateTime.Now > certificate.NotAfter;

    private static string ExplainTime(X509Certificate2 certificate) => DateTime.Now < certificate.NotBefore
        ? $"the certificate '{Show(certificate.Subject)}' is not valid before {certificate.NotBefore.ToUniversalTime():yyyy-MM-dd HH:mm} "
            + "UTC: is this machine's clock right?"
        : $"the certificate '{Show(certificate.Subject)}' expired on {certificate.NotAfter.ToUniversalTime():yyyy-MM-dd HH:mm} UTC: "
            + "renew it, "
            + "or add tlsAllowInvalidCertificates=true where that is safe";

    private static string NamesOf(X509Certificate2 certificate)
    {
        var names = new List<string>();
        foreach (X509SubjectAlternativeNameExtension extension in certificate.Extensions.OfType<X509SubjectAlternativeNameExtension>())
        {
            names.AddRange(extension.EnumerateDnsNames());
            names.AddRange(extension.EnumerateIPAddresses().Select(address => address.ToString()));
        }

        return names.Count > 0 ? string.Join(", ", names) : certificate.GetNameInfo(X509NameType.DnsName, forIssuer: false);
    }

    private static string Show(string text) => ForeignText.OneLine(text, LongestShown);
}
