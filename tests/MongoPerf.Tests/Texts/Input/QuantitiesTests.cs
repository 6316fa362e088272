using MongoPerf.Options;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Texts.Input;

public sealed class QuantitiesTests
{
    [Theory]
    [InlineData("1", 1)]
    [InlineData("20000", 20_000)]
    [InlineData("20_000", 20_000)]
    [InlineData("10k", 10_000)]
    [InlineData("1.5k", 1_500)]
    [InlineData("500M", 500_000_000)]
    [InlineData("500m", 500_000_000)]
    [InlineData("0.5M", 500_000)]
    [InlineData("1G", 1_000_000_000)]
    [InlineData("2b", 2_000_000_000)]
    [InlineData("1e6", 1_000_000)]
    [InlineData("1E6", 1_000_000)]
    [InlineData(" 7 M ", 7_000_000)]
    [InlineData("1e15", 1_000_000_000_000_000)]
    public void Counts_are_read(string text, long count) => Assert.Equal(count, Quantities.ParseCount(text));

    [Theory]
    [InlineData("")]
    [InlineData("M")]
    [InlineData("many")]
    [InlineData("-5")]
    [InlineData("1,000")]
    [InlineData("0x10")]
    [InlineData("1MB")]
    [InlineData("1e400")]
    [InlineData("NaN")]
    [InlineData("1 2")]
    public void What_is_no_count_is_refused_with_examples(string text) => CheckRefusal(
        () => Quantities.ParseCount(text), $"'{text}' is not a count such as 500M, 1e6, 10k or 20000");

    [Theory]
    [InlineData("0", 1, "'0' is out of range; allowed: 1 to 1e15")]
    [InlineData("2e15", 1, "'2e15' is 2000000000000000; allowed: 1 to 1e15")]
    [InlineData("9", 10, "'9' is out of range; allowed: 10 to 1e15")]
    [InlineData("1.5", 1, "'1.5' is not a whole number")]
    [InlineData("1.0005k", 1, "'1.0005k' is not a whole number")]
    public void Counts_out_of_bounds_are_refused(string text, long least, string message) =>
        CheckRefusal(() => Quantities.ParseCount(text, least), message);

    [Theory]
    [InlineData("0", 0, 0)]
    [InlineData("10", 10, 10)]
    public void The_least_count_is_allowed(string text, long least, long count) => Assert.Equal(count, Quantities.ParseCount(text, least));

    [Theory]
    [InlineData("1", 1)]
    [InlineData("512b", 512)]
    [InlineData("4KB", 4096)]
    [InlineData("256MB", 268_435_456)]
    [InlineData("256MiB", 268_435_456)]
    [InlineData("7GB", 7_516_192_768)]
    [InlineData("1.5gb", 1_610_612_736)]
    [InlineData("1TB", 1_099_511_627_776)]
    public void Sizes_are_powers_of_1024(string text, long bytes) => Assert.Equal(bytes, Quantities.ParseSize(text));

    [Theory]
    [InlineData("")]
    [InlineData("GB")]
    [InlineData("big")]
    [InlineData("-1GB")]
    [InlineData("7 elephants")]
    public void What_is_no_size_is_refused_with_examples(string text) => CheckRefusal(
        () => Quantities.ParseSize(text), $"'{text}' is not a size such as 7GB, 256MB or 1.5GB");

    [Theory]
    [InlineData("0")]
    [InlineData("0.5")]
    [InlineData("2000000TB")]
    public void Sizes_out_of_bounds_are_refused(string text) =>
        CheckRefusal(() => Quantities.ParseSize(text), $"'{text}' is out of range; allowed: 1B to 1e18B");

    [Theory]
    [InlineData("500us", 0.0005)]
    [InlineData("500ms", 0.5)]
    [InlineData("90s", 90)]
    [InlineData("1.5s", 1.5)]
    [InlineData("10m", 600)]
    [InlineData("2h", 7200)]
    [InlineData("2 H", 7200)]
    [InlineData("0s", 0)]
    [InlineData("0", 0)]
    public void Durations_are_seconds(string text, double seconds) => Assert.Equal(seconds, Quantities.ParseDuration(text), 12);

    [Theory]
    [InlineData("")]
    [InlineData("10")]
    [InlineData("s")]
    [InlineData("soon")]
    [InlineData("-1s")]
    [InlineData("1w")]
    public void A_duration_needs_its_unit(string text) => CheckRefusal(
        () => Quantities.ParseDuration(text), $"'{text}' is not a duration such as 90s, 500ms, 10m or 2h");

    [Fact]
    public void A_duration_over_a_year_is_refused() =>
        CheckRefusal(() => Quantities.ParseDuration("8761h"), "'8761h' is out of range; allowed: 0s to 8760h");

    [Theory]
    [InlineData("all", 1)]
    [InlineData("none", 0)]
    [InlineData("1%", 0.01)]
    [InlineData("0.5%", 0.005)]
    [InlineData("100%", 1)]
    public void Shares_are_read(string text, double share) => Assert.Equal(share, SharedOptions.ParseShare(text), 12);

    [Theory]
    [InlineData("some")]
    [InlineData("1")]
    [InlineData("101%")]
    [InlineData("-1%")]
    [InlineData("NaN%")]
    [InlineData("%")]
    public void What_is_no_share_is_refused(string text) =>
        CheckRefusal(() => SharedOptions.ParseShare(text), $"'{text}' is not valid; allowed: all, none, or a percentage such as 1%");

    private static void CheckRefusal(Func<object> parse, string message) =>
        Assert.Equal(message, Assert.Throws<FormatException>(() => { parse(); }).Message);
}
