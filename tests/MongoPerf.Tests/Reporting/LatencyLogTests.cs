using MongoPerf.Engine.Runs;
using MongoPerf.Reporting;
using MongoPerf.Tests.Reporting.Comparison;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reporting;

public sealed class LatencyLogTests
{
    [Fact]
    public void A_name_with_blanks_and_commas_becomes_a_tag_without()
    {
        using var runs = new TemporaryFolder();
        using StoredRun run = StoredRun.Open(new NoisyRun { Steps = 1, Tests = ["build price, twice"] }.Write(runs.Path));
        var output = new StringWriter();
        LatencyLog.Write(run, output);
        string[] tagged = [.. output.ToString().Split('\n').Where(line => line.StartsWith("Tag=", StringComparison.Ordinal))];
        Assert.NotEmpty(tagged);
        Assert.All(tagged, line => Assert.StartsWith("Tag=build_price__twice,", line, StringComparison.Ordinal));
    }
}
