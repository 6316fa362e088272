using System.Runtime.InteropServices;

namespace MongoPerf.Deployments.Processes;

/// <summary>How a child server (<c>serve</c>, <c>null-server</c>) learns that it is to end.</summary>
internal static class ParentWatch
{
    /// <summary>Set by the parent. Without it standard input says nothing: a server started by hand may have none.</summary>
    public const string Variable = "MONGOPERF_CHILD";

    /// <summary>
    /// Waits for SIGTERM, SIGINT or, as a child, for the end of standard input: the parent holds the other end of that pipe, so the
    /// kernel closes it however the parent ends, kill -9 included.
    /// </summary>
    /// <param name="orElse">Its end ends the wait too.</param>
    public static void WaitForEnd(Task? orElse = null)
    {
        using var end = new ManualResetEventSlim();
        using PosixSignalRegistration terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Stop);
        using PosixSignalRegistration interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, Stop);
        if (Environment.GetEnvironmentVariable(Variable) is not null)
            new Thread(() => ReadToEnd(end)) { IsBackground = true, Name = "parent watch" }.Start();
        orElse?.ContinueWith(_ => end.Set(), CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
        end.Wait();

        void Stop(PosixSignalContext context)
        {
            context.Cancel = true;
            end.Set();
        }
    }

    private static void ReadToEnd(ManualResetEventSlim end)
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

        end.Set();
    }
}
