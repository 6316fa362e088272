using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.Platforms;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Deployments;

public sealed class ChildDeploymentTests
{
    [Fact]
    public void The_null_server_is_a_child_that_is_started_again_on_its_port_and_stopped()
    {
        using ChildDeployment deployment = ChildDeployment.Null(null);
        Assert.True(deployment.EnsureRunning());
        Inspection inspection = DeploymentInspector.Inspect(deployment, ConnectionSettings.Default, "perf.docs");
        Assert.Equal(DeploymentKind.Null, inspection.Info.Kind);
        Assert.Equal(Topology.Null, inspection.Info.Topology);
        Assert.Equal(deployment.ProcessId, inspection.Info.ProcessId);
        Assert.Null(inspection.DataFolder);
        Assert.Contains("nothing is stored", inspection.Info.Remarks[0], StringComparison.Ordinal);

        ServerAddress address = deployment.Address;
        int killed = deployment.ProcessId!.Value;
        ProcessTable.System.Signal(ProcessTable.System.Find(killed)!, SystemCalls.Kill);
        Eventually.Is(() => !deployment.IsRunning);
        Assert.True(deployment.EnsureRunning());
        Assert.Equal(address, deployment.Address);

        int last = deployment.ProcessId!.Value;
        deployment.Stop();
        Assert.Null(ProcessTable.System.Find(last));
    }

    [Fact]
    public void The_end_of_its_input_ends_a_child_as_the_death_of_its_parent_would()
    {
        IReadOnlyList<string> program = ThisProgram.Command;
        using System.Diagnostics.Process child = DetachedStart.RunWithPipes(program[0], [.. program.Skip(1), "null-server", "--port", "0"]);
        Assert.Contains("listening on 127.0.0.1:", child.StandardOutput.ReadLine(), StringComparison.Ordinal);
        child.StandardInput.Close();
        Assert.True(child.WaitForExit(60_000));
    }
}
