namespace MongoPerf.Deployments.Sampling;

/// <summary>
/// Says when a server read the counters that it sent, by this machine's clock and the server's own: a reply that was late would otherwise
/// make the step to the next one too short, and its rates too high.
/// </summary>
/// <remarks>One thread. The quickest reply so far tells how far the clocks are apart.</remarks>
public sealed class CounterClock
{
    /// <summary>Clocks drift: by so much the difference may grow from one second's sample to the next (500 ppm).</summary>
    private const double DriftMilliseconds = 0.5;

    /// <summary>A sampler waits no longer.</summary>
    private const double LongestReplyMilliseconds = 11_000;

    private double _last = double.NegativeInfinity;
    private double _apart = double.NegativeInfinity;

    /// <param name="serverMilliseconds">
    /// The server's time in milliseconds, since any moment, when it read its counters; NaN where it does not say.
    /// </param>
    /// <param name="receivedAt">When its reply was here, Unix milliseconds.</param>
    /// <returns>Unix milliseconds.</returns>
    public long At(double serverMilliseconds, long receivedAt)
    {
        if (!double.IsFinite(serverMilliseconds))
            return receivedAt;
        double apart = receivedAt - serverMilliseconds;
        // A server that was started again counts anew, and a clock that was set forward tells of no reply that came as late.
        bool isNew = serverMilliseconds < _last || apart > _apart + LongestReplyMilliseconds;
        _apart = isNew ? apart : Math.Min(apart, _apart + DriftMilliseconds);
        _last = serverMilliseconds;
        return (long)Math.Round(serverMilliseconds + _apart);
    }
}
