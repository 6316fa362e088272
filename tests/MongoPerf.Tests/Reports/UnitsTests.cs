using MongoPerf.Reports;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Reports;

public sealed class UnitsTests
{
    [Theory]
    [InlineData(0, "0")]
    [InlineData(7, "7")]
    [InlineData(999, "999")]
    [InlineData(999.6, "1k")]
    [InlineData(1000, "1k")]
    [InlineData(1500, "1.5k")]
    [InlineData(250_000, "250k")]
    [InlineData(999_700, "1M")]
    [InlineData(1_234_567, "1.23M")]
    [InlineData(10_000_000, "10M")]
    [InlineData(500_000_000, "500M")]
    [InlineData(2_000_000_000_000_000, "2000T")]
    [InlineData(double.NaN, "-")]
    public void Counts_have_three_digits_and_a_letter(double count, string expected) => Assert.Equal(expected, Units.Count(count));

    [Theory]
    [InlineData(0d, "0 B")]
    [InlineData(512d, "512 B")]
    [InlineData(25_000_000d, "25 MB")]
    [InlineData(3_400_000_000d, "3.4 GB")]
    [InlineData(null, "-")]
    public void Bytes_are_decimal(double? bytes, string expected) => Assert.Equal(expected, Units.Bytes(bytes));

    [Theory]
    [InlineData(268_435_456d, "256 MiB")]
    [InlineData(1023d, "1023 B")]
    [InlineData(1_610_612_736d, "1.5 GiB")]
    public void Binary_bytes_say_so(double? bytes, string expected) => Assert.Equal(expected, Units.BinaryBytes(bytes));

    [Theory]
    [InlineData(0, "0 charts")]
    [InlineData(1, "1 chart")]
    [InlineData(1234, "1,234 charts")]
    public void One_of_a_thing_is_no_plural(long count, string expected) => Assert.Equal(expected, Units.Counted(count, "chart"));

    [Fact]
    public void Rates_of_bytes_are_per_second() => Assert.Equal("25 MB/s", Units.BytesPerSecond(25_000_000));

    [Theory]
    [InlineData(0.5, "0.5 µs")]
    [InlineData(850d, "850 µs")]
    [InlineData(999.4, "999 µs")]
    [InlineData(999.6, "1 ms")]
    [InlineData(1200d, "1.2 ms")]
    [InlineData(2_350_000d, "2.35 s")]
    [InlineData(3_600_000_000d, "3600 s")]
    [InlineData(null, "-")]
    public void Latencies_take_the_unit_that_fits(double? microseconds, string expected) =>
        Assert.Equal(expected, Units.Latency(microseconds));

    [Theory]
    [InlineData(44_123.4, "44,123")]
    [InlineData(99.96, "100")]
    [InlineData(12.34, "12.3")]
    [InlineData(0.05, "0.05")]
    [InlineData(double.PositiveInfinity, "-")]
    public void Rates_are_whole_from_a_hundred_on(double? rate, string expected) => Assert.Equal(expected, Units.Rate(rate));

    [Theory]
    [InlineData(0.126, "0.13 s")]
    [InlineData(12.34, "12.3 s")]
    [InlineData(59.96, "1 min 00 s")]
    [InlineData(312, "5 min 12 s")]
    [InlineData(3599.7, "1 h 00 min")]
    [InlineData(3720, "1 h 02 min")]
    [InlineData(273_600, "3 d 04 h")]
    public void Durations_have_two_units_at_most(double seconds, string expected) =>
        Assert.Equal(expected, Units.Duration(TimeSpan.FromSeconds(seconds)));

    [Theory]
    [InlineData(0.97, "97 %")]
    [InlineData(0.005, "0.5 %")]
    [InlineData(-0.00000001, "0 %")]
    [InlineData(double.NaN, "-")]
    public void Shares_are_percent(double share, string expected) => Assert.Equal(expected, Units.Percent(share));
}
