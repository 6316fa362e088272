using System.Globalization;
using System.Text;

namespace MongoPerf.Reporting.Charts;

/// <summary>Text of a CHART.settings.gp: what a template needs to know of a run.</summary>
internal sealed class GnuplotSettings
{
    private readonly StringBuilder _text = new();

    public override string ToString() => _text.ToString();

    public GnuplotSettings Set(string name, string value) => Line(name, Quote(value));

    public GnuplotSettings Set(string name, double value) => Line(name, AxisScale.Number(value));

    /// <summary>Sets NAME_max, NAME_tics and NAME_bare_tics.</summary>
    public GnuplotSettings SetAxis(string name, AxisScale scale) =>
        Set(name + "_max", scale.Max).Set(name + "_tics", scale.Tics).Set(name + "_bare_tics", scale.BareTics);

    public GnuplotSettings SetArray(string name, IReadOnlyList<string> values) => Array(name, values.Select(Quote).ToList(), "\"\"");

    public GnuplotSettings SetArray(string name, IReadOnlyList<double> values) => Array(name, values.Select(AxisScale.Number).ToList(), "0");

    /// <summary>What every template wants.</summary>
    /// <param name="chart">Of its files.</param>
    /// <param name="title">Of the picture.</param>
    /// <param name="subtitle">What was measured where.</param>
    /// <param name="data">File of the only table; null where lines name theirs.</param>
    public static GnuplotSettings Of(string chart, string title, string subtitle, string? data = null)
    {
        GnuplotSettings settings = new GnuplotSettings().Set("kinds", "png svg").Set("chart", chart);
        if (data is not null)
            settings.Set("data", data);
        return settings.Set("title", title).Set("subtitle", subtitle);
    }

    /// <summary>Sets mark_count, mark_rows and what each mark needs.</summary>
    public GnuplotSettings SetMarks(IReadOnlyList<PlacedMark> marks) => Set("mark_count", marks.Count)
        .Set("mark_rows", marks.Count == 0 ? 0 : marks.Max(static mark => mark.Row))
        .SetArray("mark_x", marks.Select(static mark => mark.X).ToList())
        .SetArray("mark_row", marks.Select(static mark => (double)mark.Row).ToList())
        .SetArray("mark_side", marks.Select(static mark => mark.IsLeftOfLine ? "right" : "left").ToList())
        .SetArray("mark_text", marks.Select(static mark => mark.Text).ToList());

    /// <summary>Sets band_count and what each shaded stretch needs.</summary>
    public GnuplotSettings SetBands(IReadOnlyList<Band> bands) => Set("band_count", bands.Count)
        .SetArray("band_from", bands.Select(static band => band.From).ToList())
        .SetArray("band_to", bands.Select(static band => band.To).ToList())
        .SetArray("band_color", bands.Select(static band => band.Color).ToList());

    /// <summary>gnuplot's double-quoted string: backslash and quote are escaped, so that no text can become a command.</summary>
    public static string Quote(string text)
    {
        var quoted = new StringBuilder("\"");
        foreach (char c in text)
        {
            if (c is '"' or '\\')
                quoted.Append('\\').Append(c);
            else if (c == '`')
                quoted.Append('\''); // Back quotes run a program inside double quotes.
            else if (c == '\n')
                quoted.Append("\\n");
            else if (char.IsControl(c))
                quoted.Append(' ');
            else
                quoted.Append(c);
        }

        return quoted.Append('"').ToString();
    }

    private GnuplotSettings Array(string name, List<string> values, string filler)
    {
        // gnuplot has no empty arrays.
        int length = Math.Max(values.Count, 1);
        string inside = values.Count == 0 ? filler : string.Join(", ", values);
        _text.Append(CultureInfo.InvariantCulture, $"array {name}[{length}] = [{inside}]\n");
        return this;
    }

    private GnuplotSettings Line(string name, string value)
    {
        _text.Append(name).Append(" = ").Append(value).Append('\n');
        return this;
    }
}
