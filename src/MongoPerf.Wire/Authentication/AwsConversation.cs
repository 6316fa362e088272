using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Wire.Authentication;

/// <summary>The keys that AWS gave. Prints none of them.</summary>
internal sealed record AwsKeys(string AccessKeyId, string SecretAccessKey, string? SessionToken)
{
    /// <summary>Finds credentials in the connection string, else in the environment; metadata services are not asked.</summary>
    /// <returns>Null when there are none.</returns>
    public static AwsKeys? Find(MongoCredential credential, Func<string, string?> variable)
    {
        if (credential is { UserName: { } user, Password: { } password })
            return new AwsKeys(user, password, credential.Properties.GetValueOrDefault("AWS_SESSION_TOKEN"));
        return variable("AWS_ACCESS_KEY_ID") is { Length: > 0 } id && variable("AWS_SECRET_ACCESS_KEY") is { Length: > 0 } secret
            ? new AwsKeys(id, secret, variable("AWS_SESSION_TOKEN") is { Length: > 0 } token ? token : null)
            : null;
    }

    public override string ToString() => nameof(AwsKeys);
}

/// <summary>
/// MONGODB-AWS: signs a request to AWS' token service, which the server sends in the client's name. Sources: auth.md; AWS
/// Signature Version 4.
/// </summary>
/// <param name="keys">Whose they are logs in.</param>
/// <param name="now">The time for the signature's date; AWS takes no date that is minutes away from its own.</param>
/// <param name="nonce">32 random bytes.</param>
internal sealed class AwsConversation(AwsKeys keys, Func<DateTimeOffset> now, byte[] nonce) : ISaslConversation
{
    private const int NonceBytes = 32;
    private const int LongestHost = 255;
    private const string Body = "Action=GetCallerIdentity&Version=2011-06-15";

    public AwsConversation(AwsKeys keys)
        : this(keys, () => DateTimeOffset.UtcNow, RandomNumberGenerator.GetBytes(NonceBytes))
    {
    }

    public string Mechanism => "MONGODB-AWS";

    public bool IsComplete { get; private set; }

    public byte[] Start() => BsonDocument.Of(("r", nonce), ("p", (int)'n')).Memory.ToArray();

    public byte[] Continue(ReadOnlySpan<byte> challenge)
    {
        if (IsComplete)
            return [];
        (byte[] serverNonce, string host) = Read(challenge);
        string time = now().UtcDateTime.ToString("yyyyMMdd'T'HHmmss'Z'", CultureInfo.InvariantCulture);
        var answer = new List<(string, object?)> { ("a", Authorize(host, time, serverNonce)), ("d", time) };
        if (keys.SessionToken is { } token)
            answer.Add(("t", token));
        IsComplete = true;
        return BsonDocument.Of([.. answer]).Memory.ToArray();
    }

    /// <summary>The second label of the host; us-east-1 where there is none, and of the global service.</summary>
    /// <exception cref="SaslException">It is not a host name.</exception>
    internal static string RegionOf(string host)
    {
        string[] labels = host.Split('.');
        if (host.Length is 0 or > LongestHost || labels.Any(label => label.Length == 0)
            || host.Any(c => !char.IsAsciiLetterOrDigit(c) && c is not ('.' or '-' or '_')))
            throw new SaslException("the token service that the server names is not a host name");
        return labels.Length == 1 || host == "sts.amazonaws.com" ? "us-east-1" : labels[1];
    }

    /// <summary>The key that signs a day's requests to one service of one region.</summary>
    internal static byte[] SigningKey(string secret, string date, string region, string service) =>
        Hmac(Hmac(Hmac(Hmac(Encoding.UTF8.GetBytes("AWS4" + secret), date), region), service), "aws4_request");

    private (byte[] Nonce, string Host) Read(ReadOnlySpan<byte> challenge)
    {
        BsonDocument document = Parse(challenge);
        byte[]? serverNonce = document.Find("s")?.ToBinary().ToArray();
        if (serverNonce is not { Length: 2 * NonceBytes } || !serverNonce.AsSpan(0, NonceBytes).SequenceEqual(nonce))
            throw new SaslException("the server's nonce does not continue the client's");
        return (serverNonce, document.FindString("h") ?? "");
    }

    private static BsonDocument Parse(ReadOnlySpan<byte> bytes)
    {
        try
        {
            BsonValidator.Validate(bytes);
            return new BsonDocument(bytes.ToArray());
        }
        catch (BsonFormatException e)
        {
            throw new SaslException($"the server's first message is not a BSON document: {e.Message}");
        }
    }

    private string Authorize(string host, string time, byte[] serverNonce)
    {
        string date = time[..8];
        string scope = $"{date}/{RegionOf(host)}/sts/aws4_request";
        (string Name, string Value)[] headers =
        [
            ("content-length", Body.Length.ToString(CultureInfo.InvariantCulture)),
            ("content-type", "application/x-www-form-urlencoded"),
            ("host", host),
            ("x-amz-date", time),
            .. keys.SessionToken is { } token ? new[] { ("x-amz-security-token", token) } : [],
            ("x-mongodb-gs2-cb-flag", "n"),
            ("x-mongodb-server-nonce", Convert.ToBase64String(serverNonce)),
        ];
        string names = string.Join(';', headers.Select(header => header.Name));
        string request = $"POST\n/\n\n{string.Concat(headers.Select(header => $"{header.Name}:{header.Value}\n"))}\n{names}\n{Hash(Body)}";
        string toSign = $"AWS4-HMAC-SHA256\n{time}\n{scope}\n{Hash(request)}";
        string signature = Convert.ToHexStringLower(Hmac(SigningKey(keys.SecretAccessKey, date, RegionOf(host), "sts"), toSign));
        return $"AWS4-HMAC-SHA256 Credential={keys.AccessKeyId}/{scope}, SignedHeaders={names}, Signature={signature}";
    }

    private static string Hash(string text) => Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(text)));

    private static byte[] Hmac(byte[] key, string text) => HMACSHA256.HashData(key, Encoding.UTF8.GetBytes(text));
}
