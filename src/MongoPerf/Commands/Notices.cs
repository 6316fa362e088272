using System.Collections.Concurrent;

namespace MongoPerf.Commands;

/// <summary>
/// Prints lines on a thread of its own: whoever has something to say never waits for those who read it, or don't. For all threads.
/// </summary>
internal sealed class Notices : IDisposable
{
    /// <summary>Lines that wait; those that come while so many do are not printed.</summary>
    private const int MostWaiting = 100;

    private readonly BlockingCollection<string> _lines = new(MostWaiting);
    private readonly Thread _thread;
    private volatile int _begun;
    private volatile int _printed;

    public Notices(TextWriter writer)
    {
        _thread = new Thread(() => Print(writer)) { IsBackground = true, Name = "notices" };
        _thread.Start();
    }

    /// <summary>How long <see cref="End"/> waits for a line to be read.</summary>
    public TimeSpan Patience { get; init; } = TimeSpan.FromSeconds(2);

    public void Say(string line)
    {
        try
        {
            _lines.TryAdd(line);
        }
        catch (InvalidOperationException)
        {
            // It has been disposed of.
        }
    }

    /// <summary>Waits until all is printed, or nobody seems to read it.</summary>
    /// <returns>False where a line is still being printed: the console takes nothing else until somebody has read it.</returns>
    public bool End()
    {
        _lines.CompleteAdding();
        while (true)
        {
            int line = _begun;
            if (_thread.Join(Patience))
                return true;
            // The same line was being printed all the time. Otherwise the thread has only had no processor.
            if (_begun == line && _printed < line)
                return false;
        }
    }

    public void Dispose() => End();

    private void Print(TextWriter writer)
    {
        foreach (string line in _lines.GetConsumingEnumerable())
        {
            _begun++;
            try
            {
                writer.WriteLine(line);
            }
            catch (IOException)
            {
                // Nobody can read it any more.
            }

            _printed++;
        }
    }
}
