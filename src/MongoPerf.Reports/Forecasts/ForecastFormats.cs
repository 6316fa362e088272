namespace MongoPerf.Reports.Forecasts;

/// <summary>A forecast as comma-separated values: a row per operation, measure and requested size, and one per size of data.</summary>
public static class ForecastCsv
{
    public static void Write(IReadOnlyList<RunForecast> forecasts, TextWriter output)
    {
        CsvReport.Row(output, $"run,of,measure,documents,value,low,high,reach,{NotMongoDb.Column}".Split(','));
        foreach (RunForecast forecast in forecasts)
            Write(forecast, output);
    }

    private static void Write(RunForecast forecast, TextWriter output)
    {
        string run = forecast.Run.Run.Id;
        string? notMongoDb = NotMongoDb.Of(forecast.Run);
        foreach (long documents in forecast.Documents)
        {
            foreach (SizeForecast size in forecast.Sizes)
            {
                Prediction bytes = size.At(documents);
                CsvReport.Row(output, [run, size.What, "bytes", documents, bytes.Value, bytes.Low, bytes.High, null, notMongoDb]);
            }

            foreach (OperationForecast operation in forecast.Operations)
            {
                ForecastPoint point = operation.At(documents);
                Row(operation.Name, "per_second", point, point.PerSecond);
                Row(operation.Name, "p99_us", point, point.P99Microseconds);
            }
        }

        void Row(string name, string measure, ForecastPoint point, ForecastValue? value)
        {
            if (value is not null)
                CsvReport.Row(output,
                [
                    run, name, measure, point.Documents, value.Value, value.Low, value.High, point.Reach.ToString().ToLowerInvariant(),
                    notMongoDb,
                ]);
        }
    }

    public static void WriteCheck(ForecastCheck check, TextWriter output)
    {
        Action<object?[]> write = CsvReport.Begin(output, NotMongoDb.Of(check.Forecast.Run),
            "run,of,measure,sizes,inside,ranges,median_error,worst_error,width".Split(','));
        foreach (CheckedOperation row in check.Operations.Concat(check.Sizes))
            write([check.Forecast.Run.Run.Id, row.Operation, row.Measure, row.Sizes, row.Inside, row.Ranges,
                row.MedianError, row.WorstError, row.Width]);
    }
}

/// <summary>
/// A forecast as JSON, schema mongoperf/forecast/1; its check as mongoperf/forecast-check/1. What has no value is null; fields
/// are only ever added.
/// </summary>
public static class ForecastJson
{
    public const string Schema = "mongoperf/forecast/1";

    public const string CheckSchema = "mongoperf/forecast-check/1";

    /// <summary>Of several beside each other.</summary>
    public const string SeveralSchema = "mongoperf/forecasts/1";

    public static void Write(IReadOnlyList<RunForecast> forecasts, TextWriter output) => JsonReport.WriteValue(
        output,
        forecasts is [var only] ? ValueOf(only) : new
        {
            schema = SeveralSchema,
            notMongoDb = NotMongoDb.Mark([.. forecasts.Select(one => one.Run)]),
            forecasts = forecasts.Select(one => ValueOf(one)),
        });

    private static object ValueOf(RunForecast forecast) => new
    {
        schema = Schema,
        notMongoDb = NotMongoDb.Of(forecast.Run),
        run = forecast.Run.Run.Id,
        growth = forecast.Growth.Name,
        measured = new
        {
            sizes = forecast.Growth.Steps.Count, largestDocuments = forecast.LargestDocuments, forecast.Measured.CacheBytes,
            forecast.Measured.MemoryBytes,
        },
        asked = new { forecast.Documents, forecast.Target.CacheBytes, forecast.Target.MemoryBytes, forecast.DiskBytes },
        forecast.Notes,
        sizes = forecast.Sizes.Select(size => new
        {
            of = size.What,
            measuredBytes = size.Measured,
            bytesPerDocument = forecast.Documents.Select(n => ValueOf(n, size.EachAt(n))),
            bytes = forecast.Documents.Select(n => ValueOf(n, size.At(n))),
        }),
        outgrown = forecast.Milestones
            .Select(m => new { m.What, m.Limit, m.LimitBytes, documents = m.Documents.Value, m.Documents.Low, m.Documents.High }),
        operations = forecast.Operations.Select(operation => new
        {
            operation = operation.Name,
            operation.IsInsert,
            operation.Threads,
            measured = new
            {
                documents = operation.LargestDocuments,
                perSecond = operation.MeasuredPerSecond,
                p99Microseconds = operation.MeasuredP99Microseconds,
            },
            law = operation.Law,
            weights = operation.Time is not { } time ? null
                : new { outgrown = time.ShapeWeight, slope = time.SlopeWeight, flat = 1 - time.ShapeWeight - time.SlopeWeight },
            forecast = forecast.Documents.Select(n => operation.At(n)).Select(point => new
            {
                point.Documents, reach = point.Reach.ToString().ToLowerInvariant(), point.Unknown, point.PerSecond, point.P99Microseconds,
            }),
        }),
        narrowing = NarrowingRun.Of(forecast) is { } run ? new { run.Command, run.Time.TotalSeconds, run.Operations } : null,
    };

    public static void WriteCheck(ForecastCheck check, TextWriter output) => JsonReport.WriteValue(output, new
    {
        schema = CheckSchema,
        notMongoDb = NotMongoDb.Of(check.Forecast.Run),
        run = check.Forecast.Run.Run.Id,
        growth = check.Forecast.Growth.Name,
        fromDocuments = check.Forecast.LargestDocuments,
        documents = check.Forecast.Documents,
        operations = check.Operations,
        sizes = check.Sizes,
    });

    private static object ValueOf(long documents, Prediction prediction) =>
        new { documents, prediction.Value, prediction.Low, prediction.High };
}
