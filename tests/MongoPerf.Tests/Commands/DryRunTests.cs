using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Commands;

/// <summary>A dry run refuses what the run refuses, and shows what would run first.</summary>
[Collection(ConsoleTests.Name)]
public sealed class DryRunTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Theory]
    // A petabyte.
    [InlineData(6, "series --target 1000G --step 100G", "1,000,000,000,000 more documents need about ")]
    [InlineData(6, "run original --target 1000G --step 100G --deployment single", "1,000,000,000,000 more documents need about ")]
    [InlineData(2, "run original --target 1000G --deployment single", "step is 1,000,000, which makes 1,000,000 steps")]
    [InlineData(2, "series --target 1k --mongod /nope", "--mongod: /nope does not exist")]
    [InlineData(2, "series --target 1k --topology sharded --mongod /nope", "--mongod: /nope does not exist")]
    [InlineData(2, "series --target 1k --topology replicaset --mongod /nope", "--mongod: /nope does not exist")]
    [InlineData(2, "run restart --mongod /nope", "--mongod: /nope does not exist")]
    [InlineData(2, "series --target 1k --cluster /nope", "/nope")]
    [InlineData(2, "series --target 1k --out /dev/null/runs", "can't create a run in /dev/null/runs (/dev/null is a file)")]
    [InlineData(2, "series --target 1k --uri mongodb://127.0.0.1/?tls=true&tlsCAFile=/nope", "/nope")]
    [InlineData(2, "series --target 1k --uri tyrant://127.0.0.1", "series grows, which is not possible with Tokyo Tyrant")]
    [InlineData(2, "series --target 1k --password-file /nope", "--password-file: it has no effect")]
    [InlineData(2, "series --target 1k --agents 2", "--agents needs --coordinator")]
    [InlineData(2, "run restart --agents 2 --coordinator localhost --uri localhost", "restart")]
    [InlineData(2, "series --target 1k --topology standalone,null --repeat 2", "--repeat is 2")]
    [InlineData(2, "run tpcc --topology standalone", "new order: a transaction needs a replica set or a real mongos")]
    [InlineData(2, "run ycsb/a --topology standalone,null --format ycsb", "--format ycsb shows one run")]
    public void What_a_run_refuses_before_it_starts_a_dry_run_refuses_too(int code, string call, string error)
    {
        string[] arguments = call.Split(' ');
        string[] elsewhere = arguments.Contains("--out") ? [] : ["--out", _folder.Path];
        (int dry, string output, string errors) = InProcess.Run([.. arguments, .. elsewhere, "--dry-run"]);
        Assert.True(dry == code, output + errors);
        Assert.Contains(error, errors, StringComparison.Ordinal);
        Assert.Empty(Directory.EnumerateFileSystemEntries(_folder.Path));
    }

    [Fact]
    public void Existing_data_are_never_dropped()
    {
        string file = Path.Combine(_folder.Path, "reads.yaml");
        File.WriteAllText(file, "data: {c: {existing: true}}\nphases: [{operations: [{find: c, filter: {}}]}]\n");
        (int code, _, string errors) = InProcess.Run(
            "run", file, "--uri", "mongodb://127.0.0.1:1", "--force-drop", "mongoperf.c", "--out", _folder.Path, "--dry-run");
        Assert.Equal(2, code);
        Assert.Contains("--force-drop would change the deployment, but 'c' is only read\nhint:  omit --force-drop", errors,
            StringComparison.Ordinal);
    }

    [Fact]
    public void What_would_run_is_shown_even_where_it_is_refused()
    {
        (_, string output, _) = InProcess.Run("series", "--target", "1000G", "--step", "100G", "--out", _folder.Path, "--dry-run");
        Assert.Contains("dry run: nothing started", output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true, "--target 10k")]
    [InlineData(true, "--target 99999 --tests batch,q4")]
    [InlineData(false, "--target 100k")]
    [InlineData(false, "--target 10k --window 1s")]
    [InlineData(false, "--target 10k --warmup 2s")]
    [InlineData(false, "--target 10k --tests batch,safe")]
    public void A_small_target_has_short_windows_and_says_so_unless_windows_were_chosen(bool isShort, string options)
    {
        (int code, string output, string errors) = InProcess.Run(
            ["series", .. options.Split(' '), "--topology", "null", "--out", _folder.Path, "--dry-run"]);
        Assert.True(code == 0, errors);
        Assert.Equal(isShort, output.Contains(
            "\nnote: each query runs for 0.5 s at each size, the default for targets under 100k, ", StringComparison.Ordinal));
    }

    [Fact]
    public void What_only_a_server_can_tell_is_said()
    {
        (int code, string output, _) = InProcess.Run("series", "--target", "1k", "--uri", "mongodb://user:secret@203.0.113.1",
            "--out", _folder.Path, "--dry-run");
        Assert.Equal(0, code);
        Assert.Contains("not checked, since only mongodb://user:***@203.0.113.1", output, StringComparison.Ordinal);
        Assert.DoesNotContain("secret", output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("warm")]
    [InlineData("cold")]
    [InlineData("kill")]
    public void How_a_server_is_restarted_is_said_as_the_file_says_it(string how)
    {
        File.WriteAllText(_folder.At("x.yaml"), """
            data: {c: {document: {n: ^number}}}
            phases:
              - name: g
                grow: c
                to: 1000
                step: 500
                each: [{name: q, restart: HOW, duration: 1s, operations: [{find: c, key: uniform}]}]
              - {name: after, restart: HOW, duration: 1s, operations: [{find: c, key: uniform}]}
            """.Replace("HOW", how, StringComparison.Ordinal));
        (int code, string output, string errors) = InProcess.Run("run", _folder.At("x.yaml"), "--out", _folder.Path, "--dry-run");
        Assert.True(code == 0, errors);
        Assert.Contains($"phase after, restarting the server ({how})", output, StringComparison.Ordinal);
        Assert.Contains($"at each size: q, restarting the server ({how})", output, StringComparison.Ordinal);
    }
}
