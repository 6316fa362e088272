using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Commands;

/// <summary>What can be known before the first of several runs begins is told before it begins.</summary>
[Collection(ConsoleTests.Name)]
public sealed class PlannedRunTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    /// <summary>Whichever of them can't be, and wherever it stands in the list. These programs can't be started: no run may try.</summary>
    [Theory]
    [InlineData(3, "series --target 1k", "5.0.1", "standalone,sharded", "only mongod 6.0 or later works without one")]
    [InlineData(3, "series --target 1k --repeat 3", "5.0.1", "standalone,replicaset,sharded", "only mongod 6.0 or later works without one")]
    [InlineData(3, "run ycsb/a", "4.4.1", "replicaset,sharded", "only mongod 6.0 or later works without one")]
    [InlineData(2, "run tpcc", "6.0.5", "replicaset,sharded", "this cluster's router is a mongod, which can't do a transaction")]
    [InlineData(2, "run tpcc", "6.0.5", "replicaset,standalone", "a transaction needs a replica set or a real mongos")]
    [InlineData(2, "run examples/transaction", "6.0.5", "replicaset,sharded", "this cluster's router is a mongod")]
    [InlineData(2, "run ycsb/a --engine wire,driver", "6.0.5", "standalone,sharded", "--engine driver needs a mongos")]
    [InlineData(2, "run DECIDED --target 1k --step 100", "6.0.5", "standalone,null", "is for MongoDB only")]
    public void A_sequence_with_an_impossible_run_is_refused_before_the_first(
        int code, string call, string version, string topologies, string error)
    {
        string mongod = Program(version);
        foreach (string[] order in Orders(topologies.Split(',')))
        {
            string[] program = order.Contains("null") ? [] : ["--mongod", mongod];
            (int ended, string output, string errors) = InProcess.Run(
            [
                .. call.Replace("DECIDED", "single-or-sharded", StringComparison.Ordinal).Split(' '), "--topology", string.Join(',', order),
                .. program, "--out", _folder.At("runs"),
            ]);
            Assert.True(ended == code, $"{string.Join(',', order)}: {ended} {output}{errors}");
            Assert.Contains(error, errors, StringComparison.Ordinal);
            Assert.False(Directory.Exists(_folder.At("runs")) && Directory.EnumerateFileSystemEntries(_folder.At("runs")).Any());
        }
    }

    /// <summary>README's own call, on a machine with a mongod and no mongos.</summary>
    [Fact]
    public void A_scenario_leaves_out_those_of_its_deployments_that_this_machine_can_t_be_and_says_so_first()
    {
        (int code, string output, string errors) = InProcess.Run(
            "run", "tpcc", "--mongod", Program("6.0.5"), "--out", _folder.At("runs"), "--dry-run");
        Assert.True(code == 0, errors);
        Assert.Contains("deployment 'two shards' is left out: operation 'new order': this cluster's router is a mongod", errors,
            StringComparison.Ordinal);
        Assert.Contains("hint:  it runs behind a mongos, which 'mongoperf server install 8.0' brings", errors, StringComparison.Ordinal);
        Assert.Contains("replica set", output, StringComparison.Ordinal);
        Assert.DoesNotContain("two shards", output, StringComparison.Ordinal);
    }

    [Fact]
    public void A_deployment_that_was_asked_for_by_name_is_not_left_out()
    {
        (int code, _, string errors) = InProcess.Run(
            "run", "tpcc", "--deployment", "one server,two shards", "--mongod", Program("6.0.5"), "--out", _folder.At("runs"));
        Assert.Equal(2, code);
        Assert.Contains("this cluster's router is a mongod, which can't do a transaction", errors, StringComparison.Ordinal);
        Assert.False(Directory.Exists(_folder.At("runs")));
    }

    private static IEnumerable<string[]> Orders(string[] all) => all.Length == 1 ? [all]
        : all.SelectMany(first => Orders([.. all.Where(other => other != first)]).Select(rest => (string[])[first, .. rest]));

    private string Program(string version)
    {
        string path = _folder.At("mongod");
        File.WriteAllText(path, $"#!/bin/sh\n[ \"$1\" = --version ] && echo db version v{version} || exit 1\n");
        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        return path;
    }
}
