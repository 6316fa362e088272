using MongoPerf.Measurement;

namespace MongoPerf.Load.Phases;

/// <summary>
/// Hands out a group's arrivals: each is no worker's until it is nearly due, and then goes to the one that has been free longest.
/// </summary>
/// <remarks>
/// <para>The first in line sleeps until the next arrival is near. Then it takes that one, hands those that are as near to the workers
/// behind it, and wakes the one that is first now. All others are parked without a timer, so thousands of free workers cost nothing. An
/// arrival never waits for a worker that sleeps while another one is awake: whoever is free and finds one that is due takes it.</para>
/// <para>For all threads of the group; it allocates nothing.</para>
/// </remarks>
internal sealed class FreeWorkers(ArrivalStream arrivals, IClock clock)
{
    /// <summary>No arrival is handed out longer before it is due.</summary>
    private const double MostSeconds = 0.005;

    /// <summary>
    /// How long before an arrival is due the first in line wakes for it, where others are behind it: what is due from then on until
    /// <see cref="MostSeconds"/> is handed out at once. Longer than it takes to put a batch together.
    /// </summary>
    private const double LeastSeconds = 0.0025;

    private readonly Lock _lock = new();
    private readonly long _most = clock.TicksOf(MostSeconds);
    private readonly long _least = clock.TicksOf(LeastSeconds);
    private long _endAt = long.MaxValue;
    private Place? _first;
    private Place? _last;

    /// <summary>To be called before any worker takes an arrival.</summary>
    /// <param name="endAt">The group's end: what is due from then on is handed out to nobody; ticks.</param>
    public void Begin(long endAt) => _endAt = endAt;

    /// <summary>Takes an arrival for a worker, or gets it in line for one.</summary>
    /// <param name="place">The worker's.</param>
    /// <param name="free">When the worker became free, ticks.</param>
    /// <param name="due">
    /// When the arrival is due, ticks: it may be past. The group's end for a worker for which there was none until then.
    /// </param>
    /// <param name="wakeAt">Until when a worker in line may be parked, before it calls this again; ticks.</param>
    /// <returns>False for a worker that is in line.</returns>
    public bool TryTake(Place place, long free, out long due, out long wakeAt)
    {
        wakeAt = long.MaxValue;
        if (place.TryReceive(out due))
            return true;
        Place? called = null, leader = null;
        lock (_lock)
        {
            // What it was called for is about to be handed to it.
            if (place.IsCalled)
                return false;
            long now = clock.Now;
            // With nobody behind it, a worker has nothing to hand out.
            long near = _first is null || (_first == place && _last == place) ? _most : _least;
            if (!TryNext(now, near, free, out due))
            {
                if (!place.IsInLine)
                    Append(place, free);
                if (_first == place)
                {
                    place.Leads = true;
                    wakeAt = arrivals.Next < _endAt ? arrivals.Next - near : _endAt;
                }

                return false;
            }

            if (place.IsInLine)
                Remove(place);
            Place? end = null;
            while (_first is { } next && TryNext(now, _most, next.Free, out long nextDue))
            {
                Remove(next);
                next.Call(nextDue);
                if (end is null)
                    called = next;
                else
                    end.Next = next;
                end = next;
            }

            leader = NewLeader();
        }

        // Outside of the lock: who wakes may take this thread's processor at once.
        while (called is not null)
        {
            Place next = called;
            called = next.Next;
            next.Next = null;
            next.Hand();
        }

        leader?.Parker.Unpark();
        return true;
    }

    /// <summary>Gets a worker out of the line.</summary>
    /// <returns>False when it has been called: <see cref="TryTake"/> brings its arrival.</returns>
    public bool TryLeave(Place place)
    {
        Place? leader;
        lock (_lock)
        {
            if (place.IsCalled)
                return false;
            if (!place.IsInLine)
                return true;
            Remove(place);
            leader = NewLeader();
        }

        leader?.Parker.Unpark();
        return true;
    }

    private bool TryNext(long now, long near, long free, out long due)
    {
        bool isLeft = arrivals.Next < _endAt;
        due = _endAt;
        if (isLeft ? arrivals.Next - now > near : now < _endAt)
            return false;
        if (isLeft)
            due = arrivals.Take(free);
        return true;
    }

    /// <returns>The first in line, when it does not yet know that it is; else null.</returns>
    private Place? NewLeader()
    {
        if (_first is not { Leads: false } first)
            return null;
        first.Leads = true;
        return first;
    }

    private void Append(Place place, long free)
    {
        place.Free = free;
        place.IsInLine = true;
        place.Previous = _last;
        if (_last is null)
            _first = place;
        else
            _last.Next = place;
        _last = place;
    }

    private void Remove(Place place)
    {
        if (place.Previous is null)
            _first = place.Next;
        else
            place.Previous.Next = place.Next;
        if (place.Next is null)
            _last = place.Previous;
        else
            place.Next.Previous = place.Previous;
        place.Next = place.Previous = null;
        place.IsInLine = place.Leads = false;
    }

    /// <summary>A worker's place in the line.</summary>
    /// <param name="parker">Where the worker waits.</param>
    internal sealed class Place(IParker parker)
    {
        private long _due;
        private volatile bool _isHanded;

        public IParker Parker => parker;

        // All of these under the line's lock, but that who has been called is in nobody's way any more.
        public Place? Next { get; set; }

        public Place? Previous { get; set; }

        public bool IsInLine { get; set; }

        /// <summary>It is the first in line, and knows it.</summary>
        public bool Leads { get; set; }

        /// <summary>An arrival is its own, and it has not yet received it.</summary>
        public bool IsCalled { get; private set; }

        /// <summary>When its worker became free, ticks.</summary>
        public long Free { get; set; }

        public void Call(long due)
        {
            _due = due;
            IsCalled = true;
        }

        public void Hand()
        {
            _isHanded = true;
            parker.Unpark();
        }

        public bool TryReceive(out long due)
        {
            // In this order: what was handed over is read behind the sign that it was.
            bool isHanded = _isHanded;
            due = _due;
            if (isHanded)
                _isHanded = IsCalled = false;
            return isHanded;
        }
    }
}
