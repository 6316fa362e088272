using System.Runtime.InteropServices;
using MongoPerf.Deployments.Installing;

namespace MongoPerf.Tests.Deployments.Installing;

public sealed class SystemPlatformTests
{
    private static readonly string[] X64 =
    [
        "debian10", "debian11", "debian12", "debian92", "ubuntu2004", "ubuntu2204", "ubuntu2404", "rhel8", "rhel90", "rhel93",
        "amazon2", "amazon2023", "suse15",
    ];
    private static readonly string[] Arm = ["ubuntu2004", "ubuntu2204", "ubuntu2404", "rhel82", "rhel93", "amazon2", "amazon2023"];

    [Theory]
    [InlineData("ID=debian\nVERSION_ID=\"12\"", "debian12")]
    [InlineData("ID=debian\nVERSION_ID=\"9\"", "debian92")]
    [InlineData("ID=debian\nVERSION_ID=\"13\"", "debian12")]
    [InlineData("ID=debian\nPRETTY_NAME=sid", "debian12")]
    [InlineData("ID=ubuntu\nVERSION_ID=\"22.04\"", "ubuntu2204")]
    [InlineData("ID=ubuntu\nVERSION_ID=\"23.10\"", "ubuntu2204")]
    [InlineData("ID=ubuntu\nVERSION_ID=\"18.04\"", "ubuntu2004")]
    [InlineData("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=\"21.3\"\nUBUNTU_CODENAME=jammy", "ubuntu2204")]
    [InlineData("ID='rocky'\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID='9.5'", "rhel93")]
    [InlineData("ID=almalinux\nVERSION_ID=\"9.1\"", "rhel90")]
    [InlineData("ID=centos\nVERSION_ID=\"8\"", "rhel8")]
    [InlineData("ID=fedora\nVERSION_ID=41", "rhel93")]
    [InlineData("ID=\"amzn\"\nVERSION_ID=\"2\"", "amazon2")]
    [InlineData("ID=\"amzn\"\nVERSION_ID=\"2023\"", "amazon2023")]
    [InlineData("ID=\"opensuse-leap\"\nVERSION_ID=\"15.6\"", "suse15")]
    [InlineData("ID=raspbian\nID_LIKE=debian\nVERSION_ID=\"11\"", "debian12")]
    [InlineData("ID=alpine\nVERSION_ID=3.20", null)]
    [InlineData("", null)]
    public void The_archive_of_the_nearest_system_is_taken(string osRelease, string? target) =>
        Assert.Equal(target, SystemPlatform.Read(osRelease, Architecture.X64).Choose(Archives("x86_64", X64))?.Target);

    [Theory]
    [InlineData("ID=debian\nVERSION_ID=\"12\"", "ubuntu2204")]
    [InlineData("ID=debian\nVERSION_ID=\"11\"", "ubuntu2004")]
    [InlineData("ID=rhel\nVERSION_ID=\"9.1\"", "rhel93")]
    public void On_arm_a_debian_takes_ubuntus(string osRelease, string target)
    {
        SystemPlatform platform = SystemPlatform.Read(osRelease, Architecture.Arm64);
        Assert.Equal(target, platform.Choose([.. Archives("x86_64", X64), .. Archives("aarch64", Arm)])?.Target);
        Assert.Equal(target, platform.Choose(Archives("arm64", Arm))?.Target);
    }

    [Fact]
    public void The_archive_for_any_system_comes_last()
    {
        SystemPlatform debian = SystemPlatform.Read("ID=debian\nVERSION_ID=12", Architecture.X64);
        Assert.Equal("linux_x86_64", debian.Choose(Archives("x86_64", "linux_x86_64", "suse12"))?.Target);
        Assert.Equal("debian92", debian.Choose(Archives("x86_64", "linux_x86_64", "debian92"))?.Target);
    }

    [Fact]
    public void Names_are_guessed_where_no_feed_says_them()
    {
        SystemPlatform debian = SystemPlatform.Read("ID=debian\nVERSION_ID=12", Architecture.Arm64);
        ReleaseNumber number = ReleaseNumber.Parse("8.0.4")!.Value;
        Assert.Equal(["mongodb-linux-aarch64-debian12-8.0.4.tgz", "mongodb-linux-aarch64-ubuntu2204-8.0.4.tgz"],
            debian.LikelyArchives(number));
        Assert.Equal(["mongodb-linux-aarch64-rhel93-8.0.4.tgz"], debian.As("rhel93")!.LikelyArchives(number));
        Assert.Null(debian.As("windows"));
    }

    private static IEnumerable<ReleaseArchive> Archives(string architecture, params string[] targets) =>
        targets.Select(target => new ReleaseArchive(target, architecture, new Uri($"https://example.org/{target}.tgz"), null));
}
