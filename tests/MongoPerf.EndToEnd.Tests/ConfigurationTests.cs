using MongoPerf.EndToEnd.Tests.Support;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>A configuration file takes the place of what is typed each time.</summary>
[Collection(LightTests.Name)]
public sealed class ConfigurationTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void A_run_takes_its_deployment_by_name_and_its_runs_folder_and_language_from_the_file()
    {
        Directory.CreateDirectory(_folder.At("config/mongoperf"));
        File.WriteAllText(_folder.At("config/mongoperf/config.yaml"), $"""
            language: zh
            runs: {_folder.At("measured")}
            deployments:
              here:
                uri: {servers.Embedded.Uri}
            """);
        var options = new ProgramOptions
        {
            Folder = _folder.Path, Environment = new Dictionary<string, string?> { ["XDG_CONFIG_HOME"] = _folder.At("config") },
        };
        ProgramResult run = ProgramRun.Run(options, "series", "--uri", "@here", "--db", servers.NewDatabase(), "--target", "100",
            "--step", "100", "--tests", "batch", "--no-report").Expect(0);
        Assert.Contains("完成", run.Output, StringComparison.Ordinal);
        Assert.Single(Directory.GetFiles(_folder.At("measured"), "run.db", SearchOption.AllDirectories));
        // An entry that is wrong is told, and stops those alone that use it.
        File.AppendAllText(_folder.At("config/mongoperf/config.yaml"), "\n  cut: {url: mongodb://user:hunter2@h}\n");
        ProgramResult beside = ProgramRun.Run(options, "list", "runs").Expect(0);
        Assert.Contains("warning: ", beside.Errors, StringComparison.Ordinal);
        Assert.Contains("deployment 'cut': unknown key 'url'; allowed: uri, passwordFile (did you mean 'uri'?); the entry is ignored",
            beside.Errors, StringComparison.Ordinal);
        ProgramRun.Run(options, "series", "--uri", "@cut", "--target", "100").Expect(2).Says("deployment 'cut': unknown key 'url'");
        ProgramResult wrong = ProgramRun.Run(options, "series", "--uri", "@her", "--target", "100").Expect(2);
        Assert.Contains("--uri: no deployment has the name 'her'; there are: here, cut (did you mean 'here'?)", wrong.Errors,
            StringComparison.Ordinal);
    }
}
