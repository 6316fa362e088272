using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;

namespace MongoPerf.EndToEnd.Tests;

/// <summary><c>run --find-max</c> with data that it loads first.</summary>
[Collection(LightTests.Name)]
public sealed class RateSearchTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    /// <summary>No rate holds, so the search tries 4, 2 and 1.</summary>
    [Theory, EachServer]
    public void The_first_try_loads_and_the_others_use_its_data_on_the_same_server(string kind)
    {
        StoredRun[] runs = Search(new ProgramOptions { Server = kind }, "ycsb/a", "--records", "3k", "--verify", "all");
        // On data that a try has just read, the next one must ask for others.
        Assert.Equal([1, 2, 3], runs.Select(run => run.Run.Try));
        Assert.Equal(["load usertable", "a"], runs[0].Phases.Select(phase => phase.Phase));
        Assert.All(runs[1..], run => Assert.Equal(["a"], run.Phases.Select(phase => phase.Phase)));
        Assert.All(runs[1..], run => Assert.Contains(
            $"data: as loaded by run {runs[0].Run.Id}", run.Settings.Plan.Changes.Select(change => change.ToString())));
        Assert.All(runs, run => Assert.Equal(3000, run.Phases[^1].Documents));
        Assert.All(runs, run => Assert.Equal(0, run.Failures));
        Assert.Single(runs.Select(run => run.Deployment!.ProcessId).Distinct());
        Assert.All(runs, run => Assert.False(Directory.Exists(_runs.At(run.Run.Id, "data"))));
        ProgramRun.Run("report", runs[2].Run.Id, "--out", _runs.Path).Expect(0);
    }

    [Fact]
    public void A_query_of_the_series_finds_the_documents_right_in_every_try_on_a_server_that_was_given()
    {
        StoredRun[] runs = Search(new ProgramOptions(), "q4", "--records", "2k", "--verify", "all", "--uri", servers.Embedded.Uri,
            "--db", servers.NewDatabase());
        Assert.Equal([2, 1, 1], runs.Select(run => run.Phases.Count));
        Assert.All(runs, run => Assert.Equal(0, run.Results.Sum(result => result.Wrong)));
        Assert.All(runs, run => Assert.NotEqual(0, run.Results.Sum(result => result.Verified)));
    }

    [Fact]
    public void Inserts_leave_other_data_so_every_try_loads_its_own()
    {
        StoredRun[] runs = Search(new ProgramOptions(), "ycsb/d", "--records", "1k");
        Assert.All(runs, run => Assert.Equal(2, run.Phases.Count));
    }

    private StoredRun[] Search(ProgramOptions options, params string[] arguments)
    {
        ProgramResult result = ProgramRun.Run(options, ["run", .. arguments, "--find-max", "--assert", "p99 < 1us", "--rate", "4",
            "--duration", "1s", "--warmup", "0s", "--threads", "1", "--out", _runs.Path, "--format", "json"]).Expect(99);
        string[] ids = [.. JsonDocument.Parse(result.Output).RootElement
            .GetProperty("tries").EnumerateArray().Select(one => one.GetProperty("run").GetString()!)];
        Assert.Equal(3, ids.Length);
        Assert.Equal(ids.Order(), _runs.Ids);
        return [.. ids.Select(id => StoredRun.Open(_runs.At(id)))];
    }
}
