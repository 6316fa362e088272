using System.Text;
using System.Text.Json;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Authentication;

namespace MongoPerf.Tests.Wire;

/// <summary>SCRAM as the server plays it: against the RFCs' own conversations, and against the client.</summary>
public sealed class ScramServerTests
{
    private const string File = "auth/scram-examples.json";

    public static TheoryData<int> Conversations => [.. Enumerable.Range(0, VectorCase.Root(File).GetProperty("vectors").GetArrayLength())];

    /// <summary>RFC 7677, section 3, and RFC 5802, section 5.</summary>
    [Theory]
    [InlineData(
        Scram.Sha256, "n,,n=user,r=rOprNGfwEbeRWgbNEkqO", "W22ZaJ0SNY7soEsUEjb6gQ==", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
        "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")]
    [InlineData(
        Scram.Sha1, "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL", "QSXCR+Q6sek8bf92", "3rfcNHYJY1ZVvWVs7j",
        "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=", "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=")]
    public void A_conversation_is_the_RFCs(
        string mechanism, string clientFirst, string salt, string nonce, string clientFinal, string serverFinal)
    {
        ScramCredential credential = Credential(mechanism, "pencil", Convert.FromBase64String(salt), 4096);
        var server = new ScramServerConversation(mechanism, _ => credential, nonce);
        Assert.Equal($"r={clientFirst.Split("r=")[1]}{nonce},s={salt},i=4096", Text(server.Start(Bytes(clientFirst))));
        Assert.Equal("user", server.UserName);
        Assert.Equal(serverFinal, Text(server.Finish(Bytes(clientFinal))));
    }

    [VectorTheory]
    [MemberData(nameof(Conversations))]
    public void A_conversation_is_the_vectors(int index)
    {
        JsonElement vector = VectorCase.Root(File).GetProperty("vectors")[index];
        string[] first = vector.Text("serverFirst")!.Split(',');
        string mechanism = vector.Text("mechanism")!;
        ScramCredential credential = Credential(
            mechanism, vector.Text("passwordForPbkdf2")!, Convert.FromBase64String(first[1][2..]), int.Parse(first[2][2..]));
        string clientNonce = vector.Text("clientFirst")!.Split("r=")[1];
        var server = new ScramServerConversation(mechanism, _ => credential, first[0][(2 + clientNonce.Length)..]);
        Assert.Equal(vector.Text("serverFirst"), Text(server.Start(Bytes(vector.Text("clientFirst")!))));
        Assert.Equal(vector.Text("user"), server.UserName);
        Assert.Equal(vector.Text("serverFinal"), Text(server.Finish(Bytes(vector.Text("clientFinal")!))));
    }

    [Theory]
    [InlineData(Scram.Sha256, "loader", "pencil")]
    [InlineData(Scram.Sha1, "loader", "pencil")]
    [InlineData(Scram.Sha256, "a,b=c=2C", "IX \u2168")]
    [InlineData(Scram.Sha1, "\u00e4,=", "p@ss:w/rd%")]
    public void The_client_and_the_server_agree(string mechanism, string user, string password)
    {
        ScramCredential credential = ScramCredential.Create(mechanism, user, password);
        string? asked = null;
        var server = new ScramServerConversation(mechanism, name =>
        {
            asked = name;
            return credential;
        });
        ScramConversation client = Client(mechanism, user, password);
        byte[] proof = client.Continue(server.Start(client.Start()));
        client.Continue(server.Finish(proof));
        Assert.True(client.IsComplete);
        Assert.Equal((user, user), (asked, server.UserName));
        // A proof is good once.
        Assert.Throws<SaslException>(() => server.Finish(proof));
    }

    [Theory]
    [InlineData(Scram.Sha256)]
    [InlineData(Scram.Sha1)]
    public void A_wrong_password_and_a_user_who_is_not_there_are_refused_alike(string mechanism)
    {
        foreach (ScramCredential credential in (ScramCredential[])[ScramCredential.Create(mechanism, "loader", "pencil"),
            ScramCredential.Fake(mechanism, "loader", [1])])
        {
            var server = new ScramServerConversation(mechanism, _ => credential);
            ScramConversation client = Client(mechanism, "loader", "pencils");
            byte[] proof = client.Continue(server.Start(client.Start()));
            Assert.Equal("the client's proof is wrong", Assert.Throws<SaslException>(() => server.Finish(proof)).Message);
        }
    }

