using System.Text.Json;
using MongoPerf.Commands;
using MongoPerf.Reports;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Reports;

/// <summary>What a run says of the client's share of the time, where its CPU model was calibrated.</summary>
public sealed class ClientShareTests : IDisposable
{
    private const string Known = "calibrated 2026-11-22 on this CPU model";

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void A_run_states_the_largest_share_of_its_operations()
    {
        // 40 µs of a find of 10 kB, 31 µs of an insert: 1 µs of each is outside of the service time.
        ClientLimit limit = LimitOf(Calibrations.Of(), RunParts.Phase(1, "q4", Result("find", 199, 10_000)),
            RunParts.Phase(2, "safe", Result("safe", 61.5, 1000)));
        Assert.Equal($"the client itself takes at most 31 µs of the 62 µs per operation (50 %), in safe; {Known}", limit.Share);
        Assert.False(limit.IsLimit);
    }

    [Fact]
    public void A_share_over_a_half_makes_the_client_the_limit()
    {
        ClientLimit limit = LimitOf(
            Calibrations.Of() with { OtherCores = 1.24 },
            RunParts.Phase(1, "q4", Result("find", 79, 10_000)), RunParts.Phase(2, "q7", Result("find", 199, 100_000)),
            RunParts.Phase(3, "safe", Result("safe", 39, 1000)));
        Assert.True(limit.IsLimit);
        Assert.Null(limit.Share);
        Assert.Equal(
            ["the client itself is the limit in q7 (130 µs of the 200 µs per operation, 65 %), safe (31 µs of the 40 µs per operation, "
                + $"78 %): a faster server would make little difference; {Known} while other programs used 1.2 cores"],
            limit.Sentences);
    }

    [Fact]
    public void A_client_that_used_its_core_up_and_takes_little_of_the_time_is_told_both_ways()
    {
        ClientLimit limit = LimitOf(Calibrations.Of(), RunParts.Phase(1, "q4", Result("find", 399, 10_000) with { ClientCpuCores = 0.95 }));
        Assert.Equal(["the client was the bottleneck in q4 (0.95 of the 1 core that 1 thread can use)"], limit.Sentences);
        Assert.Equal($"the client itself takes at most 40 µs of the 400 µs per operation (10 %), in q4; {Known}", limit.Share);
    }

    [Fact]
    public void Without_a_calibration_nothing_is_said()
    {
        ClientLimit limit = LimitOf(null, RunParts.Phase(1, "q4", Result("find", 20, 10_000)));
        Assert.Null(limit.Share);
        Assert.Equal(
            ["the client was not the bottleneck: it used at most 0.5 of the 1 core that 1 thread can use, in q4"], limit.Sentences);
    }

    [Theory]
    [InlineData("find", 10_000, 40)]
    [InlineData("find", 55_000, 85)]
    [InlineData("find", 1000, 31)]
    [InlineData("find", 0, 30)]
    [InlineData("safe", 1000, 31)]
    [InlineData("batch", 500_500, 530.5)]
    [InlineData("batch", 2_000_000, 2031)]
    public void What_an_operation_costs_lies_on_the_line_of_its_kind(string operation, double bytes, double microseconds) =>
        Assert.Equal(microseconds, Calibrations.Of().CostOf(Result(operation, 5000, bytes))!.Microseconds, 1.0);

    [Fact]
    public void Unacknowledged_operations_cost_what_sending_costs() =>
        Assert.Equal(3, Calibrations.Of().CostOf(Result("unack", 5000, 1000) with { IsUnacknowledged = true })!.Microseconds);

    /// <summary>10,000 a second by one thread are 100 µs each, however short the send was.</summary>
    [Fact]
    public void The_share_of_unacknowledged_inserts_is_of_the_time_by_their_rate() =>
        Assert.Equal(0.03, Assert.Single(ClientShare.Of(
            RunParts.Phase(1, "unack", Result("unack", 1.5, 1000) with { IsUnacknowledged = true, Threads = 1 }),
            Calibrations.Of())).Share, 3);

