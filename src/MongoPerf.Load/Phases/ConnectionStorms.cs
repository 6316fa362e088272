using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>
/// The times when all connections of a group are opened at once: at its start, and again whenever one of them is lost, as the others lead
/// to the same server.
/// </summary>
/// <remarks>For all threads of the group; none comes here as long as its server answers.</remarks>
/// <param name="connections">How many there are.</param>
/// <param name="clock">The clock of the group.</param>
/// <param name="observer">Hears how long it took.</param>
/// <param name="begins">Called when another one begins: whoever waits is to open its connection.</param>
internal sealed class ConnectionStorms(int connections, IClock clock, IGroupObserver observer, Action begins)
{
    private readonly Lock _lock = new();
    private readonly List<StormResult> _past = [];
    private long _startedAt;
    private long _since;
    private int _usable;
    private int _number;
    private double? _seconds;

    /// <summary>The one that is going on, or was last; 0 before the first.</summary>
    public int Number => Volatile.Read(ref _number);

    /// <summary>What all of them came to so far.</summary>
    public IReadOnlyList<StormResult> Results
    {
        get
        {
            lock (_lock)
                return [.. _past, Now()];
        }
    }

    /// <summary>Begins the first.</summary>
    /// <param name="start">When the group starts, ticks.</param>
    public void Start(long start)
    {
        _startedAt = _since = start;
        _number = 1;
    }

    /// <summary>A connection is lost: another one begins, unless one is going on.</summary>
    /// <param name="seen">The one in which the connection was opened.</param>
    /// <returns>The one that is going on now.</returns>
    public int Lose(int seen)
    {
        lock (_lock)
        {
            if (seen != _number)
                return _number;
            if (_seconds is null)
            {
                _usable--;
                return _number;
            }

            _past.Add(Now());
            (_since, _usable, _seconds) = (clock.Now, 0, null);
            Volatile.Write(ref _number, _number + 1);
        }

        begins();
        return Number;
    }

    /// <summary>A connection is open and logged in.</summary>
    /// <param name="number">The one in which it was opened.</param>
    public void Count(int number)
    {
        double seconds;
        lock (_lock)
        {
            if (number != _number || ++_usable < connections)
                return;
            _seconds = seconds = clock.SecondsBetween(_since, clock.Now);
        }

        observer.OnEvent("storm", $"{connections:N0} connections opened at once; all usable after {seconds:0.00} s", seconds);
    }

    private StormResult Now() => new(clock.SecondsBetween(_startedAt, _since), connections, _usable) { Seconds = _seconds };
}
