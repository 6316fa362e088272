using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;

namespace MongoPerf.Load.Phases;

/// <summary>The arrivals of a group, in one line before all its connections: whichever is free takes the next one.</summary>
/// <remarks>
/// <para>A connection that waits for a reply holds up no other: its next arrivals go to those that are free. Taking them in the order in
/// which connections become free is what a queue before several servers does (first come, first served).</para>
/// <para>Each arrival's time is computed from its number, so that no error adds up. Of a rate that changes it is the time at which so many
/// arrivals have come: for Poisson arrivals a sum of exponential draws takes the number's place (time rescaling: D. Cox and V. Isham,
/// "Point Processes", 1980).</para>
/// <para>One thread at a time: <see cref="FreeWorkers"/> sees to it while a group is at work.</para>
/// </remarks>
internal sealed class ArrivalStream
{
    private const double MostCounted = 1_000_000;

    private readonly RatePlan _rate;
    private readonly double _ticksPerSecond;
    private readonly PlanShare _share;
    private RandomStream _gaps;
    private long _start;
    private long _measureFrom;
    private long _number;
    private double _drawn;
    private long _next;
    private int _piece;
    private double _pieceArrivals;
    private double _pieceSeconds;
    private long _waited;
    private long _busy;
    private long _busyUntil;

    /// <param name="rate">The rate of the group.</param>
    /// <param name="ticksPerSecond">The ticks of the clock per second.</param>
    /// <param name="seed">The seed of the group's streams.</param>
    /// <param name="share">
    /// The share of one of several clients, each of which takes every so manieth arrival: together they have the whole line.
    /// </param>
    public ArrivalStream(RatePlan rate, long ticksPerSecond, ulong seed, PlanShare share)
    {
        _share = share;
        _rate = rate;
        _ticksPerSecond = ticksPerSecond;
        _gaps = RandomStream.For(seed, RandomPurpose.Arrivals, 0);
    }

    /// <summary>When the next arrival is due, ticks.</summary>
    public long Next => _next;

    /// <summary>Arrivals that found all connections busy, and were taken in the measured part.</summary>
    public long Waited => _waited;

    /// <summary>Ticks of the measured part in which some arrival waited because all connections were busy.</summary>
    public long Busy => _busy;

    /// <param name="start">When the group starts, in ticks.</param>
    /// <param name="measureFrom">When its measured part begins, in ticks.</param>
    public void Start(long start, long measureFrom)
    {
        _start = _busyUntil = start;
        _measureFrom = measureFrom;
        _next = Draw();
    }

    /// <summary>Takes the next arrival for a connection.</summary>
    /// <param name="free">When that connection became free, ticks.</param>
    /// <returns>When the arrival is due, ticks: it may be past.</returns>
    public long Take(long free)
    {
        long due = _next;
        _next = Draw();
        // Where connections are far behind, all that they do in the measured part may have been due before it.
        if (due < free && free >= _measureFrom)
        {
            // Arrivals are taken in order: had another connection been free when this one was due, it would have it.
            _waited++;
            _busy += Math.Max(0, free - Math.Max(Math.Max(due, _measureFrom), _busyUntil));
            _busyUntil = Math.Max(_busyUntil, free);
        }

        return due;
    }

    /// <summary>Takes all arrivals that are due before a time and counts them.</summary>
    /// <remarks>Very many are not counted one by one: of random ones those that are to be expected are taken then.</remarks>
    public long TakeBefore(long end)
    {
        long count = 0;
        double before = _rate.ArrivalsIn((end - _start) / _ticksPerSecond) - MostCounted;
        double now = _rate.IsPoisson ? _drawn : _number;
        if (before - now > MostCounted * _share.Count)
        {
            count = (long)((before - now) / _share.Count);
            _drawn += count * _share.Count;
            _number += count * _share.Count;
        }

        for (; _next < end; _next = Draw())
            count++;
        return count;
    }

    private long Draw()
    {
        double arrivals = NextNumber();
        while ((_number - 1) % _share.Count != _share.Index)
            arrivals = NextNumber();
        while (_piece < _rate.Pieces.Count - 1 && arrivals - _pieceArrivals >= _rate.Pieces[_piece].Arrivals)
        {
            _pieceArrivals += _rate.Pieces[_piece].Arrivals;
            _pieceSeconds += _rate.Pieces[_piece].Seconds;
            _piece++;
        }

        double seconds =
            _pieceSeconds + SecondsIn(_rate.Pieces[_piece], arrivals - _pieceArrivals, isLast: _piece == _rate.Pieces.Count - 1);
        // To the nearest tick: cutting would make the first of a second fall into the one before.
        double ticks = Math.Round(seconds * _ticksPerSecond);
        return ticks < long.MaxValue / 2 ? _start + (long)ticks : long.MaxValue / 2;
    }

    private double NextNumber()
    {
        double arrivals = _rate.IsPoisson ? _drawn -= Math.Log(1 - _gaps.NextDouble()) : _number;
        _number++;
        return arrivals;
    }

    /// <summary>The seconds in a piece. Behind the end of the last piece the rate stays what it was there.</summary>
    private static double SecondsIn(RatePiece piece, double arrivals, bool isLast) =>
        isLast && arrivals >= piece.Arrivals ? piece.Seconds + ((arrivals - piece.Arrivals) / piece.To) : piece.SecondsOf(arrivals);
}
