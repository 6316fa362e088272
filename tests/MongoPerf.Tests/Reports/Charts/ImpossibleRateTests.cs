using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Findings;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Charts;

/// <summary>Nobody uses more cores than there are.</summary>
public sealed class ImpossibleRateTests
{
    private static readonly ServerTimeline.Line ServerCpu = new(
        "server_cpu", "server", "server", MetricCatalogue.Server, ["server_user_time", "server_system_time"], 1e-6);

    /// <summary>Started 3 s before the first answer, while the sampler waited for its next attempt: 6 core-seconds of two cores.</summary>
    [Fact]
    public void A_server_that_is_heard_again_worked_since_its_start_and_not_since_the_last_look()
    {
        const double uptime = 3;
        long at = ScriptedRun.At(0);
        MetricSample[] samples =
        [
            Server(at, 50e6, 100), Silent(at + 1000), Silent(at + 2000), Silent(at + 3000), Server(at + 4000, 6e6, uptime),
            Server(at + 5000, 8e6, uptime + 1),
        ];
        TimeAxis axis = AxisOver(at, at + 6000);
        double[] cores = [.. ServerTimeline.Read([ServerCpu], samples, axis).Select(one => one.Value)];
        Assert.Equal([1.5, 2], cores.Select(value => Math.Round(value, 3)));
    }

    [Fact]
    public void Other_programs_use_no_more_than_the_machine_even_where_a_sample_is_dated_late()
    {
        using var run = new ScriptedRun();
        run.Phase("q4", [1000, 1000, 1000, 1000, 1000, 1000]);
        // The machine's two cores were busy with others throughout; the sample of second 3 is dated 0.9 s late.
        for (int second = 0; second <= 7; second++)
        {
            double[] values = new double[MetricCatalogue.Host.Count];
            values[MetricCatalogue.IndexOf(MetricCatalogue.Host, "cpu_user")] = second * 2e6;
            run.Store.AddHostSample(new MetricSample(ScriptedRun.At(second == 3 ? 3.9 : second), "client", values));
        }

        run.Store.SetEnvironment(RunParts.Environment() with { CpuCount = 2 });
        using StoredRun stored = run.End();
        HostSecond[] seconds = [.. HostSecond.Of(stored)];
        Assert.Equal(7, seconds.Length);
        Assert.All(seconds, second => Assert.InRange(second.OtherCores!.Value, 0, 2.000001));
        Assert.All(MachineUse.Of(stored).Values, use => Assert.InRange(use.OtherCores!.Value, 0, 2.000001));
    }

    private static MetricSample Server(long at, double microseconds, double uptime)
    {
        double[] values = new double[MetricCatalogue.Server.Count];
        values[MetricCatalogue.IndexOf(MetricCatalogue.Server, "server_user_time")] = microseconds;
        values[MetricCatalogue.IndexOf(MetricCatalogue.Server, "uptime")] = uptime;
        return new MetricSample(at, "127.0.0.1:27017", values);
    }

    private static MetricSample Silent(long at)
    {
        double[] values = new double[MetricCatalogue.Server.Count];
        Array.Fill(values, double.NaN);
        return new MetricSample(at, "127.0.0.1:27017", values);
    }

    private static TimeAxis AxisOver(long from, long to)
    {
        using var run = new ScriptedRun();
        run.Phase("q4", [.. Enumerable.Repeat(1000.0, (int)((to - from) / 1000))]);
        using StoredRun stored = run.End();
        return OperationSeconds.Of(stored).Axis;
    }
}
