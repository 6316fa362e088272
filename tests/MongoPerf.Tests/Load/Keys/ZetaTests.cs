using MongoPerf.Load.Keys;

namespace MongoPerf.Tests.Load.Keys;

public sealed class ZetaTests
{
    /// <summary>Of 10^10 terms, as YCSB has it built in (ScrambledZipfianGenerator); adding so many has cost it the last digits.</summary>
    internal const double Ycsb = 26.46902820178302;

    [Fact]
    public void Zeta_of_ten_thousand_million_terms_is_YCSBs() => Assert.Equal(Ycsb, new Zeta(0.99).Of(10_000_000_000), 1e-10);

    [Theory]
    [InlineData(0.99)]
    [InlineData(0.5)]
    [InlineData(0.01)]
    public void Zeta_is_the_sum_of_its_terms(double theta)
    {
        var zeta = new Zeta(theta);
        double sum = 0;
        for (int n = 1; n <= 1_000_000; n++)
        {
            sum += Math.Pow(n, -theta);
            if (n < 200 || n % 99_991 == 0)
                Assert.Equal(1, zeta.Of(n) / sum, 1e-11);
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(-0.5)]
    [InlineData(double.NaN)]
    public void A_theta_outside_of_the_definition_is_refused(double theta) =>
        Assert.Contains("above 0 and below 1",
            Assert.Throws<ArgumentOutOfRangeException>(() => new ZipfianKeys(new KeySpace(5), theta)).Message, StringComparison.Ordinal);
}