    [Fact]
    public void Nobody_takes_more_than_all_of_the_time()
    {
        ClientShare share = Assert.Single(ClientShare.Of(RunParts.Phase(1, "q4", Result("find", 9, 10_000)), Calibrations.Of()));
        Assert.Equal((10, 10, 1), (share.ClientMicroseconds, share.Microseconds, share.Share));
    }

    /// <summary>
    /// One operation is not what the client costs: it pays for what happens once, and its core was whoever's at that moment.
    /// </summary>
    [Fact]
    public void A_phase_of_hardly_any_operations_judges_no_client()
    {
        OperationResult one = Result("find", 20, 10_000) with { Operations = 1, Seconds = 0.02, ClientCpuCores = 1 };
        ClientLimit limit = LimitOf(
            Calibrations.Of(), RunParts.Phase(1, "once", one), RunParts.Phase(2, "q4", Result("find", 399, 10_000)));
        Assert.False(limit.IsLimit);
        Assert.Equal(
            ["the client was not the bottleneck: it used at most 0.5 of the 1 core that 1 thread can use, in q4"], limit.Sentences);
        Assert.Equal($"the client itself takes at most 40 µs of the 400 µs per operation (10 %), in q4; {Known}", limit.Share);
        Assert.Empty(ClientShare.Of(RunParts.Phase(1, "once", one), Calibrations.Of()));
    }

    [Fact]
    public void Costs_that_nobody_measures_say_nothing()
    {
        ClientCalibration hostile = Calibrations.Of();
        hostile = hostile with { Costs = [.. hostile.Costs.Select(cost => cost with { Microseconds = double.NaN })] };
        Assert.Null(LimitOf(hostile, RunParts.Phase(1, "q4", Result("find", 20, 10_000))).Share);
        ClientCalibration driven = Calibrations.Of().WithDriver();
        Assert.Null(LimitOf(driven with { Driver = driven.Driver! with { Costs = hostile.Costs } },
            RunParts.Phase(1, "q4", Result("find", 20, 10_000))).Share);
        Assert.Null(LimitOf(hostile with { Costs = [] }, RunParts.Phase(1, "q4", Result("find", 20, 10_000))).Share);
    }

    [Fact]
    public void The_JSON_has_each_operations_share_and_the_calibration()
    {
        using StoredRun run = Stored(Calibrations.Of(), RunParts.Phase(1, "mix", Result("read", 199, 10_000), Result("update", 119, 0)));
        using var text = new StringWriter();
        JsonReport.Write(run, text);
        using var json = JsonDocument.Parse(text.ToString());
        JsonElement[] shares = [.. json.RootElement.GetProperty("phases")[0].GetProperty("clientShares").EnumerateArray()];
        Assert.Equal([("read", 0.2), ("update", 0.25)],
            shares.Select(one => (one.GetProperty("operation").GetString()!, one.GetProperty("share").GetDouble())));
        Assert.Equal(6, json.RootElement.GetProperty("environment").GetProperty("calibration").GetProperty("costs").GetArrayLength());
    }

    [Fact]
    public void What_the_driver_would_add_stands_beside_the_servers_time_in_documents_and_in_the_JSON()
    {
        PhaseRecord[] phases = [RunParts.Phase(1, "q4", Result("find", 199, 10_000)), RunParts.Phase(2, "q4", Result("find", 239, 10_000))];
        using (StoredRun without = Stored(Calibrations.Of(), phases))
            Assert.Null(ClientShares.DriverTable(without));
        using StoredRun run = Stored(Calibrations.Of().WithDriver(), phases);
        ReportTable table = ClientShares.DriverTable(run)!;
        Assert.Equal("What an application would pay for MongoDB.Driver 3.14.0, per operation", table.Title);
        // Of the 240 µs at the last size 40 are the client's.
        Assert.Equal(["q4", "1", "240 µs", "200 µs", "50 µs", "25 µs", "8 kB"], Assert.Single(table.Rows));
        using var text = new StringWriter();
        JsonReport.Write(run, text);
        using var json = JsonDocument.Parse(text.ToString());
        JsonElement driver = json.RootElement.GetProperty("phases")[0].GetProperty("clientShares")[0].GetProperty("driver");
        Assert.Equal((50, 25, 8000), (driver.GetProperty("microseconds").GetDouble(), driver.GetProperty("cpuMicroseconds").GetDouble(),
            driver.GetProperty("allocatedBytes").GetDouble()));
    }