    [Theory]
    [InlineData(Scram.Sha256)]
    [InlineData(Scram.Sha1)]
    public void A_user_who_is_not_there_looks_like_one_who_is(string mechanism)
    {
        ScramCredential known = ScramCredential.Create(mechanism, "loader", "pencil");
        ScramCredential fake = ScramCredential.Fake(mechanism, "nobody", [1]);
        Assert.Equal(
            (known.Salt.Length, known.Iterations, known.StoredKey.Length), (fake.Salt.Length, fake.Iterations, fake.StoredKey.Length));
        Assert.Equal(fake.Salt, ScramCredential.Fake(mechanism, "nobody", [1]).Salt);
        Assert.NotEqual(fake.StoredKey, ScramCredential.Fake(mechanism, "nobody", [1]).StoredKey);
        Assert.NotEqual(fake.Salt, ScramCredential.Fake(mechanism, "somebody", [1]).Salt);
        Assert.NotEqual(fake.Salt, ScramCredential.Fake(mechanism, "nobody", [2]).Salt);
    }

    [Theory]
    [InlineData("")]
    [InlineData("n,,")]
    [InlineData("n,,n=user")]
    [InlineData("n,,n=user,r=")]
    [InlineData("n,,n=,r=abc")]
    [InlineData("n,,n=us=er,r=abc")]
    [InlineData("n,,n=us=2cer,r=abc")]
    [InlineData("n,,n=user,r=a c")]
    [InlineData("n,,n=user,r=a\u00e4c")]
    [InlineData("n,,m=ext,n=user,r=abc")]
    [InlineData("n,a=other,n=user,r=abc")]
    [InlineData("p=tls-unique,,n=user,r=abc")]
    [InlineData("n=user,r=abc")]
    public void A_first_message_that_breaks_the_rules_is_refused(string message) =>
        Assert.Throws<SaslException>(() =>
            new ScramServerConversation(Scram.Sha256, _ => throw new InvalidOperationException("asked for a user")).Start(Bytes(message)));

    [Fact]
    public void A_message_is_bounded_and_is_text()
    {
        ScramCredential credential = ScramCredential.Create(Scram.Sha256, "user", "pencil");
        Assert.Throws<SaslException>(() =>
            new ScramServerConversation(Scram.Sha256, _ => credential).Start(Bytes($"n,,n={new string('u', 4096)},r=abc")));
        string longest = $"n,,n={new string('u', 4096 - 11)},r=abc";
        Assert.Equal(4096, longest.Length);
        _ = new ScramServerConversation(Scram.Sha256, _ => credential).Start(Bytes(longest));
        Assert.Equal("the client's message has 4097 bytes; allowed: 4096", Assert.Throws<SaslException>(
            () => new ScramServerConversation(Scram.Sha256, _ => credential).Start(Bytes(longest + "d"))).Message);
        Assert.Throws<SaslException>(() => new ScramServerConversation(Scram.Sha256, _ => credential).Start([(byte)'n', 0xFF]));
    }

    [Theory]
    [InlineData("")]
    [InlineData("c=biws,r=mine+theirs")]
    [InlineData("c=biws,r=mine+theirs,p=")]
    [InlineData("c=biws,r=mine+theirs,p=AAAA")]
    [InlineData("c=biws,r=mine+theirs,p=not base64")]
    [InlineData("c=biws,r=mine+other,p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")]
    [InlineData("c=eSws,r=mine+theirs,p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")]
    [InlineData("r=mine+theirs,c=biws,p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")]
    [InlineData("c=biws,r=mine+theirs,p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")]
    public void A_last_message_that_breaks_the_rules_is_refused(string message)
    {
        var server = new ScramServerConversation(Scram.Sha256, _ => ScramCredential.Create(Scram.Sha256, "user", "pencil"), "+theirs");
        server.Start("n,,n=user,r=mine"u8);
        Assert.Throws<SaslException>(() => server.Finish(Bytes(message)));
    }

    [Fact]
    public void A_last_message_comes_after_a_first() =>
        Assert.Throws<SaslException>(() =>
            new ScramServerConversation(Scram.Sha256, _ => throw new InvalidOperationException()).Finish("c=biws,r=,p=AAAA"u8));

    [Fact]
    public void What_is_stored_prints_nothing_of_itself() =>
        Assert.Equal("ScramCredential SCRAM-SHA-1", ScramCredential.Create(Scram.Sha1, "user", "pencil").ToString());

    private static ScramCredential Credential(string mechanism, string prepared, byte[] salt, int iterations)
    {
        ScramKeys keys = Scram.Derive(mechanism, prepared, salt, iterations);
        return new ScramCredential(mechanism, salt, iterations, Scram.Hash(mechanism, keys.ClientKey), keys.ServerKey);
    }

    private static ScramConversation Client(string mechanism, string user, string password) =>
        new(mechanism, new MongoCredential(user, password, "admin", mechanism, new Dictionary<string, string>()));

    private static string Text(byte[] bytes) => Encoding.UTF8.GetString(bytes);

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);
}
