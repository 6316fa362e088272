using MongoPerf.Measurement;

namespace MongoPerf.Tests.Reports.Comparison;

/// <summary>Scripted seconds with the noise of real ones: normal, an autoregressive process of first order.</summary>
/// <param name="seed">Everything drawn comes from it.</param>
/// <param name="variation">Standard deviation as a share of the rate.</param>
/// <param name="correlation">From one second to the next.</param>
internal sealed class NoisySamples(ulong seed, double variation = 0.05, double correlation = 0.5)
{
    private RandomStream _random = new(seed);

    /// <summary>One window; windows are independent of each other.</summary>
    public double[] Window(int seconds, double rate = 1000)
    {
        double[] rates = new double[seconds];
        double state = Normal();
        for (int i = 0; i < seconds; i++)
        {
            rates[i] = rate * (1 + (variation * state));
            state = (correlation * state) + (Math.Sqrt(1 - (correlation * correlation)) * Normal());
        }

        return rates;
    }

    /// <summary>G. E. P. Box, M. E. Muller, 1958.</summary>
    private double Normal() => Math.Sqrt(-2 * Math.Log(1 - _random.NextDouble())) * Math.Cos(2 * Math.PI * _random.NextDouble());
}
