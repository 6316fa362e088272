using MongoPerf.Measurement;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Claims;

/// <summary>
/// The time of an engine's workers in no real time. One worker runs at a time, and the one that is to wake first runs next, so the same
/// plan goes the same way each time, however the threads are scheduled. A tick is a microsecond.
/// </summary>
internal sealed class TurnClock : IClock
{
    /// <summary>How often a waiting worker looks whether another has died; those that end well say so.</summary>
    private const int PollMilliseconds = 50;

    [ThreadStatic]
    private static Member? _own;

    private readonly Lock _lock = new();
    private readonly List<Alarm> _alarms = [];
    private readonly List<Member> _members = [];
    private readonly List<Crew> _crews = [];
    private readonly AsyncLocal<Crew?> _crew = new();
    private int _groups;
    private Member? _running;
    private long _now;

    public long Now
    {
        get
        {
            long now = Volatile.Read(ref _now);
            // The last that it asks for.
            if (_own is { IsLeaving: true } own)
                Leave(own);
            return now;
        }
    }

    public double Seconds => (double)Volatile.Read(ref _now) / TicksPerSecond;

    public long TicksPerSecond => 1_000_000;

    /// <summary>A worker asks for it before it does anything: from then on it takes its turns.</summary>
    public DateTimeOffset UtcNow
    {
        get
        {
            if (_own is null && IsWorker)
                SleepUntil(0);
            return RunParts.Start.AddMicroseconds(Volatile.Read(ref _now));
        }
    }

    private static bool IsWorker => Thread.CurrentThread.Name?.StartsWith("worker ", StringComparison.Ordinal) is true;

    /// <summary>A phase of so many groups begins: until all workers of all of them are there, time stands still.</summary>
    public void Begin(int groups)
    {
        lock (_lock)
        {
            _members.Clear();
            _crews.Clear();
            _running = null;
            _groups = groups;
        }
    }

    /// <summary>The calling thread is about to start the workers of a group.</summary>
    public Crew Gather(string group, int workers)
    {
        if (_crew.Value is not { IsClosed: false } crew || crew.Name != group)
        {
            _crew.Value = crew = new Crew(group, workers);
            lock (_lock)
                _crews.Add(crew);
        }

        return crew;
    }

    /// <summary>What a group's workers did has been summed up.</summary>
    public void Close(Crew crew)
    {
        lock (_lock)
        {
            crew.IsClosed = true;
            Next();
        }
    }

    /// <summary>The calling worker ends once it has asked for the time again.</summary>
    public static void End()
    {
        if (_own is { } own)
            own.IsLeaving = true;
    }

    public void Advance(double seconds) => SleepUntil(Volatile.Read(ref _now) + (long)Math.Round(seconds * TicksPerSecond));

    public void SleepUntil(long ticks)
    {
        if (_own is null && !IsWorker)
        {
            lock (_lock)
                MoveTo(ticks);
            return;
        }

        Member own;
        lock (_lock)
        {
            if (_own is null)
            {
                _own = new Member(Thread.CurrentThread, _crew.Value!);
                _crew.Value!.Missing--;
                _members.Add(_own);
            }

            own = _own;
            own.Due = Math.Max(ticks, _now);
            own.IsWaiting = true;
            own.Woken.Reset();
            _running = null;
            Next();
            if (_running == own)
                return;
        }

        while (!own.Woken.Wait(PollMilliseconds))
        {
            lock (_lock)
                Next();
        }
    }

    public IDisposable Schedule(long firstDue, Func<long> tick)
    {
        var alarm = new Alarm(this, _crew.Value?.Name ?? "", tick) { Due = firstDue };
        lock (_lock)
            _alarms.Add(alarm);
        return alarm;
    }

    public IParker CreateParker() => new Parker(this);

    private void Leave(Member own)
    {
        lock (_lock)
        {
            own.IsLeaving = false;
            own.HasEnded = true;
            _running = null;
            Next();
        }
    }

    /// <summary>Lets the next one run, where nobody runs and all are there.</summary>
    private void Next()
    {
        if (_running is { HasEnded: false, Thread.IsAlive: true } || _crews.Count < _groups
            || _crews.Exists(crew => crew is { Missing: > 0, IsClosed: false }))
            return;
        Member? next = null;
        foreach (Member member in _members)
        {
            if (member is { IsWaiting: true, Due: < long.MaxValue } && (next is null || member.CompareTo(next) < 0))
                next = member;
        }

        // A group that has ended is summed up before time moves on.
        if (next is null || _crews.Exists(crew => !crew.IsClosed && !_members.Exists(member => member.Crew == crew && member.IsWaiting)))
            return;
        MoveTo(next.Due);
        next.IsWaiting = false;
        _running = next;
        next.Woken.Set();
    }

    private void MoveTo(long ticks)
    {
        while (true)
        {
            Alarm? first = null;
            foreach (Alarm alarm in _alarms)
            {
                if (alarm.Due < ticks && (first is null || alarm.CompareTo(first) < 0))
                    first = alarm;
            }

            if (first is null)
                break;
            Volatile.Write(ref _now, Math.Max(_now, first.Due));
            first.Due = first.Tick();
        }

        Volatile.Write(ref _now, Math.Max(_now, ticks));
    }

    /// <summary>The workers of one group.</summary>
    internal sealed class Crew(string name, int workers)
    {
        public string Name => name;

        /// <summary>Workers that have not come yet.</summary>
        public int Missing { get; set; } = workers;

        public bool IsClosed { get; set; }
    }

    private sealed class Member(Thread thread, Crew crew) : IComparable<Member>
    {
        public Thread Thread => thread;

        public Crew Crew => crew;

        public ManualResetEventSlim Woken { get; } = new(false, 0);

        public long Due { get; set; }

        public bool IsWaiting { get; set; }

        public bool IsLeaving { get; set; }

        public bool HasEnded { get; set; }

        private int Number { get; } = int.Parse(thread.Name.AsSpan("worker ".Length));

        public int CompareTo(Member? other) => Due != other!.Due ? Due.CompareTo(other.Due)
            : crew != other.Crew ? string.CompareOrdinal(crew.Name, other.Crew.Name)
            : Number.CompareTo(other.Number);
    }

    /// <summary>Who ends a wait without a limit is the worker whose turn it is, or an alarm.</summary>
    private sealed class Parker(TurnClock clock) : IParker
    {
        private Member? _parked;
        private bool _isEnded;

        public void ParkUntil(long ticks)
        {
            lock (clock._lock)
            {
                bool isOver = _isEnded;
                _isEnded = false;
                if (isOver)
                    return;
                _parked = _own;
            }

            clock.SleepUntil(ticks);
            lock (clock._lock)
                _parked = null;
        }

        public void Unpark()
        {
            lock (clock._lock)
            {
                if (_parked is { IsWaiting: true } parked)
                    parked.Due = Math.Min(parked.Due, clock._now);
                else
                    _isEnded = true;
            }
        }
    }

    private sealed class Alarm(TurnClock clock, string group, Func<long> tick) : IDisposable, IComparable<Alarm>
    {
        private string Group => group;

        public long Due { get; set; }

        public Func<long> Tick { get; } = tick;

        public void Dispose()
        {
            lock (clock._lock)
                clock._alarms.Remove(this);
        }

        public int CompareTo(Alarm? other) => Due != other!.Due ? Due.CompareTo(other.Due) : string.CompareOrdinal(group, other.Group);
    }
}
