using MongoPerf.Storage;

namespace MongoPerf.Tests.Support;

/// <summary>A calibration whose figures are easy to reckon with: one microsecond outside of the service time, 1 kB documents.</summary>
internal static class Calibrations
{
    public static ClientCalibration Of(string cpuModel = "Example CPU @ 2.60GHz") => new()
    {
        CpuModel = cpuModel,
        CpuCount = 8,
        At = new DateTimeOffset(2026, 11, 22, 16, 0, 0, TimeSpan.Zero),
        Version = "0.1.0",
        Costs =
        [
            Cost(ClientCalibration.UnacknowledgedInsert, 3, 1000),
            Cost(ClientCalibration.BatchInsert, 1030, 1_000_000),
            Cost(ClientCalibration.AcknowledgedInsert, 31, 1000),
            Cost(ClientCalibration.ShortFind, 40, 10_000), Cost(ClientCalibration.LongFind, 130, 100_000),
            Cost(ClientCalibration.Update, 30, 0),
        ],
    };

    /// <summary>The driver takes 50 µs, 25 µs of CPU and 8,000 bytes more for each operation.</summary>
    public static ClientCalibration WithDriver(this ClientCalibration calibration) => calibration with
    {
        Driver = new DriverCosts("3.14.0", [.. calibration.Costs.Select(cost => cost with
        {
            Microseconds = cost.Microseconds + 50, ServiceMicroseconds = cost.ServiceMicroseconds + 50,
            CpuMicroseconds = cost.CpuMicroseconds + 25, AllocatedBytes = cost.AllocatedBytes + 8000,
        })]),
    };

    private static OperationCost Cost(string kind, double microseconds, double bytes) => new()
    {
        Kind = kind,
        Microseconds = microseconds,
        ServiceMicroseconds = microseconds - 1,
        CpuMicroseconds = microseconds / 2,
        AllocatedBytes = 0.5,
        DocumentBytes = bytes,
    };
}
