namespace MongoPerf.Learning.Observing;

/// <summary>Requests, and how long the server took for them.</summary>
/// <param name="Requests">How many; a sampled one stands for several, and not always for a whole number.</param>
/// <param name="Microseconds">Together; 0 where the source doesn't tell.</param>
public readonly record struct RequestCount(double Requests, double Microseconds)
{
    public static RequestCount operator +(RequestCount one, RequestCount other) =>
        new(one.Requests + other.Requests, one.Microseconds + other.Microseconds);
}
