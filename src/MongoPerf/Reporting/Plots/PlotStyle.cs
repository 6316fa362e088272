using System.Text.RegularExpressions;
using MongoPerf.Input;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Charts.Drawing;
using MongoPerf.Scenarios.Yaml;

namespace MongoPerf.Reporting.Plots;

/// <summary>
/// Colours and letters of charts: those of plots/style.yaml, changed by a user's own file of that name. The same within one flow of
/// execution.
/// </summary>
internal sealed partial record PlotStyle
{
    /// <summary>Name of the style file without its extension; it is not a plot.</summary>
    public const string Name = "style";

    private static readonly KeySet Letters = new("letters", "Font sizes, in pixels.",
        [.. new[] { "title", "verdict", "text", "small", "mark" }.Select(static name => new Key(name, KeyKind.Number, "Pixels."))]);

    private static readonly KeySet Theme = new("theme", "Colours of a chart's background and text.",
        [.. new[] { "ground", "ink", "soft", "grid", "mark" }.Select(static name => new Key(name, KeyKind.Text, "As '#RRGGBB'."))]);

    private static readonly KeySet Color = new("color", "A colour by what it means.",
    [
        new("light", KeyKind.Text, "On a light ground."),
        new("dark", KeyKind.Text, "On a dark ground [default: as on a light one]."),
        new("point", KeyKind.Text, "Shape of points [default: disc]."),
    ]);

    private static readonly KeySet File = new("style", "Colours and font sizes of charts.",
        [new("letters", KeyKind.Mapping, Letters.Description, Letters), new("themes", KeyKind.NamedMappings, Theme.Description, Theme), new("colors", KeyKind.NamedMappings, Color.Description, Color)]);

    private static readonly (string Name, PointShape Shape)[] Points =
    [
        ("disc", PointShape.Disc), ("square", PointShape.Square), ("triangle", PointShape.Triangle), ("triangle-down", PointShape.TriangleDown),
        ("diamond", PointShape.Diamond), ("circle", PointShape.Circle), ("box", PointShape.Box), ("open-triangle", PointShape.OpenTriangle),
    ];

    private static readonly Lazy<PlotStyle> Shipped = new(static () =>
        new PlotStyle().With(PlotFile.TryFind(Path.Combine(PlotFile.ShippedFolder, Name + ".yaml"))
        ?? throw new InvalidOperationException($"{PlotFile.FolderName}/{Name}.yaml is not beside the program")));

    private static readonly AsyncLocal<PlotStyle?> Scope = new();

    private PlotStyle()
    {
    }

    public static PlotStyle Current => Scope.Value ?? Shipped.Value;

    /// <summary>Pixels, by what is written.</summary>
    public IReadOnlyDictionary<string, double> Sizes { get; private init; } = new Dictionary<string, double>();

    /// <summary>By name.</summary>
    public IReadOnlyDictionary<string, ChartTheme> Themes { get; private init; } = new Dictionary<string, ChartTheme>();

    /// <summary>In the order of the file.</summary>
    public IReadOnlyList<Palette.Color> Colors { get; private init; } = [];

    /// <summary>In this flow of execution until it is disposed.</summary>
    /// <param name="folder">May have a style.yaml; null for none.</param>
    /// <exception cref="UserException">The file is wrong.</exception>
    public static IDisposable Of(string? folder)
    {
        var before = new Former(Scope.Value);
        if (folder is not null && PlotFile.TryFind(Path.Combine(folder, Name + ".yaml")) is { } file)
            Scope.Value = Shipped.Value.With(file);
        return before;
    }

    /// <summary>The same with what a file names.</summary>
    /// <exception cref="UserException">Says where, what was found and what is allowed.</exception>
    public PlotStyle With(PlotFile file)
    {
        var top = new MappingReader(ScenarioYaml.Read(file.ShownPath, file.Text, "expected a mapping with letters, themes or colors", null), "style", File);
        var sizes = new Dictionary<string, double>(Sizes);
        if (top.Find("letters") is { } letters)
        {
            var reader = new MappingReader(letters, "letters", Letters);
            foreach (string name in Letters.Names.Where(name => reader.Find(name) is not null))
                sizes[name] = reader.Number(name, 10, 40)!.Value;
        }

        var themes = new Dictionary<string, ChartTheme>(Themes);
        foreach (MappingEntry entry in Entries(top, "themes"))
        {
            if (Themes.Count > 0 && !Themes.ContainsKey(entry.Name))
                throw MappingReader.Unknown(entry.Key, "themes", Themes.Keys, "theme");
            var reader = new MappingReader(entry.Value, $"theme '{entry.Name}'", Theme);
            ChartTheme former = themes.GetValueOrDefault(entry.Name, new ChartTheme("", "", "", "", "", entry.Name == "dark"));
            themes[entry.Name] = former with
            {
                Ground = Hex(reader, "ground") ?? former.Ground, Ink = Hex(reader, "ink") ?? former.Ink, Soft = Hex(reader, "soft") ?? former.Soft,
                Grid = Hex(reader, "grid") ?? former.Grid, Mark = Hex(reader, "mark") ?? former.Mark,
            };
        }

        var colors = Colors.ToList();
        foreach (MappingEntry entry in Entries(top, "colors"))
        {
            int place = colors.FindIndex(color => color.Name == entry.Name);
            if (Colors.Count > 0 && place < 0)
                throw MappingReader.Unknown(entry.Key, "colors", Colors.Select(static color => color.Name), "color");
            var reader = new MappingReader(entry.Value, $"color '{entry.Name}'", Color);
            reader.Require("light", "such as light: '#0072B2'");
            string light = Hex(reader, "light")!;
            string point = reader.OneOf("point", [.. Points.Select(static one => one.Name)]) ?? "disc";
            var color = new Palette.Color(entry.Name, light, Hex(reader, "dark") ?? light, Points.First(one => one.Name == point).Shape);
            if (place < 0)
                colors.Add(color);
            else
                colors[place] = color;
        }

        return new PlotStyle { Sizes = sizes, Themes = themes, Colors = colors };
    }

    private static IReadOnlyList<MappingEntry> Entries(MappingReader top, string key) => top.Find(key) switch
    {
        null => [],
        MappingNode mapping => mapping.Entries,
        { } other => throw MappingReader.Wrong(other, $"{key} is {other.Describe()}; expected names with mappings"),
    };

    private static string? Hex(MappingReader reader, string key)
    {
        if (reader.Text(key) is not { } text)
            return null;
        return HexColor().IsMatch(text) ? text.ToUpperInvariant() : throw MappingReader.Wrong(reader.Find(key)!, $"{key} is '{text}'; expected a color such as '#0072B2'", "quote it: YAML treats an unquoted # as the start of a comment");
    }

    private sealed class Former(PlotStyle? style) : IDisposable
    {
        public void Dispose() => Scope.Value = style;
    }

    [GeneratedRegex("^#[0-9A-Fa-f]{6}$")]
    private static partial Regex HexColor();
}
