using System.Text.Json;
using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Tests.Reports.Comparison;

namespace MongoPerf.Tests.Learning;

/// <summary>
/// What is learnt of values and keys from how often they came, beside what statistics.py finds by sums over all ranks and the likelihood
/// of each key.
/// </summary>
public sealed class FitOracleTests
{
    [Fact]
    public void How_many_values_there_are_and_how_unevenly_they_come_is_found_as_by_the_other_program()
    {
        foreach (JsonElement one in StatisticsOracleTests.Oracle.RootElement.GetProperty("counts").EnumerateArray())
        {
            long[] counts = [.. one.GetProperty("counts").EnumerateArray().Select(count => count.GetInt64())];
            double[] expected = StatisticsOracleTests.Doubles(one.GetProperty("found"));
            Cardinality found = Cardinality.Of(counts, one.GetProperty("total").GetDouble());
            string text = $"{found} in place of {string.Join(", ", expected)}";
            Assert.True(Math.Abs(found.Distinct / expected[0] - 1) < 0.005, text);
            Assert.True(Math.Abs(found.Drawn / expected[1] - 1) < 0.005, text);
            Assert.True(Math.Abs(found.Theta - expected[2]) < 0.002, text);
        }
    }

    [Fact]
    public void How_keys_are_chosen_is_found_as_by_the_other_program()
    {
        foreach (JsonElement one in StatisticsOracleTests.Oracle.RootElement.GetProperty("keys").EnumerateArray())
        {
            Dictionary<long, long> frequencies = one.GetProperty("frequencies").EnumerateArray()
                .ToDictionary(pair => pair[0].GetInt64(), pair => pair[1].GetInt64());
            double[] expected = StatisticsOracleTests.Doubles(one.GetProperty("found"));
            FieldPopulation? population = one.GetProperty("population") is { ValueKind: JsonValueKind.Number } keys
                ? new FieldPopulation(keys.GetInt64(), keys.GetInt64()) : null;
            KeyDistribution found = KeyFit.Of(frequencies, population);
            Assert.Equal(expected[0] == 1 ? KeyDistributionKind.Zipfian : KeyDistributionKind.Uniform, found.Kind);
            Assert.True(Math.Abs(found.Theta - expected[1]) < 0.01, $"{found} in place of {string.Join(", ", expected)}");
            Assert.Equal(expected[2] == 1, found.IsScrambled);
        }
    }
}
