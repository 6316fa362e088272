using System.Collections.Concurrent;
using System.Text;
using MongoPerf.Storage;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace MongoPerf.Running.Progress;

/// <summary>A table that is drawn anew twice a second on a thread of its own, with finished tests scrolling by above it.</summary>
/// <remarks>
/// While it is there, standard error is its: what anybody writes to it becomes a line above the table, rather than one across it.
/// </remarks>
internal sealed class LiveView : ProgressView
{
    private const int MostWidth = 98;
    private const int LeastWidth = 40;

    /// <summary>Borders, and the column of names.</summary>
    private const int Frame = 4;
    private const int NameWidth = 12;

    private readonly ProgressState _state;
    private readonly ConcurrentQueue<string> _lines = new();
    private readonly ManualResetEventSlim _ended = new(false, spinCount: 0);
    private readonly TextWriter _error = Console.Error;
    private readonly Thread _thread;

    public LiveView(ProgressState state)
    {
        _state = state;
        state.Line += _lines.Enqueue;
        Console.SetError(new LineWriter(_lines));
        _thread = new Thread(Run) { IsBackground = true, Name = "live view" };
        _thread.Start();
    }

    public override void Dispose()
    {
        _ended.Set();
        _thread.Join();
        Console.Error.Flush();
        Console.SetError(_error);
        while (_lines.TryDequeue(out string? line))
            _error.WriteLine(line);
        _state.Line -= _lines.Enqueue;
        _ended.Dispose();
    }

