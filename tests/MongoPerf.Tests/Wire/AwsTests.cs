using MongoPerf.Wire.Authentication;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Wire;

/// <summary>MONGODB-AWS: what is signed, and what a server may ask to be signed.</summary>
public sealed class AwsTests
{
    private static readonly byte[] Nonce = [.. Enumerable.Range(0, 32).Select(i => (byte)i)];

    private static readonly byte[] ServerNonce = [.. Nonce, .. Enumerable.Range(100, 32).Select(i => (byte)i)];

    /// <summary>The example of AWS' own manual for Signature Version 4.</summary>
    [Fact]
    public void The_signing_key_is_that_of_the_manual() => Assert.Equal(
        "f4780e2d9f65fa895f9c67b32ce1baf0b0d8a43505a000a1a9e090d414db404d",
        Convert.ToHexStringLower(AwsConversation.SigningKey("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20120215", "us-east-1", "iam")));

    /// <summary>Signatures worked out by another program.</summary>
    [Theory]
    [InlineData(null, "d3f0013768a626f259841d941021276112fa7f8311fa1a5cd7808a597acc97d8")]
    [InlineData("tok", "7c16b5fadd026b98ec0740e9e32db151e6c8c7c84435d58feed879363b819067")]
    public void The_token_services_request_is_signed(string? token, string signature)
    {
        AwsConversation client = Client(token);
        var first = new BsonDocument(client.Start());
        Assert.Equal(Nonce, first.Find("r")!.Value.ToBinary().ToArray());
        Assert.Equal('n', first.FindInt64("p"));
        var second = new BsonDocument(client.Continue(ServerFirst(ServerNonce, "sts.eu-west-1.amazonaws.com")));
        string names = "content-length;content-type;host;x-amz-date;"
            + (token is null ? "" : "x-amz-security-token;") + "x-mongodb-gs2-cb-flag;x-mongodb-server-nonce";
        Assert.Equal(
            $"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261122/eu-west-1/sts/aws4_request, SignedHeaders={names}, Signature={signature}",
            second.FindString("a"));
        Assert.Equal(("20261122T081500Z", token), (second.FindString("d"), second.FindString("t")));
        Assert.True(client.IsComplete);
    }

    [Theory]
    [InlineData("sts.amazonaws.com", "us-east-1")]
    [InlineData("sts.us-west-2.amazonaws.com", "us-west-2")]
    [InlineData("sts.us-west-2.amazonaws.com.ch", "us-west-2")]
    [InlineData("example.com", "com")]
    [InlineData("localhost", "us-east-1")]
    public void The_region_is_the_hosts_second_label(string host, string region) => Assert.Equal(region, AwsConversation.RegionOf(host));

    [Theory]
    [InlineData("")]
    [InlineData("sts..com")]
    [InlineData(".amazonaws.com")]
    [InlineData("sts.amazonaws.")]
    [InlineData("sts.ama\nzonaws.com")]
    public void What_is_no_host_name_is_not_signed(string host)
    {
        AwsConversation client = Client(null);
        client.Start();
        Assert.Throws<SaslException>(() => client.Continue(ServerFirst(ServerNonce, host)));
        Assert.Throws<SaslException>(() => AwsConversation.RegionOf(new string('a', 256)));
    }

    [Fact]
    public void A_nonce_that_is_not_the_clients_or_no_document_is_refused()
    {
        foreach (byte[] challenge in (byte[][])[ServerFirst(Nonce, "localhost"), ServerFirst([.. ServerNonce.Reverse()], "localhost"), [],
            [1, 2, 3], BsonDocument.Empty.Memory.ToArray()])
        {
            AwsConversation client = Client(null);
            client.Start();
            Assert.Throws<SaslException>(() => client.Continue(challenge));
        }
    }

    [Fact]
    public void Keys_come_from_the_connection_string_or_the_environment_and_are_not_printed()
    {
        var environment = new Dictionary<string, string> { ["AWS_ACCESS_KEY_ID"] = "id", ["AWS_SECRET_ACCESS_KEY"] = "S3cr3t" };
        AwsKeys keys = AwsKeys.Find(Credential(null, null), name => environment.GetValueOrDefault(name))!;
        Assert.Equal(("id", "S3cr3t", null), (keys.AccessKeyId, keys.SecretAccessKey, keys.SessionToken));
        Assert.DoesNotContain("S3cr3t", keys.ToString(), StringComparison.Ordinal);
        environment["AWS_SESSION_TOKEN"] = "token";
        Assert.Equal("token", AwsKeys.Find(Credential(null, null), name => environment.GetValueOrDefault(name))!.SessionToken);
        Assert.Equal(("user", null),
            (AwsKeys.Find(Credential("user", "password"), name => environment.GetValueOrDefault(name))!.AccessKeyId,
                AwsKeys.Find(Credential("user", "password"), _ => null)!.SessionToken));
        Assert.Null(AwsKeys.Find(Credential(null, null), _ => null));
    }

    private static MongoCredential Credential(string? user, string? password) =>
        new(user, password, "$external", "MONGODB-AWS", new Dictionary<string, string>());

    private static AwsConversation Client(string? token) =>
        new(new AwsKeys("AKIDEXAMPLE", "secret/KEY+x", token), () => new DateTimeOffset(2026, 11, 22, 8, 15, 0, TimeSpan.Zero), Nonce);

    private static byte[] ServerFirst(byte[] nonce, string host) => BsonDocument.Of(("s", nonce), ("h", host)).Memory.ToArray();
}
