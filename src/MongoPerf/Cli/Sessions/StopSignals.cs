using System.Runtime.InteropServices;

namespace MongoPerf.Cli.Sessions;

/// <summary>Ctrl+C and SIGTERM end a run cleanly; a second one ends the program at once.</summary>
internal sealed class StopSignals : IDisposable
{
    private readonly CancellationTokenSource _stop = new();
    private readonly List<PosixSignalRegistration> _registrations = [];
    private int _signals;

    public StopSignals()
    {
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
            Environment.Exit((int)ExitCode.Interrupted);
        Console.Error.WriteLine("stopping: saving what there is (once more ends at once)");
        // Not on the signal's thread: what hangs on the token may take its time.
        ThreadPool.QueueUserWorkItem(_ => _stop.Cancel());
    }
}
