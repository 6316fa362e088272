using System.Globalization;
using System.Text;

namespace MongoPerf.Telemetry;

/// <summary>Writes a run as Prometheus reads it: its text exposition format, version 0.0.4.</summary>
public static class PrometheusText
{
    public const string ContentType = "text/plain; version=0.0.4; charset=utf-8";

    /// <summary>The upper bounds of buckets, in microseconds: five to a decade, from 10 µs to 100 s.</summary>
    private static readonly double[] Bounds =
        [.. Enumerable.Range(1, 7).SelectMany(decade => new[] { 1, 1.6, 2.5, 4, 6.3 }.Select(lead => lead * Math.Pow(10, decade))), 1e8];

    /// <summary>What the values are of, in one metric with the value 1.</summary>
    private static readonly TelemetryMetric Target = new("target.info", "", TelemetryKind.Gauge, "The run that is watched");

    public static string Write(TelemetrySnapshot snapshot)
    {
        var text = new StringBuilder();
        Head(text, Target);
        KeyValuePair<string, object?>[] target = [.. snapshot.Resource.Select(one => KeyValuePair.Create(one.Key, (object?)one.Value))];
        Line(text, Target.PrometheusName, LabelsOf(target), 1);
        foreach (IGrouping<TelemetryMetric, TelemetryPoint> metric in snapshot.Points.GroupBy(point => point.Metric))
        {
            Head(text, metric.Key);
            foreach (TelemetryPoint point in metric)
            {
                if (point.Latencies is null)
                    Line(text, metric.Key.PrometheusName, LabelsOf(point.Attributes), point.Value);
                else
                    Histogram(text, metric.Key.PrometheusName, point);
            }
        }

        return text.ToString();
    }

    private static void Histogram(StringBuilder text, string name, TelemetryPoint point)
    {
        string labels = LabelsOf(point.Attributes);
        string before = labels.Length == 0 ? "" : labels + ",";
        (double Microseconds, long Count)[] values = [.. point.Latencies!.Buckets()];
        long below = 0;
        int next = 0;
        foreach (double bound in Bounds)
        {
            for (; next < values.Length && values[next].Microseconds <= bound; next++)
                below += values[next].Count;
            Line(text, name + "_bucket", $"{before}le=\"{Number(bound / 1e6)}\"", below);
        }

        long all = point.Latencies.TotalCount + point.Latencies.OverflowCount;
        Line(text, name + "_bucket", $"{before}le=\"+Inf\"", all);
        Line(text, name + "_sum", labels, values.Sum(one => one.Microseconds * one.Count) / 1e6);
        Line(text, name + "_count", labels, all);
    }

    private static void Head(StringBuilder text, TelemetryMetric metric) => text
        .Append("# HELP ").Append(metric.PrometheusName).Append(' ')
        .Append(metric.Description).Append('\n')
        .Append("# TYPE ").Append(metric.PrometheusName).Append(' ').Append(metric.Kind.ToString().ToLowerInvariant()).Append('\n');

    private static void Line(StringBuilder text, string name, string labels, double value)
    {
        text.Append(name);
        if (labels.Length > 0)
            text.Append('{').Append(labels).Append('}');
        text.Append(' ').Append(Number(value)).Append('\n');
    }

    private static string LabelsOf(IReadOnlyList<KeyValuePair<string, object?>> attributes) =>
        string.Join(',', attributes.Select(one => $"{TelemetryMetric.NameOf(one.Key)}=\"{Escaped(one.Value)}\""));

    /// <summary>Names of phases, operations and servers may hold anything.</summary>
    private static string Escaped(object? value) => (Convert.ToString(value, CultureInfo.InvariantCulture) ?? "")
        .Replace("\\", "\\\\", StringComparison.Ordinal).Replace("\"", "\\\"", StringComparison.Ordinal)
        .Replace("\n", "\\n", StringComparison.Ordinal);

    private static string Number(double value) => value.ToString("R", CultureInfo.InvariantCulture);
}
