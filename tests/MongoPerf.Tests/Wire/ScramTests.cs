using System.Text;
using System.Text.Json;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Authentication;

namespace MongoPerf.Tests.Wire;

/// <summary>SCRAM as the client plays it, against the conversations of the RFCs and of a real server.</summary>
public sealed class ScramTests
{
    private const string File = "auth/scram-examples.json";

    public static TheoryData<int> Conversations => [.. Enumerable.Range(0, VectorCase.Root(File).GetProperty("vectors").GetArrayLength())];

    public static TheoryData<int> Preparations =>
        [.. Enumerable.Range(0, VectorCase.Root(File).GetProperty("saslprep").GetProperty("cases").GetArrayLength())];

    public static TheoryData<int> Logins =>
        [.. Enumerable.Range(0, VectorCase.Root(File).GetProperty("saslprep").GetProperty("login").GetArrayLength())];

    [VectorTheory]
    [MemberData(nameof(Conversations))]
    public void A_conversation_is_the_vectors_and_the_server_proves_itself(int index)
    {
        JsonElement vector = Vector(index);
        ScramConversation client = Client(vector);
        Assert.Equal(vector.Text("clientFirst"), Text(client.Start()));
        Assert.Equal(vector.Text("clientFinal"), Text(client.Continue(Bytes(vector.Text("serverFirst")!))));
        Assert.False(client.IsComplete);
        Assert.Empty(client.Continue(Bytes(vector.Text("serverFinal")!)));
        Assert.True(client.IsComplete);
    }

    [VectorTheory]
    [MemberData(nameof(Conversations))]
    public void A_server_that_does_not_know_the_password_is_refused(int index)
    {
        JsonElement vector = Vector(index);
        foreach (string final in (string[])["v=AAAA", "v=", "v=!", "e=other-error", "", "x=1", vector.Text("serverFinal")![..^2] + "A="])
        {
            ScramConversation client = Client(vector);
            client.Start();
            client.Continue(Bytes(vector.Text("serverFirst")!));
            Assert.Throws<SaslException>(() => client.Continue(Bytes(final)));
            Assert.False(client.IsComplete);
        }
    }

    [Theory]
    [InlineData("r=theirs,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "nonce")]
    [InlineData("r=mine,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "nonce")]
    [InlineData("r=mine+,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4095", "4095 iterations")]
    [InlineData("r=mine+,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=2000001", "2000001 iterations")]
    [InlineData("r=mine+,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=99999999999999999999", "too many iterations")]
    [InlineData("r=mine+,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=-5", "iterations")]
    [InlineData("r=mine+,s=not base64,i=4096", "salt")]
    [InlineData("r=mine+,s=,i=4096", "salt")]
    [InlineData("r=mine+,i=4096", "form")]
    [InlineData("e=invalid", "form")]
    [InlineData("", "form")]
    public void A_servers_first_message_that_breaks_the_rules_is_refused(string message, string why)
    {
        var client = new ScramConversation(Scram.Sha256, "user", () => "pencil", "mine", new ScramKeyCache());
        client.Start();
        Assert.Contains(why, Assert.Throws<SaslException>(() => client.Continue(Bytes(message))).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Commas_and_equals_signs_in_a_user_name_are_written_as_codes() =>
        Assert.Equal("n,,n=a=2Cb=3Dc,r=x", Text(new ScramConversation(Scram.Sha256, "a,b=c", () => "", "x", new ScramKeyCache()).Start()));

    [Fact]
    public void Two_connections_never_have_the_same_nonce()
    {
        var credential = new MongoCredential("user", "pencil", "admin", null, new Dictionary<string, string>());
        Assert.NotEqual(new ScramConversation(Scram.Sha256, credential).Start(), new ScramConversation(Scram.Sha256, credential).Start());
    }

    [Fact]
    public void Keys_are_derived_once_for_all_connections_of_a_credential()
    {
        var cache = new ScramKeyCache();
        int derived = 0;
        for (int i = 0; i < 3; i++)
        {
            var client = new ScramConversation(Scram.Sha256, "user", () => $"pencil{derived++}", "mine", cache);
            client.Start();
            client.Continue("r=mine+,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"u8);
        }

        Assert.Equal(1, derived);
    }

    [VectorTheory]
    [MemberData(nameof(Preparations))]
    public void A_password_is_prepared_as_the_vector_says(int index)
    {
        JsonElement vector = VectorCase.Root(File).GetProperty("saslprep").GetProperty("cases")[index];
        string input = vector.Text("input")!;
        if (vector.Text("output") is { } output)
            Assert.Equal(output, SaslPrep.Prepare(input));
        else
            Assert.Throws<SaslException>(() => SaslPrep.Prepare(input));
    }

    [VectorTheory]
    [MemberData(nameof(Logins))]
    public void Passwords_that_a_server_takes_for_the_same_are_the_same_here(int index)
    {
        JsonElement vector = VectorCase.Root(File).GetProperty("saslprep").GetProperty("login")[index];
        string stored = SaslPrep.Prepare(vector.Text("storedPassword")!);
        foreach (JsonElement password in vector.GetProperty("accept").EnumerateArray())
            Assert.Equal(stored, SaslPrep.Prepare(password.GetString()!));
    }

    [Theory]
    [InlineData("e\u0301", "\u00e9")]
    [InlineData("\u1100\u1161\u11a8", "\uac01")]
    [InlineData("\ufb01", "fi")]
    [InlineData("q\u0307\u0323", "q\u0323\u0307")]
    [InlineData("\u212b", "\u00c5")]
    [InlineData("a\u3000b", "a b")]
    [InlineData("\U0001F511", "\U0001F511")]
    [InlineData("\u0627\u0644\u0639", "\u0627\u0644\u0639")]
    public void Text_is_normalized_to_form_kc(string password, string prepared) => Assert.Equal(prepared, SaslPrep.Prepare(password));

    [Theory]
    [InlineData("a\tb")]
    [InlineData("\ud800")]
    [InlineData("\ue000")]
    [InlineData("\u200e")]
    [InlineData("\ufffd")]
    [InlineData("\u0627a\u0627")]
    public void A_refused_password_is_not_shown(string password) =>
        Assert.StartsWith("the password ", Assert.Throws<SaslException>(() => SaslPrep.Prepare("S3cr3t" + password)).Message
            .Replace("S3cr3t", "!", StringComparison.Ordinal), StringComparison.Ordinal);

    private static JsonElement Vector(int index) => VectorCase.Root(File).GetProperty("vectors")[index];

    private static ScramConversation Client(JsonElement vector)
    {
        string mechanism = vector.Text("mechanism")!;
        string user = vector.Text("user")!;
        string password = vector.Text("password")!;
        var credential = new MongoCredential(user, password, "admin", mechanism, new Dictionary<string, string>());
        string nonce = vector.Text("clientFirst")!.Split("r=")[1];
        // One vector is RFC 5802's own, without MongoDB's digest.
        bool isPrepared = vector.GetProperty("mongoDigest").GetBoolean() || mechanism == Scram.Sha256;
        string forKeys = isPrepared ? Scram.Prepare(mechanism, credential.UserName, credential.Password ?? "") : password;
        Assert.Equal(vector.Text("passwordForPbkdf2"), forKeys);
        return new ScramConversation(mechanism, user, () => forKeys, nonce, new ScramKeyCache());
    }

    private static string Text(byte[] bytes) => Encoding.UTF8.GetString(bytes);

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);
}
