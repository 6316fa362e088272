namespace MongoPerf.Reports.Charts;

/// <summary>A stretch of an axis that is shaded.</summary>
/// <param name="From">Its beginning on the axis.</param>
/// <param name="To">Its end on the axis.</param>
/// <param name="Kind">What happened: the name of a color of <see cref="Palette"/>.</param>
/// <param name="Text">More about it, for those who ask.</param>
public sealed record Band(double From, double To, string Kind, string Text = "")
{
    /// <summary>So many bands could be told apart on an axis; those that lie closer become one.</summary>
    private const double Places = 1000;

    /// <summary>Makes each band wide enough to be seen, and one band of those that touch; it keeps the text of the first.</summary>
    /// <param name="bands">Bands of one kind, ordered by their beginning.</param>
    /// <param name="seconds">The length of the axis.</param>
    public static IEnumerable<Band> Joined(IEnumerable<Band> bands, double seconds)
    {
        double narrowest = seconds / Places;
        Band? last = null;
        // On an axis with pauses cut out, what happened in a pause has no width.
        foreach (Band one in bands.Where(static band => band.To > band.From))
        {
            Band band = one with { To = Math.Min(seconds, Math.Max(one.To, one.From + narrowest)) };
            if (last is not null && band.From - last.To < narrowest)
            {
                last = last with { To = Math.Max(last.To, band.To) };
                continue;
            }

            if (last is not null)
                yield return last;
            last = band;
        }

        if (last is not null)
            yield return last;
    }
}
