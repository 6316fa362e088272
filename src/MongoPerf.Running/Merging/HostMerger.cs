using MongoPerf.Storage;

namespace MongoPerf.Running.Merging;

/// <summary>
/// What several clients of one machine saw of it: as the one that looked most often did, with what all of them used there themselves.
/// </summary>
/// <param name="clients">Each client's samples in time order, by a common clock; read twice.</param>
internal sealed class HostMerger(IReadOnlyList<IEnumerable<MetricSample>> clients)
{
    private static readonly int[] ClientColumns =
        [.. new[] { "client_cpu_user", "client_cpu_system", "client_resident" }
            .Select(name => MetricCatalogue.IndexOf(MetricCatalogue.Host, name))];

    /// <returns>The samples in time order, streamed.</returns>
    public IEnumerable<MetricSample> Merge()
    {
        IEnumerable<MetricSample> watcher = clients.MaxBy(samples => samples.Count()) ?? [];
        ClientUse[] others = [.. clients.Where(samples => samples != watcher).Select(samples => new ClientUse(samples.GetEnumerator()))];
        foreach (MetricSample sample in watcher)
        {
            double[] values = [.. sample.Values];
            foreach (ClientUse other in others)
                other.AddTo(values, sample.AtMilliseconds);
            yield return sample with { Values = values };
        }

        foreach (ClientUse other in others)
            other.Dispose();
    }

    /// <summary>Counters of a client: at their first value before it began, at their last when it has ended.</summary>
    private sealed class ClientUse : IDisposable
    {
        private readonly IEnumerator<MetricSample> _samples;
        private MetricSample? _now;
        private bool _hasNext;

        public ClientUse(IEnumerator<MetricSample> samples)
        {
            _samples = samples;
            _hasNext = samples.MoveNext();
            Advance();
        }

        public void AddTo(double[] values, long atMilliseconds)
        {
            while (_hasNext && _samples.Current.AtMilliseconds <= atMilliseconds)
                Advance();
            foreach (int column in ClientColumns.Where(_ => _now is not null))
                values[column] += double.IsFinite(_now!.Values[column]) ? _now.Values[column] : 0;
        }

        public void Dispose() => _samples.Dispose();

        private void Advance()
        {
            _now = _hasNext ? _samples.Current : null;
            _hasNext = _hasNext && _samples.MoveNext();
        }
    }
}
