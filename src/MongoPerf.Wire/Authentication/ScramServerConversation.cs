using System.Security.Cryptography;
using System.Text;

namespace MongoPerf.Wire.Authentication;

/// <summary>
/// The server's half of SCRAM-SHA-256 and SCRAM-SHA-1, without channel binding. One thread, one use. Sources: RFC 5802, RFC 7677.
/// </summary>
/// <param name="mechanism">One of the two.</param>
/// <param name="find">
/// Gets a user's name and returns the credential for the mechanism; for a user who is not there a <see cref="ScramCredential.Fake"/>.
/// </param>
/// <param name="nonce">The server's part: printable ASCII without commas.</param>
public sealed class ScramServerConversation(string mechanism, Func<string, ScramCredential> find, string nonce)
{
    /// <summary>The most bytes of a message; the longest that clients send has some hundred bytes.</summary>
    private const int MostBytes = 4096;

    private static readonly UTF8Encoding StrictUtf8 = new(false, throwOnInvalidBytes: true);

    private ScramCredential? _credential;
    private string _header = "";
    private string _firstBare = "";
    private string _nonce = "";
    private string _serverFirst = "";

    public ScramServerConversation(string mechanism, Func<string, ScramCredential> find)
        : this(mechanism, find, Scram.NewNonce())
    {
    }

    /// <summary>Whom the client says it is; proven once <see cref="Finish"/> has returned.</summary>
    public string UserName { get; private set; } = "";

    /// <summary>The client has shown that it knows the password.</summary>
    public bool IsProven { get; private set; }

    /// <summary>Answers the client's first message: salt and iterations.</summary>
    /// <exception cref="SaslException">It is none.</exception>
    public byte[] Start(ReadOnlySpan<byte> clientFirst)
    {
        string text = Text(clientFirst);
        // No channel binding: "n" the client can't, "y" it could; then maybe the name of somebody to act for.
        if (text.Split(',') is not [("n" or "y") and var binding, var other, ['n', '=', .. var name], ['r', '=', .. var clientNonce], ..])
            throw new SaslException("the client's first message is not of the form n,,n=…,r=…");
        UserName = Unescape(name);
        if (other.Length > 0 && other != $"a={name}")
            throw new SaslException("the client asks to act for somebody else");
        if (clientNonce.Length == 0 || clientNonce.Any(c => c is <= ' ' or > '~'))
            throw new SaslException("the client's nonce is not printable ASCII");
        _header = $"{binding},{other},";
        _firstBare = text[_header.Length..];
        _nonce = clientNonce + nonce;
        _credential = find(UserName);
        _serverFirst = $"r={_nonce},s={Convert.ToBase64String(_credential.Salt)},i={_credential.Iterations}";
        return Encoding.UTF8.GetBytes(_serverFirst);
    }

    /// <summary>Checks the client's proof, in a time that does not depend on how wrong it is.</summary>
    /// <returns>The server's own proof.</returns>
    /// <exception cref="SaslException">The client does not know the password, or there was no first message.</exception>
    public byte[] Finish(ReadOnlySpan<byte> clientFinal)
    {
        if (_credential is not { } credential)
            throw new SaslException("there was no first message");
        _credential = null;
        string text = Text(clientFinal);
        int at = text.LastIndexOf(",p=", StringComparison.Ordinal);
        string withoutProof = at < 0 ? "" : text[..at];
        if (!$"{withoutProof},"
            .StartsWith($"c={Convert.ToBase64String(Encoding.UTF8.GetBytes(_header))},r={_nonce},", StringComparison.Ordinal))
            throw new SaslException("the client's last message does not belong to its first");
        byte[]? proof = Scram.ReadBase64(text[(at + 3)..]);
        byte[] message = Encoding.UTF8.GetBytes($"{_firstBare},{_serverFirst},{withoutProof}");
        byte[] signature = Scram.Sign(mechanism, credential.StoredKey, message);
        if (proof?.Length != signature.Length
            || !CryptographicOperations.FixedTimeEquals(Scram.Hash(mechanism, Scram.Xor(signature, proof)), credential.StoredKey))
            throw new SaslException("the client's proof is wrong");
        IsProven = true;
        return Encoding.UTF8.GetBytes($"v={Convert.ToBase64String(Scram.Sign(mechanism, credential.ServerKey, message))}");
    }

    private static string Text(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length > MostBytes)
            throw new SaslException($"the client's message has {bytes.Length} bytes; allowed: {MostBytes}");
        try
        {
            return StrictUtf8.GetString(bytes);
        }
        catch (DecoderFallbackException)
        {
            throw new SaslException("the client's message is not UTF-8");
        }
    }

    /// <summary>Commas and equals signs come as =2C and =3D, and nothing else may.</summary>
    private static string Unescape(string name)
    {
        string plain = name.Replace("=2C", ",", StringComparison.Ordinal).Replace("=3D", "=", StringComparison.Ordinal);
        bool isWhole = name.Split('=').Skip(1)
            .All(rest => rest.StartsWith("2C", StringComparison.Ordinal) || rest.StartsWith("3D", StringComparison.Ordinal));
        return isWhole && plain.Length > 0 ? plain : throw new SaslException("the client's user name is empty or wrongly escaped");
    }
}
