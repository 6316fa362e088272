using System.Runtime.InteropServices;
using MongoPerf.Platforms;

namespace MongoPerf.Deployments.Processes;

/// <summary>
/// How what serves until it is told to end (<c>serve</c>, <c>watch</c>, <c>null-server</c>) learns that it is to: by SIGTERM, SIGINT
/// or, as a child, by the end of standard input: the parent holds the other end of that pipe, so the kernel closes it however the
/// parent ends, kill -9 included.
/// </summary>
/// <remarks>Made before the address is printed: whoever reads that may send the signal at once.</remarks>
public sealed class ParentWatch : IDisposable
{
    /// <summary>Set by the parent. Without it standard input says nothing: a server started by hand may have none.</summary>
    public const string Variable = "MONGOPERF_CHILD";

    private readonly TaskCompletionSource _end = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly PosixSignalRegistration _terminate;
    private readonly PosixSignalRegistration _interrupt;

    public ParentWatch()
    {
        _terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Stop);
        _interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, Stop);
    }

    private static bool IsChild => Environment.GetEnvironmentVariable(Variable) is not null;

    /// <param name="orElse">Its end ends the wait too.</param>
    public void Wait(Task? orElse = null)
    {
        if (IsChild)
            new Thread(ReadToEnd) { IsBackground = true, Name = "parent watch" }.Start();
        Task.WaitAny(orElse is null ? [_end.Task] : [_end.Task, orElse]);
    }

    public void Dispose()
    {
        _terminate.Dispose();
        _interrupt.Dispose();
    }

    private void Stop(PosixSignalContext context)
    {
        context.Cancel = true;
        // A Ctrl+C reaches a child too that could not be given a session of its own. It is the parent's, who may still need the child.
        if (context.Signal == PosixSignal.SIGINT && IsChild && !Platform.IsLinux)
            return;
        _end.TrySetResult();
    }

    private void ReadToEnd()
    {
        try
        {
            using Stream input = Console.OpenStandardInput();
            Span<byte> ignored = stackalloc byte[64];
            while (input.Read(ignored) > 0)
            {
            }
        }
        catch (IOException)
        {
            // As good as its end.
        }

        _end.TrySetResult();
    }
}
