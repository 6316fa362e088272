using MongoPerf.Running.Progress;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Progress;

/// <summary>Which of many events are told as lines.</summary>
public sealed class EventLinesTests
{
    private readonly List<string> _lines = [];
    private readonly ProgressState _progress;

    public EventLinesTests()
    {
        const string Text = "data: {c: {count: 10, document: {n: ^number}}}\n"
            + "phases: [{name: a, duration: 60s, operations: [{find: c, key: uniform}]}]\n";
        _progress = new ProgressState(
            "2026-11-21-a", PlanReader.Read(new ScenarioFile("test", "test.yaml", Text), new PlanOverrides(), 42).Plan, new RunPlace(1, 1));
        _progress.Line += _lines.Add;
    }

    [Fact]
    public void Of_many_of_one_kind_ten_are_told_in_ten_seconds_and_how_many_more_there_were()
    {
        for (int i = 0; i < 1250; i++)
            Happen("reconnect", i * 10);
        Assert.Equal([.. Enumerable.Range(0, 10).Select(i => $"reconnect: {i * 10}"), "reconnect: 990 more like these",
            .. Enumerable.Range(1000, 10).Select(i => $"reconnect: {i * 10}")], _lines);
        _lines.Clear();
        _progress.OnPhaseFinished(RunParts.Phase(1, "a") with { Operations = [] });
        Assert.Equal(["reconnect: 240 more like these"], _lines);
        _lines.Clear();
        Happen("reconnect", 12_500);
        Assert.Equal(["reconnect: 12500"], _lines);
    }

    [Fact]
    public void Kinds_are_counted_each_by_itself()
    {
        for (int i = 0; i < 30; i++)
            Happen(i % 2 == 0 ? "reconnect" : "outage", i);
        Assert.Equal(20, _lines.Count);
        Happen("repair", 31);
        Assert.Equal("repair: 31", _lines[^1]);
    }

    private void Happen(string kind, long milliseconds) => _progress.OnEvent(new RunEvent(milliseconds, kind, $"{milliseconds}"));
}
