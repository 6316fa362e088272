using MongoPerf.Reporting.Plots;

namespace MongoPerf.Reporting.Charts;

/// <summary>What a point looks like.</summary>
internal enum PointShape
{
    Disc,
    Square,
    Triangle,
    TriangleDown,
    Diamond,
    Circle,
    Box,
    OpenTriangle,
}

/// <summary>Colours by meaning, from plots/style.yaml, and what stands for them on a dark ground.</summary>
internal static class Palette
{
    /// <param name="Name">What it stands for: an operation (o1 …), a line among several of a kind (s1 …), a shard, a percentile …</param>
    /// <param name="Light">On white.</param>
    /// <param name="Dark">On a dark ground, where dark colours would be lost.</param>
    /// <param name="Shape">Of points.</param>
    internal readonly record struct Color(string Name, string Light, string Dark, PointShape Shape);

    public static IReadOnlyList<Color> Colors => PlotStyle.Current.Colors;

    /// <exception cref="KeyNotFoundException">No colour has that name.</exception>
    public static Color Of(string name)
    {
        foreach (Color color in Colors)
        {
            if (color.Name == name)
                return color;
        }

        throw new KeyNotFoundException($"no color '{name}'");
    }

    /// <summary>Name of an operation's colour.</summary>
    /// <param name="place">Its place among the operations that are told apart, 0-based; after the eighth they begin anew.</param>
    public static string OfOperation(int place) => $"o{(place % 8) + 1}";

    /// <summary>Name of the colour of a line among several of a kind, such as runs that are compared.</summary>
    /// <inheritdoc cref="OfOperation"/>
    public static string OfLine(int place) => $"s{(place % 8) + 1}";
}
