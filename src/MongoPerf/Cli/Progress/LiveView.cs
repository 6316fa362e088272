using System.Collections.Concurrent;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace MongoPerf.Cli.Progress;

/// <summary>A table that is drawn anew twice a second on a thread of its own, with finished tests scrolling by above it.</summary>
internal sealed class LiveView : ProgressView
{
    private const int BarWidth = 40;
    private const int ViewWidth = 98;

    private readonly ProgressState _state;
    private readonly ConcurrentQueue<string> _lines = new();
    private readonly ManualResetEventSlim _ended = new(false);
    private readonly Thread _thread;

    public LiveView(ProgressState state)
    {
        _state = state;
        state.Line += _lines.Enqueue;
        _thread = new Thread(Run) { IsBackground = true, Name = "live view" };
        _thread.Start();
    }

    public override void Dispose()
    {
        _ended.Set();
        _thread.Join();
        _state.Line -= _lines.Enqueue;
        _ended.Dispose();
    }

    private void Run()
    {
        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(Console.Error) });
        console.Live(Draw(_state.Snapshot())).AutoClear(true).Start(live =>
        {
            bool last = false;
            while (!last)
            {
                last = _ended.Wait(500);
                // Padded, as a line goes where the view was drawn before.
                while (_lines.TryDequeue(out string? line))
                    console.WriteLine(line.PadRight(Math.Max(0, console.Profile.Width - 1)));
                live.UpdateTarget(Draw(_state.Snapshot()));
            }
        });
    }

    internal static IRenderable Draw(ProgressSnapshot now)
    {
        var grid = new Grid().AddColumn(new GridColumn().NoWrap().PadRight(3)).AddColumn(new GridColumn().NoWrap());
        void Row(string name, string value) => grid.AddRow(new Markup($"[grey]{name}[/]"), new Markup(Markup.Escape(value)));

        Row("run", $"{now.RunId}  {now.Deployment}");
        grid.AddRow(new Markup("[grey]documents[/]"), new Markup(Bar(now)));
        Row("phase", now.Phase is { } phase ? $"{phase.Phase}{(phase.Growth is { } growth ? $", step {growth.Step}" : "")}" : "between phases");
        Row("rate", Rate(now.Last));
        Row("latency", Latency(now.Last));
        Row("server", Server(now));
        Row("disk left", Disk(now));
        Row("time", $"{Units.Duration(now.Elapsed)} elapsed, {ProgressText.EtaText(now.Eta)}");
        if (now.Failed > 0)
            grid.AddRow(new Markup("[red]failed[/]"), new Markup($"[red]{now.Failed:N0} operations[/]"));
        return new Panel(grid) { Width = ViewWidth }.Header("mongoperf").Border(BoxBorder.Rounded).BorderColor(Color.Grey);
    }

    private static string Bar(ProgressSnapshot now)
    {
        double share = now.Target == 0 ? 1 : Math.Clamp((double)now.Documents / now.Target, 0, 1);
        int full = (int)(share * BarWidth);
        return $"[green]{new string('━', full)}[/][grey]{new string('━', BarWidth - full)}[/] {Units.Count(now.Documents)} of {Units.Count(now.Target)} ({share:P0})";
    }

    private static string Rate(IReadOnlyList<Sample> samples) => samples.Count == 0
        ? "starting"
        : $"{ProgressText.Rate(samples)}, {Units.Rate(samples.Sum(s => s.Bytes) / Math.Max(samples.Max(s => s.Seconds), 0.001) / 1e6)} MB/s"
            + $"{(samples.Any(s => s.IsWarmup) ? " (warm-up)" : "")}{(samples.Any(s => s.HasOutage) ? " (connection lost)" : "")}";

    /// <summary>Of the operation that is done most.</summary>
    private static string Latency(IReadOnlyList<Sample> samples)
    {
        if (samples.MaxBy(s => s.Operations) is not { JudgedMicroseconds: { P50: not null } latency } sample)
            return "none yet";
        string name = samples.Count > 1 ? $"{sample.Operation}: " : "";
        return $"{name}{(sample.HasRate ? "response " : "")}p50 {Units.Latency(latency.P50)}, p95 {Units.Latency(latency.P95)}, p99 {Units.Latency(latency.P99)}, max {Units.Latency(latency.Max)}";
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
        return $"cache {Units.BinaryBytes(now.CacheUsedBytes)}{limit}{dirty}, {memory}";
    }
}
