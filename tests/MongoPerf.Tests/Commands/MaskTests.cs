using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Commands;

/// <summary>A command line is stored and shown with the run: no secret may be in it.</summary>
public sealed class MaskTests
{
    [Theory]
    [InlineData("mongodb://user:hunter2@host/db", "mongodb://user:***@host/db")]
    [InlineData("mongodb+srv://user:hunter2@host", "mongodb+srv://user:***@host")]
    [InlineData("--uri=mongodb://user:hunter2@h1,h2:27018/?w=1", "--uri=mongodb://user:***@h1,h2:27018/?w=1")]
    [InlineData("mongodb://user:hunt@er2@host", "mongodb://user:***@host")]
    [InlineData("user:hunter2@host:27017", "user:***@host:27017")]
    [InlineData("--uri=user:hunter2@host:27017", "--uri=user:***@host:27017")]
    [InlineData("--frobnicate=mongodb://user:hunter2@host", "--frobnicate=mongodb://user:***@host")]
    [InlineData("mongodb://user:hun/ter2@host", "mongodb://user:***@host")]
    [InlineData("mongodb://user:hun/t?er2@host/db?w=1", "mongodb://user:***@host/db?w=1")]
    [InlineData("mongodb://user:1/x@host", "mongodb://user:***@host")]
    [InlineData("postgres://user:hunter2@host/db", "postgres://user:***@host/db")]
    [InlineData("mongodb://user:@host", "mongodb://user:***@host")]
    [InlineData(
        "mongodb://host/?tlsCertificateKeyFilePassword=hunter2&tls=true", "mongodb://host/?tlsCertificateKeyFilePassword=***&tls=true")]
    [InlineData("mongodb://host/?authMechanismProperties=AWS_SESSION_TOKEN:hunter2", "mongodb://host/?authMechanismProperties=***")]
    [InlineData("http://host:4318/v1/metrics?api_key=hunter2", "http://host:4318/v1/metrics?***")]
    [InlineData("--otlp=https://host?token=hunter2&x='y z'#f", "--otlp=https://host?***")]
    public void Passwords_are_masked(string argument, string masked) =>
        Assert.Equal($"mongoperf series '{masked}'", Masking.MaskCall(["series", argument]));

    [Theory]
    [InlineData("mongodb://host:27017/db")]
    [InlineData("mongodb://user@host")]
    [InlineData("mongodb://h1:27017,h2:27018/db")]
    [InlineData("--shares=10/85/5")]
    [InlineData("localhost:27017")]
    public void The_rest_is_left_as_typed(string argument) =>
        Assert.Equal($"mongoperf run q4 {argument}", Masking.MaskCall(["run", "q4", argument]));

    [Theory]
    [InlineData("no scenario 'mongodb://user:hunter2@host'", "no scenario 'mongodb://user:***@host'")]
    [InlineData("'mongodb://a:hunter2@h' and mongodb://b:hunter2@h/?tlsCertificateKeyFilePassword=x&w=1",
        "'mongodb://a:***@h' and mongodb://b:***@h/?tlsCertificateKeyFilePassword=***&w=1")]
    [InlineData("no answer from https://host/v1?key=hunter2: 401", "no answer from https://host/v1?*** 401")]
    [InlineData("'http://host/?key=hunter2' is wrong", "'http://host/?***' is wrong")]
    [InlineData("'user:hun ter/2@host' is not a count", "'user:hun ter/2@host' is not a count")]
    [InlineData("127.0.0.1:27017: refused, see a@b", "127.0.0.1:27017: refused, see a@b")]
    public void A_message_shows_no_password(string text, string masked) => Assert.Equal(masked, Masking.MaskText(text, []));

    /// <summary>What was typed is known whole, so blanks and slashes in it hide nothing.</summary>
    [Theory]
    [InlineData("mongodb://user:hun ter/2@host", "no run 'mongodb://user:hun ter/2@host' in /runs",
        "no run 'mongodb://user:***@host' in /runs")]
    [InlineData("--target=mongodb://user:hun ter2@host", "--target: 'mongodb://user:hun ter2@host' is not a count",
        "--target: 'mongodb://user:***@host' is not a count")]
    public void A_message_that_quotes_an_argument_shows_no_password(string typed, string text, string masked) =>
        Assert.Equal(masked, Masking.MaskText(text, ["run", typed]));

