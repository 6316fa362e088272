using MongoPerf.Reports.Plots;

namespace MongoPerf.Reports.Charts;

/// <summary>What a point looks like.</summary>
public enum Marker
{
    Circle,
    Square,
    Triangle,
    TriangleDown,
    Diamond,
    OpenCircle,
    OpenSquare,
    OpenTriangle,
}

/// <summary>Colors by meaning, from plots/style.yaml.</summary>
public static class Palette
{
    /// <param name="Name">What it stands for: an operation (o1 …), a line among several of a kind (s1 …), a shard, a percentile …</param>
    /// <param name="Light">The color on a light background, as #RRGGBB.</param>
    /// <param name="Dark">The color on a dark background, where dark colors would be lost.</param>
    /// <param name="Marker">The shape of points.</param>
    public readonly record struct Color(string Name, string Light, string Dark, Marker Marker);

    public static IReadOnlyList<Color> Colors => PlotStyle.Current.Colors;

    /// <exception cref="KeyNotFoundException">No color has that name.</exception>
    public static Color Of(string name)
    {
        foreach (Color color in Colors)
        {
            if (color.Name == name)
                return color;
        }

        throw new KeyNotFoundException($"no color '{name}'");
    }

    /// <summary>The name of an operation's color.</summary>
    /// <param name="place">Its place among the operations that are told apart, 0-based; after the eighth they begin anew.</param>
    public static string OfOperation(int place) => $"o{(place % 8) + 1}";

    /// <summary>The name of the color of a line among several of a kind, such as runs that are compared.</summary>
    /// <inheritdoc cref="OfOperation"/>
    public static string OfLine(int place) => $"s{(place % 8) + 1}";
}
