using MongoPerf.Storage;

namespace MongoPerf.Reports.Phases;

/// <summary>A table for each phase that noted laps, a row for each value of its parameters.</summary>
internal static class LapTables
{
    private const double Microseconds = 1e6;

    public static IEnumerable<ReportTable> Of(StoredRun run) =>
        LapFigures.Of(run)
            .GroupBy(l => (l.Phase.Phase, l.LengthText)).Select(phase => Table(phase.Key.Phase, phase.Key.LengthText, [.. phase]));

    private static ReportTable Table(string phase, string length, IReadOnlyList<LapFigures> laps)
    {
        IReadOnlyList<string> parameters = ((PhaseRecord[])[.. laps.Select(l => l.Phase)]).VariedParameters();
        return new ReportTable(
            Words.Of($"Laps of {phase}: time per {length} and task (first and last: median of the tasks)"),
            [.. parameters.Select(p => "<" + p), "tasks", "laps", "first", "median", "last", "slowest", "first task done",
                "last task done", "spread"],
            [.. laps.Select(l => (IReadOnlyList<string>)[.. parameters.Select(p => l.Phase.ValueOf(p) ?? Units.None), .. Row(l)])]);
    }

    private static IEnumerable<string> Row(LapFigures laps)
    {
        (double fastest, double slowest) = laps.Ends;
        return
        [
            laps.Tasks.Count.ToString(), Units.Exact(laps.All.Count()), Time(laps.First), Time(laps.Median),
            Time(laps.Last), Time(laps.Slowest),
            Time(fastest), Time(slowest), Units.Percent((slowest - fastest) / slowest),
        ];
    }

    private static string Time(double seconds) => Units.Latency(seconds * Microseconds);
}

/// <summary>Laps as comma-separated values: a row per phase, task and lap.</summary>
internal static class LapCsv
{
    public static void Write(StoredRun run, TextWriter output)
    {
        Action<object?[]> row = CsvReport.Begin(
            output, NotMongoDb.Of(run), ["number", "phase", "parameters", "lap_length", "task", "lap", "done", "seconds", "end_seconds"]);
        foreach (LapFigures laps in LapFigures.Of(run))
        {
            PhaseRecord phase = laps.Phase;
            string parameters = PhaseLabels.Parameters(phase.Parameters, "; ");
            foreach ((int task, IReadOnlyList<TaskLap> own) in laps.Tasks.Index())
            {
                foreach (TaskLap lap in own)
                    row([phase.Number, phase.Phase, parameters, laps.Length, task + 1, lap.Number, lap.Done, lap.Seconds, lap.EndSeconds]);
            }
        }
    }
}
