using MongoPerf.Deployments;

namespace MongoPerf.Tests.Deployments;

public sealed class DiskGuardTests
{
    private const long GigaByte = 1_000_000_000;

    [Fact]
    public void A_run_that_would_fill_the_disk_is_refused_with_what_fits()
    {
        var guard = new DiskGuard("/data", 1000 * GigaByte, () => 102 * GigaByte);
        guard.CheckBefore(80_000_000, DiskGuard.MongodBytesPerDocument);
        var e = Assert.Throws<DeploymentException>(() => guard.CheckBefore(500_000_000, DiskGuard.MongodBytesPerDocument));
        Assert.Equal(6, (int)e.Fault);
        Assert.Contains("need about 625 GB plus 2 GB in reserve, but only 102 GB are free", e.Message, StringComparison.Ordinal);
        Assert.Contains("about 80M documents fit", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Where_nothing_fits_no_smaller_target_is_suggested()
    {
        var guard = new DiskGuard("/data", GigaByte, () => 3_000_000);
        var e = Assert.Throws<DeploymentException>(() => guard.CheckBefore(200_000, DiskGuard.MongodBytesPerDocument));
        Assert.Contains("need about 250 MB plus 256 MB in reserve, but only 3 MB are free", e.Message, StringComparison.Ordinal);
        Assert.EndsWith("hint:  choose a larger disk for the server's data (--out where the run starts the server)",
            e.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(1000, 2000)]
    [InlineData(10, 500)]
    [InlineData(1, 256)]
    public void The_reserve_is_five_percent_within_bounds(long totalGigabytes, long reserveMegabytes)
    {
        long reserve = new DiskGuard("/data", totalGigabytes * GigaByte, () => GigaByte).ReserveBytes;
        Assert.Equal(reserveMegabytes, Math.Round(reserve / 1e6));
    }

    [Fact]
    public void A_run_is_stopped_while_there_is_room_for_the_server_to_end()
    {
        long free = 20 * GigaByte;
        var guard = new DiskGuard("/data", 1000 * GigaByte, () => free);
        Assert.False(guard.IsLow(out _));
        free = GigaByte;
        Assert.True(guard.IsLow(out string text));
        Assert.Equal("/data: 1 GB of disk space left, less than the reserve of 2 GB", text);
    }

    [Theory]
    [InlineData(9_999, "9999")]
    [InlineData(10_000, "10k")]
    [InlineData(9_999_999, "9999k")]
    [InlineData(10_000_000, "10M")]
    public void What_fits_to_the_byte_is_taken_and_what_is_one_more_is_refused(long fitting, string shown)
    {
        long free = (2 * GigaByte) + (fitting * 1000);
        var guard = new DiskGuard("/data", 1000 * GigaByte, () => free);
        guard.CheckBefore(fitting, 1000);
        var e = Assert.Throws<DeploymentException>(() => guard.CheckBefore(fitting + 1, 1000));
        Assert.Contains($"about {shown} documents fit; choose a smaller --target, or a larger disk", e.Message, StringComparison.Ordinal);
        free = 2 * GigaByte;
        Assert.False(guard.IsLow(out string text));
        Assert.Empty(text);
        free--;
        Assert.True(guard.IsLow(out _));
    }

    [Fact]
    public void A_folder_that_is_not_there_yet_is_on_the_disk_of_the_one_above() =>
        Assert.True(new DiskGuard(Path.Combine(Path.GetTempPath(), "a", "b", "c")).ReserveBytes > 0);
}
