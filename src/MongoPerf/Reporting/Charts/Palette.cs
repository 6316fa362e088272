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

/// <summary>Colours by meaning, which colour-blind readers can tell apart (Okabe and Ito, "Color Universal Design", 2008), and what stands for them on a dark ground.</summary>
internal static class Palette
{
    private const string Blue = "#0072B2";
    private const string Vermilion = "#D55E00";
    private const string Green = "#009E73";
    private const string Orange = "#E69F00";
    private const string Sky = "#56B4E9";
    private const string Purple = "#CC79A7";
    private const string Grey = "#404040";
    private const string Violet = "#8A2BE2";

    /// <summary>Of points, so that a copy without colours can be read.</summary>
    private static readonly PointShape[] Shapes = Enum.GetValues<PointShape>();

    /// <param name="Name">What it stands for: an operation (o1 …), a line among several of a kind (s1 …), a shard, a percentile …</param>
    /// <param name="Light">On white.</param>
    /// <param name="Dark">On a dark ground, where dark colours would be lost.</param>
    /// <param name="Shape">Of points.</param>
    internal readonly record struct Color(string Name, string Light, string Dark, PointShape Shape);

    public static IReadOnlyList<Color> Colors { get; } =
    [
        .. Numbered("o", 4, Orange, Blue, Green, Vermilion, Sky, Purple, Grey, Violet),
        .. Numbered("s", 8, Blue, Vermilion, Green, Purple, Orange, Sky, Grey, Violet),
        .. Numbered("shard", 8, Blue, Vermilion, Green, Orange, Purple, Grey),
        Of("p50", "#86BFE0", 0), Of("p95", "#4592C6", 1), Of("p99", "#185FA5", 2), Of("p999", "#08305E", 3), Of("service", Vermilion, 3),
        Of("disk", Grey, 0), Of("data", Blue, 1), Of("storage", Green, 2), Of("index", Vermilion, 3),
        Of("server", Blue), Of("client", Orange), Of("host", "#909090"), Of("read", Blue), Of("written", Vermilion), Of("limit", "#A00000"),
        new("others", "#F2D48A", "#6B5A22", Shapes[0]), new("migration", "#E6DFF5", "#3A3154", Shapes[0]), new("migration_failed", "#F9D9D5", "#5A2C28", Shapes[0]),
        new("warm-up", "#F1F1F1", "#26292D", Shapes[0]), new("checkpoint", "#DEDEDE", "#3A3E44", Shapes[0]), new("index_build", "#C8E3F7", "#1D4560", Shapes[0]),
        new("outage", "#F3B7AE", "#74362F", Shapes[0]), new("noise", "#ECECEC", "#303030", Shapes[0]),
    ];

    private static readonly Dictionary<string, Color> ByName = Colors.ToDictionary(static color => color.Name);

    /// <exception cref="KeyNotFoundException">No colour has that name.</exception>
    public static Color Of(string name) => ByName[name];

    /// <summary>Name of an operation's colour.</summary>
    /// <param name="place">Its place among the operations that are told apart, 0-based; after the eighth they begin anew.</param>
    public static string OfOperation(int place) => $"o{(place % 8) + 1}";

    /// <summary>Name of the colour of a line among several of a kind, such as runs that are compared.</summary>
    /// <inheritdoc cref="OfOperation"/>
    public static string OfLine(int place) => $"s{(place % 8) + 1}";

    private static IEnumerable<Color> Numbered(string prefix, int shapes, params string[] hexes) => hexes.Select((hex, i) => Of($"{prefix}{i + 1}", hex, i % shapes));

    private static Color Of(string name, string hex, int shape = 0) => new(name, hex, OnDark(hex), Shapes[shape]);

    private static string OnDark(string hex) => hex switch
    {
        Blue => "#3FA3E0",
        Grey => "#C8C8C8",
        Violet => "#B583F0",
        "#A00000" => "#F06A6A",
        // Percentiles: the higher the brighter, as they are the darker on white.
        "#86BFE0" => "#3E7CA8",
        "#4592C6" => "#5FA8D8",
        "#185FA5" => "#9CD0F0",
        "#08305E" => "#E6F4FD",
        _ => hex,
    };
}
