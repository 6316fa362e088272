using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace MongoPerf.Wire.Authentication;

/// <summary>
/// The client's half of SCRAM-SHA-256 and SCRAM-SHA-1, without channel binding. Sources: RFC 5802, RFC 7677,
/// specifications/source/auth/auth.md.
/// </summary>
internal sealed class ScramConversation : ISaslConversation
{
    /// <summary>Less would make a stolen exchange cheap to try passwords on: the auth specification's least.</summary>
    private const int LeastIterations = 4096;

    /// <summary>More would let a server hold the client's CPU for seconds; mongod's defaults are 10,000 and 15,000.</summary>
    private const int MostIterations = 2_000_000;

    /// <summary>"n,,": no channel binding, no other identity.</summary>
    private const string Header = "n,,";

    private readonly ScramKeyCache _cache;
    private readonly Func<string> _password;
    private readonly string _nonce;
    private readonly string _firstBare;
    private byte[]? _serverSignature;

    public ScramConversation(string mechanism, MongoCredential credential)
        : this(mechanism, credential.UserName!, () => Scram.Prepare(mechanism, credential.UserName, credential.Password ?? ""),
            Scram.NewNonce(), credential.ScramKeys)
    {
    }

    /// <param name="mechanism">One of the two.</param>
    /// <param name="userName">The user name as it is, not prepared.</param>
    /// <param name="password">Gives what goes into the key derivation; asked once the server has named salt and iterations.</param>
    /// <param name="nonce">Printable ASCII without commas.</param>
    /// <param name="cache">The cache of this user and password.</param>
    internal ScramConversation(string mechanism, string userName, Func<string> password, string nonce, ScramKeyCache cache)
    {
        Mechanism = mechanism;
        _password = password;
        _nonce = nonce;
        _cache = cache;
        _firstBare = $"n={userName.Replace("=", "=3D", StringComparison.Ordinal).Replace(",", "=2C", StringComparison.Ordinal)},r={nonce}";
    }

    public string Mechanism { get; }

    public bool IsComplete { get; private set; }

    public byte[] Start() => Encoding.UTF8.GetBytes(Header + _firstBare);

    public byte[] Continue(ReadOnlySpan<byte> challenge)
    {
        string text = Encoding.UTF8.GetString(challenge);
        if (_serverSignature is null)
            return Encoding.UTF8.GetBytes(Answer(text));
        if (!IsComplete)
            CheckServer(text);
        return [];
    }

    private string Answer(string serverFirst)
    {
        string[] fields = serverFirst.Split(',');
        if (fields is not [['r', '=', .. var nonce], ['s', '=', .. var saltText], ['i', '=', .. var iterationText], ..])
            throw new SaslException("the server's first message is not of the form r=…,s=…,i=…");
        if (!nonce.StartsWith(_nonce, StringComparison.Ordinal) || nonce.Length == _nonce.Length)
            throw new SaslException("the server's nonce does not continue the client's");
        byte[] salt = ReadBase64(saltText, "salt");
        if (!int.TryParse(iterationText, NumberStyles.None, CultureInfo.InvariantCulture, out int iterations)
            || iterations is < LeastIterations or > MostIterations)
            throw new SaslException($"the server asks for {(iterationText.Length > 12 ? "too many" : iterationText)} iterations; allowed: "
                + $"{LeastIterations:N0} to {MostIterations:N0}");

        ScramKeys keys = _cache.Get(Mechanism, salt, iterations, () => Scram.Derive(Mechanism, _password(), salt, iterations));
        string withoutProof = $"c={Convert.ToBase64String(Encoding.ASCII.GetBytes(Header))},r={nonce}";
        byte[] message = Encoding.UTF8.GetBytes($"{_firstBare},{serverFirst},{withoutProof}");
        byte[] signature = Scram.Sign(Mechanism, Scram.Hash(Mechanism, keys.ClientKey), message);
        _serverSignature = Scram.Sign(Mechanism, keys.ServerKey, message);
        return $"{withoutProof},p={Convert.ToBase64String(Scram.Xor(keys.ClientKey, signature))}";
    }

    private void CheckServer(string serverFinal)
    {
        string field = serverFinal.Split(',')[0];
        if (field.StartsWith("e=", StringComparison.Ordinal))
            throw new SaslException("the server refused the proof");
        byte[] signature = field.StartsWith("v=", StringComparison.Ordinal)
            ? ReadBase64(field[2..], "signature")
            : throw new SaslException("the server's last message has no signature");
        if (!CryptographicOperations.FixedTimeEquals(signature, _serverSignature))
            throw new SaslException(
                "the server's signature is wrong: it does not know the password, and may not be the server that was meant");
        IsComplete = true;
    }

    private static byte[] ReadBase64(string text, string what) =>
        Scram.ReadBase64(text) ?? throw new SaslException($"the server's {what} is not base64");
}
