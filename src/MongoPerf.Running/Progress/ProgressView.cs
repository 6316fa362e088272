namespace MongoPerf.Running.Progress;

/// <summary>
/// Shows progress on stderr until disposed of: a live view in a terminal, plain lines elsewhere, nothing when asked to be quiet.
/// </summary>
internal abstract class ProgressView : IDisposable
{
    public static ProgressView Create(ProgressState state, bool quiet, bool noTui)
    {
        if (quiet)
            return new NoView();
        return noTui || Console.IsErrorRedirected ? new PlainView(state) : new LiveView(state);
    }

    public abstract void Dispose();

    private sealed class NoView : ProgressView
    {
        public override void Dispose()
        {
        }
    }
}

/// <summary>A line for each phase and step that ended, and one every ten seconds within long ones.</summary>
internal sealed class PlainView : ProgressView
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    private readonly ProgressState _state;
    private readonly Timer _timer;
    private long _lastLine = Environment.TickCount64;

    public PlainView(ProgressState state)
    {
        _state = state;
        state.Line += Write;
        _timer = new Timer(_ => Remind(), null, Interval, TimeSpan.FromSeconds(1));
    }

    public override void Dispose()
    {
        _state.Line -= Write;
        _timer.Dispose();
    }

    private void Remind()
    {
        if (Environment.TickCount64 - Interlocked.Read(ref _lastLine) >= Interval.TotalMilliseconds)
            Write(ProgressText.Running(_state.Snapshot()));
    }

    private void Write(string line)
    {
        Interlocked.Exchange(ref _lastLine, Environment.TickCount64);
        Console.Error.WriteLine($"{DateTime.Now:HH:mm:ss} {line}");
    }
}
