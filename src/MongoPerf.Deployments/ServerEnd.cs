using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;
using MongoPerf.Deployments.Processes;
using MongoPerf.Platforms;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments;

/// <summary>Ends a run's own server so that it can be started again, and makes the system forget what it read.</summary>
/// <remarks>
/// Ends servers by signals: the deployment does not know of it, so that its address stays and nothing else looks for the server meanwhile.
/// </remarks>
public static class ServerEnd
{
    private static readonly TimeSpan StopLimit = TimeSpan.FromMinutes(10);

    /// <summary>Waits until it has ended.</summary>
    /// <param name="server">One process on this machine, running.</param>
    /// <param name="kills">Servers end by kill -9; otherwise they are asked to end.</param>
    /// <exception cref="DeploymentException">It is no single server of the run, or does not end within ten minutes.</exception>
    public static void Wait(IDeployment server, bool kills)
    {
        ProcessTable table = ProcessTable.System;
        if (server.ProcessId is not { } id || table.Find(id) is not { } process)
            throw new DeploymentException(
                Fault.WrongUsage, $"restart: a deployment of kind '{server.Kind}' is not a server that can be restarted");
        table.Signal(process, kills ? SystemCalls.Kill : SystemCalls.Terminate);
        if (!table.WaitForEnd(process, StopLimit))
            throw new DeploymentException(
                Fault.CannotConnect, $"restart: the server (process {id}) did not stop within {StopLimit.TotalMinutes:0} minutes");
    }

    /// <summary>
    /// Drops the server's files from the page cache after <see cref="Wait"/>, so that it reads them from disk as after the machine's own
    /// start.
    /// </summary>
    [SupportedOSPlatform("linux")]
    public static void ForgetFiles(IDeployment server)
    {
        foreach (string path in server.DataFolder is { } folder ? Directory.EnumerateFiles(folder, "*", SearchOption.AllDirectories) : [])
        {
            using SafeFileHandle file = File.OpenHandle(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
            SystemCalls.Forget(file);
        }
    }
}
