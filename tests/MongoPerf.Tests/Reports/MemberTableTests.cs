using MongoPerf.Reports;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>How the work was shared among several servers.</summary>
public sealed class MemberTableTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Each_servers_share_of_each_operation_is_shown_over_all_sizes_of_a_growth()
    {
        using StoredRun run = Write(
            Topology.ReplicaSet, Phase(1, "q4", ("a:1", 30), ("b:1", 10)), Phase(2, "q4", ("b:1", 60)), Phase(3, "load", ("a:1", 5)));
        ReportTable table = ReportTables.Members(run)!;
        Assert.Equal(["q4 find a:1 30 30 %", "q4 find b:1 70 70 %", "load find a:1 5 100 %"],
            table.Rows.Select(row => string.Join(' ', row)));
        Assert.Contains(table.Title, RunReport.Of(run).Blocks.OfType<Block.Table>().Select(t => t.Content.Title));
    }

    [Fact]
    public void One_server_has_no_shares()
    {
        using StoredRun run = Write(Topology.ReplicaSet, Phase(1, "q4", ("a:1", 30)), Phase(2, "q5"));
        Assert.Null(ReportTables.Members(run));
    }

    [Theory]
    [InlineData(Topology.Standalone)]
    [InlineData(Topology.Embedded)]
    public void A_server_that_a_resume_found_at_another_port_is_one_server(Topology topology)
    {
        using StoredRun run = Write(topology, Phase(1, "q4", ("a:1", 30)), Phase(2, "q4", ("a:2", 30)));
        Assert.Null(ReportTables.Members(run));
    }

    [Fact]
    public void Reads_from_one_member_and_writes_to_another_are_shown()
    {
        using StoredRun run = Write(Topology.ReplicaSet, Phase(1, "batch", ("a:1", 30)), Phase(2, "q4", ("b:1", 30)));
        Assert.Equal(2, ReportTables.Members(run)!.Rows.Count);
    }

    private static PhaseRecord Phase(int number, string name, params (string Member, long Operations)[] shares) =>
        RunParts.Phase(number, name,
            RunParts.Result("find") with { Members = [.. shares.Select(share => new MemberShare(share.Member, share.Operations))] });

    private StoredRun Write(Topology topology, params PhaseRecord[] phases)
    {
        string folder = _folder.At($"{phases.Length}");
        using (RunStore store = RunStore.Create(folder, RunParts.Run(), RunParts.Settings()))
        {
            store.SetDeployment(RunParts.Deployment() with { Topology = topology });
            foreach (PhaseRecord phase in phases)
            {
                store.BeginPhase(phase, continues: false);
                store.EndPhase(phase);
            }
        }

        return StoredRun.Open(folder);
    }
}
