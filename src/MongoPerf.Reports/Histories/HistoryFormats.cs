namespace MongoPerf.Reports.Histories;

/// <summary>A history as comma-separated values: a row for each run and metric.</summary>
public static class HistoryCsv
{
    public static void Write(RunHistory history, TextWriter output)
    {
        using IDisposable english = Words.InEnglish();
        history = history.InEnglish;
        CsvReport.Row(output, ("run,repeats,started,server,engine,mongoperf,growth,phase,parameters,operation,threads,deployment,"
            + "metric,value,low,high,level,change_ratio,change_p," + NotMongoDb.Column).Split(','));
        foreach ((int i, HistoryPoint point) in history.Points.Index())
        {
            foreach (HistoryLine line in history.Lines.Where(line => double.IsFinite(line.Row.Values[i])))
            {
                HistoryRow row = line.Row;
                HistoryChange? change = line.Changes.FirstOrDefault(one => one.At == i);
                CsvReport.Row(output,
                [
                    point.First.Run.Id, point.Runs.Count, point.First.Run.StartedAt.ToString("O"), HistoryVersions.Server(point.First),
                    point.First.Settings.Engine.Text, point.First.Run.Version, row.Operation.Growth, row.Operation.Phase,
                    row.Operation.Parameters, row.Operation.Operation, row.Operation.Threads, row.Deployment, row.Metric.Name,
                    row.Values[i], row.Low[i], row.High[i], line.Levels[i], change?.Ratio, change?.P, NotMongoDb.Of(point.First),
                ]);
            }
        }
    }
}

/// <summary>A history as JSON, schema mongoperf/history/1. What has no value is null; fields are only ever added.</summary>
public static class HistoryJson
{
    public const string Schema = "mongoperf/history/1";

    public static void Write(RunHistory history, TextWriter output)
    {
        using IDisposable english = Words.InEnglish();
        history = history.InEnglish;
        JsonReport.WriteValue(output, new
        {
            schema = Schema,
            notMongoDb = NotMongoDb.Mark(history.Runs),
            history.Scenario,
            history.Request.NoiseThreshold,
            level = RunHistory.Level,
            history.Request.Newest,
            history.IsRegression,
            history.IsJudged,
            unlike = history.Unlike,
            history.LeftOut,
            runs = history.Points.Select(point => new
            {
                point.First.Run.Id,
                runs = point.Runs.Select(run => run.Run.Id),
                point.First.Run.StartedAt,
                server = HistoryVersions.Server(point.First),
                notMongoDb = NotMongoDb.Of(point.First),
                engine = point.First.Settings.Engine.Text,
                mongoPerf = point.First.Run.Version,
            }),
            metrics = history.Lines.Select(line => new
            {
                line.Row.Operation.Growth,
                line.Row.Operation.Phase,
                line.Row.Operation.Parameters,
                line.Row.Operation.Operation,
                line.Row.Operation.Threads,
                line.Row.Deployment,
                metric = line.Row.Metric.Name,
                unit = UnitOf(line.Row),
                line.IsJudged,
                neededRuns = line.Needed,
                line.IsRegression,
                values = line.Row.Values.Select(Known),
                low = line.Row.Low.Select(Known),
                high = line.Row.High.Select(Known),
                levels = line.Levels.Select(Known),
                changes = line.Changes.Select(change => new
                {
                    run = history.Points[change.At].First.Run.Id,
                    after = history.Points[change.Before].First.Run.Id,
                    change.Ratio,
                    change.P,
                    change.IsWorse,
                }),
            }),
        });
    }

    private static double? Known(double value) => double.IsFinite(value) ? value : null;

    private static string UnitOf(HistoryRow row) => row.Metric.Unit switch
    {
        Figures.MetricUnit.PerSecond => "per second",
        Figures.MetricUnit.PerMinute => "per minute",
        var unit => unit.ToString().ToLowerInvariant(),
    };
}