    [Fact]
    public void A_calibration_is_read_from_its_run_and_lacks_no_kind()
    {
        PhaseRecord[] phases = [.. ClientCalibration.Kinds.Select((kind, i) => RunParts.Phase(i + 1, kind,
            Result("find", 90, 10_000) with { Operations = 37_500, Seconds = 3.75, ClientAllocatedBytesPerOperation = 2 }))];
        var file = new ScenarioFile("calibrate", "scenarios/calibrate.yaml", "");
        using (StoredRun run = Stored(null, phases))
        using (StoredRun driver = Stored(null, new EngineSettings(EngineKind.Driver, "3.14.0"),
            [.. phases.Select(phase => phase with { Operations = [phase.Operations[0] with { Seconds = 7.5 }] })]))
        {
            ClientCalibration read = CalibrateCommand.Read(run, driver, null, file);
            Assert.Equal(ClientCalibration.Kinds, read.Costs.Select(cost => cost.Kind));
            Assert.Equal(new OperationCost
            {
                Kind = "update", Microseconds = 100, ServiceMicroseconds = 90, CpuMicroseconds = 12.5,
                AllocatedBytes = 2, DocumentBytes = 10_000,
            }, read.Costs[^1]);
            Assert.Equal("3.14.0", read.Driver!.Version);
            Assert.All(read.Driver.Costs, cost => Assert.Equal(200, cost.Microseconds));
            Assert.Equal(new AddedCost(100, 0, 0), read.AddedByDriver(Result("find", 90, 10_000)));
            Assert.Equal(read.Driver.Costs, ClientCalibration.Read(read.Write()).Driver!.Costs);
            Assert.Equal(("Example CPU @ 2.60GHz", RunParts.Start), (read.CpuModel, read.At));
        }

        using StoredRun lacking = Stored(null, phases[..^1]);
        UserException refused = Assert.Throws<UserException>(() => CalibrateCommand.Read(lacking, lacking, null, file));
        Assert.StartsWith("scenarios/calibrate.yaml: nothing was measured in a phase 'update'", refused.Message, StringComparison.Ordinal);
    }

    /// <param name="operation">Its name.</param>
    /// <param name="service">Mean, microseconds.</param>
    /// <param name="bytes">Of documents per operation.</param>
    private static OperationResult Result(string operation, double service, double bytes) => RunParts.Result(operation) with
    {
        OperationsPerSecond = 10_000,
        MegabytesPerSecond = 10_000 * bytes / 1e6,
        LatencyMicroseconds = RunParts.Latency(service) with { Mean = service },
    };

    private ClientLimit LimitOf(ClientCalibration? calibration, params PhaseRecord[] phases)
    {
        using StoredRun run = Stored(calibration, phases);
        return ClientLimit.Of(run);
    }

    private StoredRun Stored(ClientCalibration? calibration, params PhaseRecord[] phases) =>
        Stored(calibration, EngineSettings.Wire, phases);

    private StoredRun Stored(ClientCalibration? calibration, EngineSettings engine, params PhaseRecord[] phases)
    {
        string folder = _runs.At(Guid.NewGuid().ToString("N"));
        using (RunStore store = RunStore.Create(folder, RunParts.Run(), RunParts.Settings() with { Engine = engine }))
        {
            store.SetEnvironment(RunParts.Environment() with { Calibration = calibration });
            foreach (PhaseRecord phase in phases)
                store.EndPhase(phase);
        }

        return StoredRun.Open(folder);
    }
}