    [Theory]
    [InlineData("mongodb:/user:hunter2@host", "mongodb:/user:***@host")]
    [InlineData("mongodb:///user:hunter2@host", "mongodb:///user:***@host")]
    [InlineData("mongodb:user:hunter2@host", "mongodb:***@host")]
    [InlineData("password=hunter2", "password=***")]
    public void Slashes_may_be_missing_or_too_many(string argument, string masked) => Assert.Equal(masked, Masking.MaskArgument(argument));

    /// <summary>
    /// Whatever a command makes of a connection string that was typed in a wrong place: a path, its folder, its name, a part of a
    /// list, a decoded text.
    /// </summary>
    [Fact]
    public void No_text_made_of_what_was_typed_shows_a_part_of_a_password()
    {
        var random = new Random(36);
        Func<string, string>[] manglings =
        [
            text => text, Path.GetFullPath, text => Path.GetDirectoryName(text) ?? "", Path.GetFileName,
            text => text.Replace("//", "/", StringComparison.Ordinal),
            Uri.UnescapeDataString, text => text.ToLowerInvariant(), text => text.TrimEnd('/'), text => $"--uri={text}",
            text => $"'{text}'", text => text.Split(',')[^1], text => text.Split(',')[0],
            text => text.Replace('/', '\\'), text => $"/tmp/{text}/x.yaml", text => text.Split('?')[0], text => text.Split('=')[^1],
        ];
        for (int i = 0; i < 20_000; i++)
        {
            string[] tokens = [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => $"Q{random.Next(1000, 9999)}Z")];
            string password = string.Join(Pick(random, "/", "//", "@", ":", "%2F", "%40", ",", "?", " ", "/../", "=", "&"), tokens);
            string scheme = Pick(random, "mongodb://", "mongodb:/", "mongodb+srv://", "MongoDB:///", "");
            string user = Pick(random, "user", "us.er", "a%40b");
            string typed = $"{scheme}{user}:{password}@{Pick(random, "host", "h1,h2:27018", "host/db?w=1", "127.0.0.1:27017/")}";
            // Without a scheme only what has no slash, question mark or blank is known for a connection string.
            if (Masking.MaskArgument(typed) == typed)
                continue;
            string text = typed;
            for (int n = random.Next(4); n > 0; n--)
                text = text.Length == 0 ? text : manglings[random.Next(manglings.Length)](text);
            string shown = Masking.MaskText($"no file {text} here", ["new", typed]);
            Assert.False(tokens.Any(token => shown.Contains(token, StringComparison.OrdinalIgnoreCase)), $"{typed}\n{text}\n{shown}");
        }
    }

    [Fact]
    public void A_short_password_takes_no_words_out_of_messages() =>
        Assert.Equal("error: no file mongodb:/u:***@h in a folder",
            Masking.MaskText("error: no file mongodb:/u:a@h in a folder", ["new", "mongodb://u:a@h"]));

    [Fact]
    public void What_a_command_prints_is_masked_too()
    {
        Masking.Typed = ["new", "mongodb://user:hunter2@host"];
        Assert.True(Masking.TypedHoldsSecret);
        using var output = new StringWriter();
        using TextWriter covered = Masking.Cover(output);
        covered.WriteLine("mongodb:/user:hunter2@host written");
        covered.Write("in mongodb:/user:hunter2@host".ToCharArray(), 0, 29);
        Assert.Equal("mongodb:/user:***@host written\nin mongodb:/user:***@host", output.ToString());
        Masking.Typed = ["new", "my.yaml"];
        Assert.False(Masking.TypedHoldsSecret);
    }

    private static string Pick(Random random, params string[] of) => of[random.Next(of.Length)];

    [Theory]
    [InlineData("my runs", "'my runs'")]
    [InlineData("mongodb://host/?tls=true&w=1", "'mongodb://host/?tls=true&w=1'")]
    [InlineData("p99 < 10ms", "'p99 < 10ms'")]
    [InlineData("$HOME", "'$HOME'")]
    [InlineData("it's", "'it'\\''s'")]
    [InlineData("", "''")]
    public void What_a_shell_would_read_otherwise_is_quoted(string argument, string quoted) =>
        Assert.Equal($"mongoperf clean {quoted}", Masking.MaskCall(["clean", argument]));
}
