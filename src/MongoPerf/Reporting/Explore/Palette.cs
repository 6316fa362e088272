namespace MongoPerf.Reporting.Explore;

/// <summary>Colours by meaning, those of plots/common.gp (Okabe and Ito, "Color Universal Design", 2008), and what stands for them on a dark ground.</summary>
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

    /// <param name="Name">As in common.gp.</param>
    /// <param name="Light">On white.</param>
    /// <param name="Dark">On a dark ground, where dark colours would be lost.</param>
    internal readonly record struct Color(string Name, string Light, string Dark);

    public static IReadOnlyList<Color> Colors { get; } =
    [
        .. new[] { Orange, Blue, Green, Vermilion, Sky, Purple, Grey, Violet }.Select(static (hex, i) => Of($"o{i + 1}", hex)),
        .. new[] { Blue, Vermilion, Green, Orange, Purple, Grey }.Select(static (hex, i) => Of($"shard{i + 1}", hex)),
        Of("server", Blue), Of("client", Orange), Of("host", "#909090"), Of("read", Blue), Of("written", Vermilion), Of("limit", "#A00000"),
        Of("data", Blue), Of("index", Vermilion), Of("storage", Green), new("others", "#F2D48A", "#6B5A22"),
        new("migration", "#E6DFF5", "#3A3154"), new("migration_failed", "#F9D9D5", "#5A2C28"),
    ];

    private static Color Of(string name, string hex) => new(name, hex, hex switch
    {
        Blue => "#3FA3E0",
        Grey => "#C8C8C8",
        Violet => "#B583F0",
        "#A00000" => "#F06A6A",
        _ => hex,
    });
}
