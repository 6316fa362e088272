using System.CommandLine;
using MongoPerf.Commands.Agents;
using MongoPerf.Commands.Live;
using MongoPerf.Options;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary>All commands with their options and descriptions: what is parsed, and what help, completion and man pages show.</summary>
internal static class CommandTree
{
    public const string Summary = "MongoPerf measures how a MongoDB deployment behaves as its data grows, and how two deployments differ.";

    /// <summary>A call to a line, two or more blanks before what it does.</summary>
    public const string Examples = """
        mongoperf series --target 1M                      eight phases while the data grows to a million documents
        mongoperf series --target 500M --uri mongodb://host:27017
        mongoperf run q4 --uri mongodb://host --threads 1,8,32 --duration 30s
        mongoperf run ycsb/a --threads 1,8,100 --records 1M   a scenario: YCSB workload A
        mongoperf resume 2026-11-21-a                     continue an interrupted run
        mongoperf compare 2026-11-21-a 2026-11-21-b       what differs, and whether by more than chance
        mongoperf history series --fail-on-regression     one table and chart of all its runs, and where it changed
        mongoperf forecast 2026-11-21-a --documents 500M  how a growth would continue
        mongoperf calibrate                               what the client itself costs on this machine; later runs state its share
        mongoperf report 2026-11-21-a --format markdown
        """;

    /// <summary>Made anew at each call: translating it changes it.</summary>
    public static RootCommand Build() => new($"""
        {Summary}

        Exit codes:
        {string.Join('\n', Enum.GetValues<ExitCode>().Select(c => $"  {(int)c,-4} {ExitCodes.Describe(c)}"))}

        Examples:
        {string.Join('\n', Examples.Split('\n').Select(line => "  " + line))}
        """)
    {
        SeriesCommand.Create(),
        RunCommand.Create(),
        RecordCommand.Create(),
        ReplayCommand.Create(),
        LearnCommand.Create(),
        ResumeCommand.Create(),
        CompareCommand.Create(),
        HistoryCommand.Create(),
        ForecastCommand.Create(),
        WatchCommand.Create(),
        MergeCommand.Create(),
        AgentCommand.Create(),
        ReportCommand.Create(),
        PlotCommand.Create(),
        CalibrateCommand.Create(),
        ListCommand.Create(),
        CleanCommand.Create(),
        ValidateCommand.Create(),
        ScenarioCommands.CreateShow(),
        ScenarioCommands.CreateNew(),
        ServerCommand.Create(),
        ClusterCommand.Create(),
        ServeCommand.Create(),
        DoctorCommand.Create(),
        ConfigCommand.Create(),
        CompletionCommand.Create(),
        ManCommand.Create(),
        NullServerCommand.Create(),
        LanguageOption.Create(),
    };
}
