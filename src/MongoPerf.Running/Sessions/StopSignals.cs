using System.Runtime.InteropServices;
using MongoPerf.Deployments.Processes;
using MongoPerf.Platforms;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// Ctrl+C and SIGTERM end a run cleanly; another one ends the program at once, and tells the servers that it started to end.
/// </summary>
/// <remarks>
/// What comes within a second of the first belongs to it: <c>timeout 60 mongoperf …</c> signals the program and then its process group, so
/// the program twice.
/// </remarks>
public sealed class StopSignals : IDisposable
{
    private const long TogetherMilliseconds = 1000;
    private const long Never = -1;

    private readonly CancellationTokenSource _stop = new();
    private readonly List<PosixSignalRegistration> _registrations = [];
    private readonly string _doing;
    private long _firstAt = Never;

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

    /// <param name="now">When a signal came, in milliseconds.</param>
    /// <returns>Whether it is the first; null where it is one of those that end the program at once.</returns>
    internal bool? IsFirst(long now)
    {
        long first = Interlocked.CompareExchange(ref _firstAt, now, Never);
        return first == Never ? true : now - first < TogetherMilliseconds ? false : null;
    }

    private void Handle(PosixSignalContext context)
    {
        context.Cancel = true;
        bool? isFirst = IsFirst(Environment.TickCount64);
        if (isFirst is null)
        {
            // At once: no handler runs, nothing is waited for. What the servers still do, 'resume' waits for.
            ServerProcess.TerminateAll();
            SystemCalls.Exit((int)ExitCode.Interrupted);
        }

        if (isFirst is not true)
            return;
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
