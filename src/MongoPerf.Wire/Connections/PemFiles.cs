using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using MongoPerf.Wire.Files;

namespace MongoPerf.Wire.Connections;

/// <summary>
/// A file of certificates or keys can't be used. One line: which option named it, what was found, what is needed; never a password.
/// </summary>
public sealed class PemFileException(string message) : FormatException(message);

/// <summary>Reads certificates and private keys in PEM form, for clients and servers. Any thread.</summary>
public static class PemFiles
{
    private const string EncryptedKey = "BEGIN ENCRYPTED PRIVATE KEY";

    /// <summary>
    /// The key in a certificate's file opens only with a password. False as well for a file that can't be read: loading says why.
    /// </summary>
    public static bool IsEncrypted(string file)
    {
        try
        {
            return NamedFile.ReadText(file).Contains(EncryptedKey, StringComparison.Ordinal);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException or TimeoutException)
        {
            return false;
        }
    }

    /// <summary>Whom to trust.</summary>
    /// <param name="option">What names the file, for messages.</param>
    /// <param name="file">Holds one certificate or more.</param>
    /// <exception cref="PemFileException">It can't be read, or holds none.</exception>
    public static X509Certificate2Collection ReadAuthorities(string option, string file)
    {
        var found = new X509Certificate2Collection();
        string text = ReadFile(option, file);
        try
        {
            found.ImportFromPem(text);
        }
        catch (CryptographicException)
        {
            found.Clear();
        }

        return found.Count > 0 ? found
            : throw new PemFileException($"{option}: '{file}' holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)");
    }

    /// <summary>Who to be: a certificate with its key, and those between it and its authority that the file has too.</summary>
    /// <param name="option">What names the file, for messages.</param>
    /// <param name="file">Certificate and key.</param>
    /// <param name="password">Opens the key; null when it is not encrypted.</param>
    /// <param name="passwordOption">What the password comes from, for messages.</param>
    /// <exception cref="PemFileException">It can't be read or holds something else, or the password does not open the key.</exception>
    public static SslStreamCertificateContext ReadIdentity(string option, string file, string? password, string passwordOption)
    {
        string pem = ReadFile(option, file);
        bool isEncrypted = pem.Contains(EncryptedKey, StringComparison.Ordinal);
        if (pem.Contains("Proc-Type: 4,ENCRYPTED", StringComparison.Ordinal))
            throw WrongKey("is encrypted in a legacy format; convert it with: openssl pkcs8 -topk8 -in KEY");
        if (isEncrypted && password is null)
            throw WrongKey($"is encrypted, and {passwordOption} is missing");
        try
        {
            using X509Certificate2 own = isEncrypted
                ? X509Certificate2.CreateFromEncryptedPem(pem, pem, password)
                : X509Certificate2.CreateFromPem(pem, pem);
            var chain = new X509Certificate2Collection();
            chain.ImportFromPem(pem);
            // Through PKCS 12, so that the key belongs to the certificate for as long as that lives.
            X509Certificate2 lasting = X509CertificateLoader.LoadPkcs12(own.Export(X509ContentType.Pkcs12), null);
            return SslStreamCertificateContext.Create(lasting, chain, offline: true);
        }
        catch (CryptographicException) when (isEncrypted && pem.Contains("BEGIN CERTIFICATE", StringComparison.Ordinal))
        {
            throw WrongKey($"can't be decrypted with {passwordOption}");
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException)
        {
            throw new PemFileException($"{option}: '{file}' does not hold a certificate and its private key, both in PEM form");
        }

        PemFileException WrongKey(string what) => new($"{option}: the key in '{file}' {what}");
    }

    private static string ReadFile(string option, string file)
    {
        try
        {
            return NamedFile.ReadText(file);
        }
        catch (TimeoutException e)
        {
            throw new PemFileException($"{option}: {e.Message}");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            string why = Directory.Exists(file) ? "it is a folder"
                : File.Exists(file) ? "does this user have permission to read it?" : "there is no such file";
            throw new PemFileException($"{option}: '{file}' can't be read: {why}");
        }
    }
}
