namespace MongoPerf.Load.Plans;

/// <summary>When the operations of a group are due, whatever became of those before (an open loop).</summary>
/// <param name="Pieces">One after the other from the group's start; at least one. After the last, its end holds.</param>
/// <param name="IsPoisson">
/// The times between arrivals are drawn (exponential, from the run's seed), as of many users who know nothing of one another;
/// otherwise they are even.
/// </param>
public sealed record RatePlan(IReadOnlyList<RatePiece> Pieces, bool IsPoisson = false)
{
    /// <summary>Operations per second over all threads.</summary>
    public double Highest => Pieces.Max(piece => Math.Max(piece.From, piece.To));

    /// <summary>It is the same throughout.</summary>
    public bool IsSteady => Pieces.All(piece => piece.From == Highest && piece.To == Highest);

    /// <summary>How many are due, on average, in so many seconds from the start.</summary>
    public double ArrivalsIn(double seconds)
    {
        double sum = 0;
        foreach (RatePiece piece in Pieces)
        {
            double within = Math.Min(seconds, piece.Seconds);
            sum += piece.ArrivalsIn(within);
            seconds -= within;
        }

        return sum + (seconds * Pieces[^1].To);
    }

    public static implicit operator RatePlan(double perSecond) => new([new RatePiece(perSecond, perSecond, 0)]);
}

/// <summary>A part of a rate's course: a straight line.</summary>
/// <param name="From">Operations per second at its start, over all threads; more than 0.</param>
/// <param name="To">The rate at its end.</param>
/// <param name="Seconds">How long it takes.</param>
public readonly record struct RatePiece(double From, double To, double Seconds)
{
    /// <summary>Arrivals in it.</summary>
    public double Arrivals => ArrivalsIn(Seconds);

    /// <param name="seconds">The seconds since its start, within it.</param>
    public double ArrivalsIn(double seconds) => Seconds <= 0 ? 0 : (From + ((To - From) / Seconds * seconds / 2)) * seconds;

    /// <summary>How long after its start that many have come.</summary>
    public double SecondsOf(double arrivals)
    {
        if (arrivals <= 0)
            return 0;
        // The root of From·t + slope·t²/2 = arrivals, written so that nothing cancels where the slope is small.
        double slope = Seconds > 0 ? (To - From) / Seconds : 0;
        return 2 * arrivals / (From + Math.Sqrt(Math.Max(0, (From * From) + (2 * slope * arrivals))));
    }
}
