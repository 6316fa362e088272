using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Platforms;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>The program without all that only Linux has, as on Windows and macOS.</summary>
[Collection(LightTests.Name)]
public sealed class OtherPlatformTests : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void A_series_on_the_embedded_server_runs_and_says_what_was_not_sampled()
    {
        ProgramResult result = Run("series", "--target", "2k", "--step", "1k", "--threads", "2", "--window", "300ms", "--full",
            "--out", _runs.Path)
            .Expect(0);
        Assert.Contains("none: CPU, memory, disks and network are sampled on Linux only", result.Output, StringComparison.Ordinal);
        JsonElement report = JsonDocument.Parse(
            ProgramRun.Run("report", _runs.Id, "--out", _runs.Path, "--format", "json").Expect(0).Output).RootElement;
        Assert.Equal("finished", report.GetProperty("run").Text("state"));
        Assert.Equal(0, report.GetProperty("accounting").Number("failed"));
        Assert.Equal("", report.GetProperty("environment").Text("kernel"));
    }

    [Theory]
    [InlineData("--cpus works on Linux only", "--cpus", "1")]
    [InlineData("--memory-limit works on Linux only", "--memory-limit", "1GB")]
    [InlineData("--mongod: starting a mongod works on Linux only", "--mongod", "/bin/true")]
    [InlineData("starting a replica set works on Linux only", "--topology", "replicaset")]
    public void What_needs_Linux_is_refused_by_name(string refusal, params string[] options)
    {
        Run(["series", "--target", "1k", "--out", _runs.Path, .. options]).Expect(2).Says(refusal);
        Assert.Empty(_runs.Ids);
    }

    [Fact]
    public void Doctor_advises_what_can_be_done_here()
    {
        string advice = Run("doctor", "--duration", "0s", "--out", _runs.Path).Output;
        Assert.Contains("→ start it yourself and name it with --uri", advice, StringComparison.Ordinal);
        Assert.DoesNotContain("server install", advice, StringComparison.Ordinal);
    }

    private static ProgramResult Run(params string[] arguments) => ProgramRun.Run(
        new ProgramOptions { Environment = new Dictionary<string, string?> { [Platform.Variable] = "plain" }, WriteReport = true },
        arguments);
}
