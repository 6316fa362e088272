namespace MongoPerf.Running.Sessions;

/// <summary>
/// Which rates a search for the highest that holds tries: doubling, then bisection on a logarithmic scale, then the one found once more.
/// </summary>
/// <remarks>What has held and fails when it is verified counts as failed, and the search continues below it.</remarks>
internal sealed class RateSteps(double start)
{
    /// <summary>The search ends when a rate that holds and one that fails differ by no more.</summary>
    public const double Precision = 0.05;

    public const int MostTries = 30;

    private const double Lowest = 1;
    private const double Highest = 10_000_000;

    private readonly List<double> _held = [];
    private double? _failed;
    private int _tries;

    /// <summary>The next rate per second; null when the search is over.</summary>
    public double? Next { get; private set; } = Rounded(start);

    /// <summary>"start", "doubling", "halving", "bisection" or "verification": why <see cref="Next"/> is tried.</summary>
    public string Stage { get; private set; } = "start";

    /// <summary>The highest that held, twice; null when there is none, or the search is not over.</summary>
    public double? Found { get; private set; }

    private double? Held => _held.Count == 0 ? null : _held.Max();

    /// <summary>How the rate that was next did.</summary>
    public void Note(bool holds)
    {
        double rate = Next!.Value;
        _tries++;
        if (holds && Stage == "verification")
        {
            (Found, Next) = (rate, null);
            return;
        }

        if (holds)
            _held.Add(rate);
        else
            Fail(rate);
        (Stage, Next) = _tries >= MostTries ? (Stage, null) : Choose();
    }

    private void Fail(double rate)
    {
        _failed = rate;
        _held.RemoveAll(held => held >= rate);
    }

    private (string Stage, double? Rate) Choose()
    {
        switch (Held, _failed)
        {
            case ({ } held, null):
                return held >= Highest ? ("verification", held) : ("doubling", Math.Min(Highest, Rounded(held * 2)));
            case (null, { } failed):
                return failed <= Lowest ? ("halving", null) : ("halving", Math.Max(Lowest, Rounded(failed / 2)));
            case ({ } held, { } failed):
                double middle = Rounded(Math.Sqrt(held * failed));
                return failed <= held * (1 + Precision) || middle <= held || middle >= failed
                    ? ("verification", held)
                    : ("bisection", middle);
            default:
                throw new InvalidOperationException("nothing was noted");
        }
    }

    /// <summary>Rounds to three digits.</summary>
    private static double Rounded(double rate)
    {
        double unit = Math.Pow(10, Math.Floor(Math.Log10(rate)) - 2);
        return Math.Round(rate / unit) * unit;
    }
}
