using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Forecasts;

/// <summary>How a rate or a p99 of the second half of a run's sizes came out against what the first half lets expect.</summary>
/// <param name="Operation">Its name.</param>
/// <param name="Measure">"rate" or "p99".</param>
/// <param name="Sizes">How many were compared.</param>
/// <param name="Ranges">For how many of them the first half could give only a range.</param>
/// <param name="Inside">How many lay in their interval or range.</param>
/// <param name="MedianError">The median of predicted over measured, as a share without sign; null where all are ranges.</param>
/// <param name="WorstError">The worst error, with its sign: 0.5 for a forecast half too high.</param>
/// <param name="Width">Median of the intervals' upper end over their lower end; null where all are ranges.</param>
public sealed record CheckedOperation(
    string Operation, string Measure, int Sizes, int Ranges, int Inside, double? MedianError, double? WorstError, double? Width);

/// <summary>The second half of a growth, predicted from the first.</summary>
/// <param name="Forecast">The forecast from the first half.</param>
/// <param name="Operations">Rates, then p99, in the order of the plan.</param>
/// <param name="Sizes">Bytes: data, storage, each index, disk.</param>
public sealed record ForecastCheck(RunForecast Forecast, IReadOnlyList<CheckedOperation> Operations, IReadOnlyList<CheckedOperation> Sizes)
{
    /// <returns>Null when half of the sizes are fewer than four.</returns>
    public static ForecastCheck? Of(StoredRun run)
    {
        if (GrowthFigures.Of(run) is not [var growth, ..])
            return null;
        int half = (growth.Steps.Count + 1) / 2;
        long[] documents = [.. growth.Steps.Skip(half).Select(step => step.Documents)];
        if (documents.Length == 0
            || RunForecast.Of(run, growth.First(half), new ForecastRequest { Documents = documents }) is not { } forecast)
            return null;
        return new ForecastCheck(
            forecast,
            [.. Compare(forecast, growth, half, "rate"), .. Compare(forecast, growth, half, "p99")],
            [.. forecast.Sizes.Select(size => Compare(size, growth)).OfType<CheckedOperation>()]);
    }

    private static IEnumerable<CheckedOperation> Compare(RunForecast forecast, GrowthFigures growth, int half, string measure)
    {
        foreach (GrowthLine line in growth.Lines.Where(line => !line.IsTotal))
        {
            string name = growth.NameOf(line);
            if (forecast.Operations.FirstOrDefault(one => one.Name == name) is not { } operation)
                continue;
            var compared = new List<(double Measured, ForecastValue Forecast)>();
            foreach (int step in line.Results.Keys.Where(step => step >= half).Order())
            {
                ForecastPoint point = operation.At(growth.Steps[step].Documents);
                (double? measured, ForecastValue? value) = measure == "rate"
                    ? (line.RateAt(step), point.PerSecond)
                    : (line.Results[step].ReportedMicroseconds.P99, point.P99Microseconds);
                if (measured > 0 && value is not null)
                    compared.Add((measured.Value, value));
            }

            if (compared.Count > 0)
                yield return Summary(name, measure, compared);
        }
    }

    private static CheckedOperation? Compare(SizeForecast size, GrowthFigures growth)
    {
        IReadOnlyList<SizeForecast> measured = SizeForecast.Of(growth.Sizes);
        if (measured.FirstOrDefault(one => one.What == size.What) is not { } last)
            return null;
        // The sizes at the end are what one wants to know beforehand.
        return Summary(size.What, "bytes", [(last.Measured, ForecastValue.Of(size.At(growth.Sizes.Max(one => one.Documents))))]);
    }

    private static CheckedOperation Summary(string name, string measure, List<(double Measured, ForecastValue Forecast)> compared)
    {
        double[] errors = [.. compared.Where(one => one.Forecast.Value is not null)
            .Select(one => (one.Forecast.Value!.Value / one.Measured) - 1)];
        return new CheckedOperation(
            name, measure, compared.Count, compared.Count - errors.Length, compared.Count(one => one.Forecast.Holds(one.Measured)),
            errors.Length == 0 ? null : Quantiles.Median([.. errors.Select(Math.Abs)]), errors.Length == 0 ? null : errors.MaxBy(Math.Abs),
            errors.Length == 0 ? null : Quantiles.Median([.. compared.Where(one => one.Forecast.Value is not null)
                .Select(one => one.Forecast.High / one.Forecast.Low)]));
    }
}
