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
    [InlineData("\u1113\u1161", "\u1113\u1161")]
    [InlineData("\ufb01", "fi")]
    [InlineData("q\u0307\u0323", "q\u0323\u0307")]
    [InlineData("\u212b", "\u00c5")]
    [InlineData("a\u3000b", "a b")]
    [InlineData("\U0001F511", "\U0001F511")]
    [InlineData("\u0627\u0644\u0639", "\u0627\u0644\u0639")]
    public void Text_is_normalized_to_form_kc(string password, string prepared) => Assert.Equal(prepared, SaslPrep.Prepare(password));

    /// <summary>
    /// All of RFC 4013's mapping and prohibition above ASCII, as Python's stringprep has it (U+200B is mapped to nothing here, as RFC 3454
    /// has it too): spaces, what is left out, what no password may hold.
    /// </summary>
    [Theory]
    [InlineData(" ", "A0 1680 2000-200A 202F 205F 3000")]
    [InlineData("", "AD 34F 1806 180B-180D 200B-200D 2060 FE00-FE0F FEFF")]
    [InlineData(null, "80-9F 6DD 70F 180E 200E-200F 2028-202E 2061-2063 206A-206F 2FF0-2FFB E000-F8FF FDD0-FDEF FFF9-FFFF 1D173-1D17A "
        + "1FFFE-1FFFF 2FFFE-2FFFF 3FFFE-3FFFF 4FFFE-4FFFF 5FFFE-5FFFF 6FFFE-6FFFF 7FFFE-7FFFF 8FFFE-8FFFF 9FFFE-9FFFF AFFFE-AFFFF "
        + "BFFFE-BFFFF CFFFE-CFFFF DFFFE-DFFFF E0001 E0020-E007F EFFFE-10FFFF")]
    public void Each_range_of_stringprep_ends_where_it_does(string? prepared, string ranges)
    {
        foreach (string range in ranges.Split(' '))
        {
            int[] ends = [.. range.Split('-').Select(end => Convert.ToInt32(end, 16))];
            Assert.Equal((range, prepared, prepared), (range, Prepared(ends[0]), Prepared(ends[^1])));
            // Ranges that touch are of another kind, or joined.
            Assert.All((int[])[ends[0] - 1, ends[^1] + 1], beside =>
                Assert.True(beside is > 0x10FFFF or 0x7F or 0xDFFF || Prepared(beside) != prepared, $"{beside:X}"));
        }

        static string? Prepared(int code)
        {
            try
            {
                return SaslPrep.Prepare(char.ConvertFromUtf32(code));
            }
            catch (SaslException)
            {
                return null;
            }
        }
    }

    [Theory]
    [InlineData("\u06271\u0628", true)]
    [InlineData("\u05d0", true)]
    [InlineData("\u0627a\u0628", false)]
    [InlineData("\u0627\u4e00\u0628", false)]
    [InlineData("\u0627\u01c5\u0628", false)]
    [InlineData("\u0627A\u0628", false)]
    [InlineData("1\u0627", false)]
    [InlineData("\u06271", false)]
    [InlineData("\u4e001", true)]
    public void Letters_of_both_directions_are_not_mixed(string password, bool isAllowed)
    {
        if (isAllowed)
            Assert.Equal(password, SaslPrep.Prepare(password));
        else
            Assert.Contains("mixes", Assert.Throws<SaslException>(() => SaslPrep.Prepare(password)).Message);
    }

    [Fact]
    public void Hangul_syllables_and_their_letters_are_the_same_password()
    {
        Assert.Equal("\ud55c\uad6d", SaslPrep.Prepare("\u1112\u1161\u11ab\u1100\u116e\u11a8"));
        // The last of all, one without a final consonant, and one that is followed by a letter that is no such consonant.
        Assert.Equal("\ud7a3", SaslPrep.Prepare("\u1112\u1175\u11c2"));
        Assert.Equal("\uac00", SaslPrep.Prepare("\u1100\u1161"));
        Assert.Equal("\uac00\u11a7", SaslPrep.Prepare("\u1100\u1161\u11a7"));
        for (int first = 0xAC00; first <= 0xD7A3; first += 100)
        {
            string some = string.Concat(Enumerable.Range(first, Math.Min(100, 0xD7A4 - first)).Select(char.ConvertFromUtf32));
            Assert.Equal(some, SaslPrep.Prepare(some));
        }
    }

    [Theory]
    [InlineData("\t", "the password holds a control character, which SCRAM-SHA-256 does not allow (SASLprep)")]
    [InlineData("\ue000", "the password holds a character of private use, which SCRAM-SHA-256 does not allow (SASLprep)")]
    [InlineData("\ufdd0", "the password holds a character that stands for none, which SCRAM-SHA-256 does not allow (SASLprep)")]
    [InlineData("\uffff", "the password holds a character that stands for none, which SCRAM-SHA-256 does not allow (SASLprep)")]
    [InlineData("\u2ff0", "the password holds an ideographic description, which SCRAM-SHA-256 does not allow (SASLprep)")]
    [InlineData("\u202a", "the password holds a character that changes the direction of writing, "
        + "which SCRAM-SHA-256 does not allow (SASLprep)")]
    [InlineData("\U000E0001", "the password holds a tag, which SCRAM-SHA-256 does not allow (SASLprep)")]
    public void It_is_said_what_a_password_may_not_hold(string password, string why) =>
        Assert.Equal(why, Assert.Throws<SaslException>(() => SaslPrep.Prepare(password)).Message);

    // xunit would make another character of half a one.
    [Fact]
    public void Half_a_character_is_no_password() => Assert.Equal(
        "the password is not valid Unicode", Assert.Throws<SaslException>(() => SaslPrep.Prepare("a\udfff")).Message);

    [Theory]
    [InlineData("user", null, "user of admin by SCRAM")]
    [InlineData(null, "MONGODB-X509", "(no user name) of admin by MONGODB-X509")]
    public void A_credential_is_shown_without_its_password(string? user, string? mechanism, string shown) => Assert.Equal(
        shown, new MongoCredential(user, "S3cr3t", "admin", mechanism, new Dictionary<string, string>()).ToString());

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
