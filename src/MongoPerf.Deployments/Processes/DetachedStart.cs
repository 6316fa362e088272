using System.ComponentModel;
using System.Diagnostics;
using MongoPerf.Platforms;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Processes;

/// <summary>Starts a program in a session of its own, without a terminal: a Ctrl+C for us is none for it.</summary>
public static class DetachedStart
{
    // The shell joins the group, opens the files and becomes setsid, which becomes the program: the process number stays the same
    // throughout. Failure to join the group shows in the output; the caller checks afterwards.
    private const string Join = "group=$1; shift; if [ -n \"$group\" ]; then echo $$ >\"$group\"; fi; ";
    private const string Script = Join + "if command -v setsid >/dev/null 2>&1; then set -- setsid \"$@\"; fi; exec \"$@\"";

    /// <param name="binary">Full path of the program.</param>
    /// <param name="arguments">Its arguments.</param>
    /// <param name="folder">Where it works.</param>
    /// <param name="outputFile">Gets its standard output and error; overwritten.</param>
    /// <param name="groupFile">The cgroup.procs that it writes its number into before it becomes the program; null for none.</param>
    /// <param name="cpus">The cpus that it may use; null for all.</param>
    /// <exception cref="DeploymentException">No shell.</exception>
    public static Process Run(string binary, IReadOnlyList<string> arguments, string folder, string outputFile, string? groupFile = null,
        IReadOnlyList<int>? cpus = null)
    {
        var start = new ProcessStartInfo("/bin/sh") { UseShellExecute = false, WorkingDirectory = folder };
        start.ArgumentList.Add("-c");
        start.ArgumentList.Add("out=$1; shift; exec >\"$out\" 2>&1 </dev/null; " + Script);
        start.ArgumentList.Add("mongoperf");
        start.ArgumentList.Add(Path.GetFullPath(outputFile));
        start.ArgumentList.Add(groupFile ?? "");
        start.ArgumentList.Add(binary);
        return Start(start, arguments, cpus);
    }

    /// <summary>
    /// The same with pipes: the child's input ends when this process does, its first lines of output can be read. Elsewhere than on Linux
    /// it stays in this session; <see cref="ParentWatch"/> sees to it that a Ctrl+C is none for it.
    /// </summary>
    public static Process RunWithPipes(
        string binary, IReadOnlyList<string> arguments, string? groupFile = null, IReadOnlyList<int>? cpus = null)
    {
        var start = new ProcessStartInfo(Platform.IsLinux ? "/bin/sh" : binary)
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (string argument in Platform.IsLinux ? (string[])["-c", Script, "mongoperf", groupFile ?? "", binary] : [])
            start.ArgumentList.Add(argument);
        start.Environment[ParentWatch.Variable] = "1";
        return Start(start, arguments, cpus);
    }

    private static Process Start(ProcessStartInfo start, IReadOnlyList<string> arguments, IReadOnlyList<int>? cpus)
    {
        foreach (string argument in arguments)
            start.ArgumentList.Add(argument);
        try
        {
            return CpuAffinity.Confine(cpus, () => Process.Start(start)!);
        }
        catch (Win32Exception e)
        {
            throw new DeploymentException(Fault.CannotConnect, $"can't start a server: {start.FileName}: {e.Message}", e);
        }
    }
}
