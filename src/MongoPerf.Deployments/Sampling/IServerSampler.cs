using MongoPerf.Storage;

namespace MongoPerf.Deployments.Sampling;

/// <summary>
/// Reads <see cref="MetricCatalogue.Server"/> from a server; a column that it does not know is NaN. One thread; never throws.
/// </summary>
public interface IServerSampler : IDisposable
{
    MetricSample Sample();
}