    private void Run()
    {
        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(_error) });
        console.Live(Draw(_state.Snapshot(), console.Profile.Width)).AutoClear(true).Start(live =>
        {
            bool last = false;
            while (!last)
            {
                last = _ended.Wait(500);
                while (_lines.TryDequeue(out string? line))
                    console.WriteLine(Padded(line, console.Profile.Width));
                live.UpdateTarget(Draw(_state.Snapshot(), console.Profile.Width));
            }
        });
    }

    /// <summary>
    /// A line goes where the view was drawn before: spaces cover what is left of it, behind each of its rows where it wraps.
    /// </summary>
    /// <param name="line">The line without its end.</param>
    /// <param name="width">The width of the terminal.</param>
    internal static string Padded(string line, int width) =>
        width < 2 ? line : string.Join('\n', Words.Wrap(line, width - 1).Split('\n').Select(row =>
        {
            // A word that is longer than the terminal is wide takes several rows.
            int taken = Words.Width(row);
            return row + new string(' ', (Math.Max(1, (taken + width - 1) / width) * width) - 1 - taken);
        }));

    /// <param name="now">What to show.</param>
    /// <param name="width">The width of the terminal; the last column stays empty, where some terminals would begin a new line.</param>
    internal static IRenderable Draw(ProgressSnapshot now, int width)
    {
        int mine = Math.Clamp(width - 1, LeastWidth, MostWidth);
        var grid = new Grid()
            .AddColumn(new GridColumn { Width = NameWidth }.NoWrap().PadRight(0)).AddColumn(new GridColumn().NoWrap().PadRight(0));
        foreach ((string name, string value) in Rows(now, mine - Frame - NameWidth))
        {
            string color = name == "failed" ? "red" : "grey";
            grid.AddRow(new Markup($"[{color}]{name}[/]"), name == "documents" ? Bar(value) : new Markup(Markup.Escape(value)));
        }

        return new Panel(grid) { Width = mine }.Header("mongoperf").Border(BoxBorder.Rounded).BorderColor(Color.Grey);
    }

    /// <summary>What stands in the view: names, and values of at most so many characters.</summary>
    internal static IEnumerable<(string Name, string Value)> Rows(ProgressSnapshot now, int width)
    {
        (string, string)[] rows =
        [
            ("run", $"{now.RunId}{(now.Place.Count > 1 ? $" ({ProgressText.Place(now.Place)})" : "")}  {now.Deployment}"),
            ("documents", Documents(now, width)),
            ("phase",
                now.Phase is { } phase ? $"{phase.Phase}{(phase.Growth is { } growth ? $", step {growth.Step}" : "")}" : "between phases"),
            ("rate", Rate(now.Last)),
            ("last minute", LastMinute(now.Rates, width)),
            ("latency", Latency(now.Last)),
            ("server", Server(now)),
            ("disk left", Disk(now)),
            ("time", $"{Units.Duration(now.Elapsed)} elapsed, {ProgressText.EtaText(now.Eta)}"),
            .. now.LeftOfAll is { } all ? new[] { ("all runs", $"about {Units.Duration(all)} left") } : [],
            .. now.Failed > 0 ? new[] { ("failed", $"{now.Failed:N0} operations") } : [],
        ];
        return rows.Select(row => (row.Item1, ProgressText.Clip(row.Item2, width)));
    }

    private static string Documents(ProgressSnapshot now, int width)
    {
        // A run of given collections has none to reach.
        if (now.Target == 0)
            return Units.Count(now.Documents);
        double share = Math.Clamp((double)now.Documents / now.Target, 0, 1);
        string text = $" {Units.Count(now.Documents)} of {Units.Count(now.Target)} ({share:P0})";
        int bar = Math.Clamp(width - text.Length, 0, 40);
        int full = (int)(share * bar);
        return new string('━', full) + new string('─', bar - full) + text;
    }

    private static Markup Bar(string text)
    {
        int full = text.Length - text.TrimStart('━').Length;
        int bar = text.Length - text.TrimStart('━', '─').Length;
        return new Markup($"[green]{text[..full]}[/][grey]{text[full..bar]}[/]{Markup.Escape(text[bar..])}");
    }

    private static string LastMinute(IReadOnlyList<double> rates, int width)
    {
        if (rates.Count == 0)
            return "";
        string most = $" up to {Units.Rate(rates.Max())}/s";
        return ProgressText.Sparkline(rates, Math.Clamp(width - most.Length, 1, 60)) + most;
    }

    private static string Rate(IReadOnlyList<Sample> samples) => samples.Count == 0
        ? "starting"
        : $"{ProgressText.Rate(samples)}, {Units.Rate(samples.Sum(s => s.Bytes) / Math.Max(samples.Max(s => s.Seconds), 0.001) / 1e6)} MB/s"
            + $"{(samples.Any(s => s.IsWarmup) ? " (warm-up)" : "")}{(samples.Any(s => s.HasOutage) ? " (connection lost)" : "")}";

    /// <summary>The latency of the operation that is done most.</summary>
    private static string Latency(IReadOnlyList<Sample> samples)
    {
        if (samples.MaxBy(s => s.Operations) is not { ReportedMicroseconds: { P50: not null } latency } sample)
            return "none yet";
        string name = samples.Count > 1 ? $"{sample.Operation}: " : "";
        return $"{name}{(sample.HasRate ? "response " : "")}p50 {Units.Latency(latency.P50)}, p95 {Units.Latency(latency.P95)}, "
            + $"p99 {Units.Latency(latency.P99)}, max {Units.Latency(latency.Max)}";
    }

    private static string Disk(ProgressSnapshot now)
    {
        if (double.IsNaN(now.DiskFreeBytes))
            return "unknown";
        string full = now.DocumentsWhenDiskFull is { } documents ? $", full at about {Units.Count(documents)} documents" : "";
        return Units.Bytes((long)now.DiskFreeBytes) + full;
    }

    private static string Server(ProgressSnapshot now)
    {
        string memory = double.IsNaN(now.ServerResidentBytes) ? "" : $"memory {Units.BinaryBytes(now.ServerResidentBytes)}";
        if (double.IsNaN(now.CacheUsedBytes))
            return memory.Length > 0 ? memory : "no figures";
        string limit = double.IsNaN(now.CacheLimitBytes) ? "" : $" of {Units.BinaryBytes(now.CacheLimitBytes)}";
        string dirty = double.IsNaN(now.CacheDirtyBytes) ? "" : $" ({Units.BinaryBytes(now.CacheDirtyBytes)} dirty)";
        return $"cache {Units.BinaryBytes(now.CacheUsedBytes)}{limit}{dirty}{(memory.Length > 0 ? ", " + memory : "")}";
    }

    /// <summary>Whole lines into the view's. Safe for all threads.</summary>
    private sealed class LineWriter(ConcurrentQueue<string> lines) : TextWriter
    {
        private readonly StringBuilder _line = new();

        public override Encoding Encoding => Encoding.UTF8;

        public override void Write(char value)
        {
            lock (_line)
            {
                if (value != '\n')
                {
                    _line.Append(value);
                    return;
                }

                lines.Enqueue(_line.ToString().TrimEnd('\r'));
                _line.Clear();
            }
        }

        public override void Flush()
        {
            lock (_line)
            {
                if (_line.Length > 0)
                    lines.Enqueue(_line.ToString());
                _line.Clear();
            }
        }
    }
}
