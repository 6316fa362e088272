using System.Runtime.InteropServices;
using MongoPerf.Deployments.Processes;
using MongoPerf.Platforms;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// Ctrl+C and SIGTERM end a run cleanly; a second one ends the program at once, and tells the servers that it started to end.
/// </summary>
public sealed class StopSignals : IDisposable
{
    private readonly CancellationTokenSource _stop = new();
    private readonly List<PosixSignalRegistration> _registrations = [];
    private readonly string _doing;
    private int _signals;

    /// <param name="doing">What the first signal begins, for people.</param>
    public StopSignals(string doing = "stopping: saving results")
    {
        _doing = doing;
        foreach (PosixSignal signal in (PosixSignal[])[PosixSignal.SIGINT, PosixSignal.SIGTERM, PosixSignal.SIGHUP])
            _registrations.Add(PosixSignalRegistration.Create(signal, Handle));
    }

    public CancellationToken Token => _stop.Token;

    public bool WasStopped => _stop.IsCancellationRequested;

    public void Dispose()
    {
        foreach (PosixSignalRegistration registration in _registrations)
            registration.Dispose();
        _stop.Dispose();
    }

    private void Handle(PosixSignalContext context)
    {
        context.Cancel = true;
        if (Interlocked.Increment(ref _signals) > 1)
        {
            // At once: no handler runs, nothing is waited for. What the servers still do, 'resume' waits for.
            ServerProcess.TerminateAll();
            SystemCalls.Exit((int)ExitCode.Interrupted);
        }

        // Not on the signal's thread: the token's callbacks may take a while.
        ThreadPool.QueueUserWorkItem(_ => _stop.Cancel());
        try
        {
            Console.Error.WriteLine($"{_doing} (interrupt again to quit at once)");
        }
        catch (IOException)
        {
            // The terminal is gone: that was the signal.
        }
    }
}
