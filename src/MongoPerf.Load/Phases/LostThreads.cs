using MongoPerf.Measurement;

namespace MongoPerf.Load.Phases;

/// <summary>
/// The threads of a group that look for a server. Those that lose theirs together are one event, told when the last of them has one again.
/// </summary>
/// <remarks>For all threads of the group; none comes here as long as its server answers.</remarks>
internal sealed class LostThreads(IClock clock, IGroupObserver observer)
{
    private readonly Lock _lock = new();
    private string _reason = "";
    private long _since;
    private int _away;
    private int _back;

    /// <param name="reason">Why its connection is of no use any more.</param>
    public void Lose(string reason)
    {
        lock (_lock)
        {
            if (_away++ > 0)
                return;
            (_reason, _since, _back) = (reason, clock.Now, 0);
        }
    }

    /// <param name="isTold">False for a thread that has given up, or whose server was not away.</param>
    public void Return(bool isTold)
    {
        string reason;
        double seconds;
        int back;
        lock (_lock)
        {
            back = _back += isTold ? 1 : 0;
            if (--_away > 0 || back == 0)
                return;
            (reason, seconds) = (_reason, clock.SecondsBetween(_since, clock.Now));
        }

        string who = back == 1 ? "connected" : $"{back} threads connected";
        observer.OnEvent("reconnect", $"{reason}; {who} again after {seconds:0.00} s", seconds);
    }
}
