namespace MongoPerf.Reports.Forecasts;

/// <summary>What is expected where nothing was measured.</summary>
/// <param name="Value">The median.</param>
/// <param name="Low">A new measurement lies above it with 97.5 %.</param>
/// <param name="High">A new measurement lies below it with 97.5 %.</param>
public readonly record struct Prediction(double Value, double Low, double High)
{
    /// <summary>Inverts the prediction, as times are to rates.</summary>
    public Prediction Inverse => new(1 / Value, 1 / High, 1 / Low);

    /// <summary>Adds two predictions whose parts err together.</summary>
    public Prediction Plus(Prediction other) => new(Value + other.Value, Low + other.Low, High + other.High);

    public Prediction Times(double factor) => new(Value * factor, Low * factor, High * factor);
}
