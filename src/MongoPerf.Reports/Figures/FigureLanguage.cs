using MongoPerf.Texts.Yaml;

namespace MongoPerf.Reports.Figures;

/// <summary>The keys of figures and tables, in scenarios and in plots.</summary>
public static class FigureLanguage
{
    private static readonly Key[] ChoiceKeys =
    [
        new("phases", KeyKind.Texts, "Only these, in this order [default: all that have what is asked for]."),
        new("operation", KeyKind.Texts, "Only this one, or these [default: all; rates are their sum]."),
        new("where", KeyKind.Document, "Only results with these values of parameters, threads or deployment, such as {deployment: "
            + "1 shard}; a list allows each of its values."),
    ];

    public static KeySet Figure { get; } = new("figure", "A chart of the report, and of a comparison of several runs.",
    [
        new("title", KeyKind.Text, "Title above the chart."),
        new("x", KeyKind.Text, "The x-axis: a parameter, threads, clients (whose runs were merged), documents, "
            + "time (seconds since the phase began), deployment, phase or operation."),
        new("y", KeyKind.Texts, "A metric such as rate or p99, or several, each in a panel of its own."),
        new("to", KeyKind.Text, "Shows the beginning alone: the axis ends at this value, such as 30 or, of time, 750s."),
        new("logarithmic", KeyKind.Flag, "Latencies by their logarithm [default: where the largest is 20 times the least]."),
        new("lines", KeyKind.Text, "A line for each of its values: phase, operation, deployment, threads or a parameter."),
        .. ChoiceKeys,
    ]);

    public static KeySet Table { get; } = new("table", "A table of the report, and of a comparison of several runs.",
    [
        new("title", KeyKind.Text, "Title above the table."),
        new("rows", KeyKind.Texts, "A row for each combination of their values: parameters, threads, deployment, phase, operation."),
        new("columns", KeyKind.Text, "A column for each of its values."),
        new("values", KeyKind.Texts, "Metrics such as rate or p99."),
        .. ChoiceKeys,
    ]);
}
