using System.Numerics;
using MongoPerf.Measurement;

namespace MongoPerf.Tests.Load.Keys;

public sealed class FowlerNollVoTests
{
    /// <summary>YCSB's first records are known by these names everywhere: user6284781860667377211 and so on.</summary>
    [Theory]
    [InlineData(0, 6284781860667377211)]
    [InlineData(1, 8517097267634966620)]
    [InlineData(2, 1820151046732198393)]
    [InlineData(3, 4052466453699787802)]
    public void Numbers_hash_to_YCSBs_keys(long number, long hash) => Assert.Equal(hash, FowlerNollVo.Hash(number));

    [Theory]
    [InlineData(long.MaxValue)]
    [InlineData(long.MinValue)]
    [InlineData(-1)]
    [InlineData(10_000_000_000)]
    public void A_hash_is_the_one_of_the_definition(long number)
    {
        BigInteger hash = BigInteger.Parse("14695981039346656037");
        foreach (byte part in BitConverter.GetBytes(number))
            hash = (hash ^ part) * 1_099_511_628_211 % BigInteger.Pow(2, 64);
        if (hash >= BigInteger.Pow(2, 63))
            hash = BigInteger.Pow(2, 64) - hash;
        Assert.Equal(hash, FowlerNollVo.Hash(number));
    }
}
