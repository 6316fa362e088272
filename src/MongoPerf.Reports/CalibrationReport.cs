using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>A calibration for people and for programs.</summary>
public static class CalibrationReport
{
    private const string Schema = "mongoperf/calibration/1";

    /// <param name="calibration">Just measured.</param>
    /// <param name="other">What other programs used meanwhile; null for too little to matter.</param>
    /// <param name="file">Where it is stored, as shown.</param>
    /// <param name="runs">By which it was measured.</param>
    public static Report Of(ClientCalibration calibration, OtherLoad? other, string file, IReadOnlyList<StoredRun> runs)
    {
        Verdict calibrated = new(Grade.Good,
            Words.Of($"calibrated for {calibration.CpuModel}: later runs on this CPU model state the client's share of what they measure"));
        Verdict[] disturbed =
            other is null ? [] : [new(Grade.Note, Words.Of($"{other.Sentence}: calibrate again when the machine is quiet"))];
        Verdict stored = new(Grade.Good, Words.Of($"stored in {file}"));
        return new Report(Words.Of("MongoPerf: calibration"), [new Block.Verdicts([calibrated, .. disturbed, stored])],
            [
                Section.Of(OwnCosts(calibration)),
                .. calibration.Driver is { } driver ? [Section.Of(DriverCosts(calibration, driver))] : Array.Empty<Section>(),
            ]).Marked(runs);
    }

    public static void WriteJson(
        ClientCalibration calibration, OtherLoad? other, string file, IReadOnlyList<StoredRun> runs, TextWriter output) =>
        JsonReport.WriteValue(output, new
        {
            schema = Schema,
            notMongoDb = NotMongoDb.Mark(runs),
            calibration.CpuModel, calibration.CpuCount, calibration.At, calibration.Version, calibration.OtherCores,
            otherPrograms = other?.Sentence,
            file,
            calibration.Costs,
            calibration.Driver,
        });

    private static ReportTable OwnCosts(ClientCalibration calibration) => new(
        Words.Of("client and loopback on the null deployment, one thread: per operation"),
        ["<operation", "time", "service time", "client CPU", "allocated", "documents"],
        [.. calibration.Costs.Select(cost => (IReadOnlyList<string>)
        [
            cost.Kind, Units.Latency(cost.Microseconds), Units.Latency(cost.ServiceMicroseconds), Units.Latency(cost.CpuMicroseconds),
            Units.Bytes(cost.AllocatedBytes), Units.Bytes(cost.DocumentBytes),
        ])]);

    private static ReportTable DriverCosts(ClientCalibration calibration, DriverCosts driver) => new(
        Words.Of($"the same through MongoDB.Driver {driver.Version}, and what it adds"),
        ["<operation", "time", "client CPU", "allocated", "added time", "added CPU", "added bytes"],
        [.. driver.Costs.Select(cost => (cost, AddedCost.Between(calibration.Costs.First(own => own.Kind == cost.Kind), cost)))
            .Select(one => (IReadOnlyList<string>)
            [
                one.cost.Kind, Units.Latency(one.cost.Microseconds), Units.Latency(one.cost.CpuMicroseconds),
                Units.Bytes(one.cost.AllocatedBytes),
                Units.Latency(one.Item2.Microseconds), Units.Latency(one.Item2.CpuMicroseconds), Units.Bytes(one.Item2.AllocatedBytes),
            ])]);
}
