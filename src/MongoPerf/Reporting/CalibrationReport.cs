using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting;

/// <summary>A calibration for people and for programs.</summary>
internal static class CalibrationReport
{
    private const string Schema = "mongoperf/calibration/1";

    /// <param name="calibration">Just measured.</param>
    /// <param name="other">What other programs used meanwhile; null for too little to matter.</param>
    /// <param name="file">Where it is stored, as it is to be shown.</param>
    /// <param name="output">Gets the table.</param>
    /// <param name="options">How to print.</param>
    public static void Write(ClientCalibration calibration, OtherLoad? other, string file, TextWriter output, ConsoleReportOptions options) => ConsoleReport.Print(output, options, console =>
    {
        ConsoleReport.Labelled(console, new Verdict(Grade.Good, Words.Of($"calibrated for {calibration.CpuModel}: later runs on this CPU model state the client's share of what they measure")));
        if (other is not null)
            ConsoleReport.Labelled(console, new Verdict(Grade.Note, Words.Of($"{other.Sentence}: calibrate again when the machine is quiet")));
        ConsoleReport.Labelled(console, new Verdict(Grade.Good, Words.Of($"stored in {file}")));
        ConsoleReport.WriteTable(console, TableOf(calibration).Within(options.Width), options.IsTerminal);
    });

    public static void WriteJson(ClientCalibration calibration, OtherLoad? other, string file, TextWriter output) => JsonReport.WriteValue(output, new
    {
        schema = Schema,
        calibration.CpuModel, calibration.CpuCount, calibration.At, calibration.Version, calibration.OtherCores,
        otherPrograms = other?.Sentence,
        file,
        calibration.Costs,
    });

    private static ReportTable TableOf(ClientCalibration calibration) => new(
        Words.Of("client and loopback on the null deployment, one thread: per operation"),
        ["<operation", "time", "service time", "client CPU", "allocated", "documents"],
        [.. calibration.Costs.Select(cost => (IReadOnlyList<string>)
        [
            cost.Kind, Units.Latency(cost.Microseconds), Units.Latency(cost.ServiceMicroseconds), Units.Latency(cost.CpuMicroseconds), Units.Bytes(cost.AllocatedBytes), Units.Bytes(cost.DocumentBytes),
        ])]);
}
