using System.Text.RegularExpressions;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Charts.Drawing;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Reports.Plots;

/// <summary>
/// Colors and font sizes of charts: those of plots/style.yaml, changed by a user's own file of that name. The same within one flow of
/// execution.
/// </summary>
public sealed partial record PlotStyle
{
    /// <summary>The name of the style file without its extension; it is not a plot.</summary>
    public const string Name = "style";

    private static readonly (string Name, Marker Marker)[] Markers =
    [
        ("circle", Marker.Circle), ("square", Marker.Square), ("triangle", Marker.Triangle), ("triangle-down", Marker.TriangleDown),
        ("diamond", Marker.Diamond), ("open-circle", Marker.OpenCircle), ("open-square", Marker.OpenSquare),
        ("open-triangle", Marker.OpenTriangle),
    ];

    private static readonly KeySet FontSize = new("fontSizes", "Font sizes, in pixels of a picture 1600 pixels wide.",
    [
        new("title", KeyKind.Number, "The title above a chart."),
        new("verdict", KeyKind.Number, "The verdict of a comparison."),
        new("text", KeyKind.Number, "Axes, ticks, and legends above a chart."),
        new("small", KeyKind.Number, "The line below the title, and legends beside panels."),
        new("mark", KeyKind.Number, "The labels of marks."),
    ]);

    private static readonly KeySet Theme = new("theme", "Colors of a chart's background and text.",
    [
        new("background", KeyKind.Text, "Behind everything, as '#RRGGBB'."),
        new("text", KeyKind.Text, "Titles and ticks."),
        new("muted", KeyKind.Text, "What matters less, and frames."),
        new("grid", KeyKind.Text, "The lines behind the data."),
        new("mark", KeyKind.Text, "Marks and their labels."),
    ]);

    private static readonly KeySet Color = new("color", "A color by what it means.",
    [
        new("light", KeyKind.Text, "On a light background, as '#RRGGBB'."),
        new("dark", KeyKind.Text, "On a dark background [default: as on a light one]."),
        new("marker", KeyKind.Text, "The shape of points [default: circle].") { Allowed = [.. Markers.Select(static one => one.Name)] },
    ]);

    /// <summary>Every key of a style file: reader, messages and plots/style.schema.json go by it.</summary>
    internal static KeySet File { get; } = new("style", "Colors and font sizes of charts.",
    [
        new("fontSizes", KeyKind.Mapping, FontSize.Description, FontSize),
        new("themes", KeyKind.NamedMappings, Theme.Description, Theme),
        new("colors", KeyKind.NamedMappings, Color.Description, Color),
    ]);

    private static readonly Lazy<PlotStyle> Shipped = new(static () =>
        new PlotStyle().With(PlotFile.TryFind(Path.Combine(PlotFile.ShippedFolder, Name + ".yaml"))
        ?? throw new InvalidOperationException($"{PlotFile.FolderName}/{Name}.yaml is not beside the program")));

    private static readonly AsyncLocal<PlotStyle?> Scope = new();

    private PlotStyle()
    {
    }

    public static PlotStyle Current => Scope.Value ?? Shipped.Value;

    /// <summary>Pixels by what is written, such as title.</summary>
    public IReadOnlyDictionary<string, double> FontSizes { get; private init; } = new Dictionary<string, double>();

    /// <summary>The themes by name.</summary>
    public IReadOnlyDictionary<string, ChartTheme> Themes { get; private init; } = new Dictionary<string, ChartTheme>();

    /// <summary>The colors in the order of the file.</summary>
    public IReadOnlyList<Palette.Color> Colors { get; private init; } = [];

    /// <summary>The standard style, changed by what a folder's style.yaml names.</summary>
    /// <param name="folder">May have no such file; null for no folder.</param>
    /// <exception cref="UserException">The file is wrong.</exception>
    public static PlotStyle In(string? folder) =>
        folder is not null && PlotFile.TryFind(Path.Combine(folder, Name + ".yaml")) is { } file ? Shipped.Value.With(file) : Shipped.Value;

    /// <summary>Makes this the style of the current flow of execution until the result is disposed.</summary>
    public IDisposable Use()
    {
        var before = new Former(Scope.Value);
        Scope.Value = this;
        return before;
    }

    /// <summary>The same style with what a file names.</summary>
    /// <exception cref="UserException">Says where, what was found and what is allowed.</exception>
    public PlotStyle With(PlotFile file)
    {
        var top = new MappingReader(
            ScenarioYaml.Read(file.ShownPath, file.Text, "expected a mapping with fontSizes, themes or colors", null), "style", File);
        var sizes = new Dictionary<string, double>(FontSizes);
        if (top.Find("fontSizes") is { } given)
        {
            var reader = new MappingReader(given, "fontSizes", FontSize);
            foreach (string name in FontSize.Names.Where(name => reader.Find(name) is not null))
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
                Background = Hex(reader, "background") ?? former.Background, Text = Hex(reader, "text") ?? former.Text,
                Muted = Hex(reader, "muted") ?? former.Muted, Grid = Hex(reader, "grid") ?? former.Grid,
                Mark = Hex(reader, "mark") ?? former.Mark,
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
            string marker = reader.OneOf("marker", [.. Markers.Select(static one => one.Name)]) ?? "circle";
            var color = new Palette.Color(entry.Name, light, Hex(reader, "dark") ?? light, Markers.First(one => one.Name == marker).Marker);
            if (place < 0)
                colors.Add(color);
            else
                colors[place] = color;
        }

        return new PlotStyle { FontSizes = sizes, Themes = themes, Colors = colors };
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
        return HexColor().IsMatch(text) ? text.ToUpperInvariant() : throw MappingReader.Wrong(
            reader.Find(key)!,
            $"{key} is '{text}'; expected a color such as '#0072B2'",
            "quote it: YAML treats an unquoted # as the start of a comment");
    }

    private sealed class Former(PlotStyle? style) : IDisposable
    {
        public void Dispose() => Scope.Value = style;
    }

    [GeneratedRegex("^#[0-9A-Fa-f]{6}$")]
    private static partial Regex HexColor();
}
