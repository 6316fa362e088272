namespace MongoPerf.Traffic.Replaying;

/// <summary>Goes through a replay without a server, to find waits by which nobody would go on.</summary>
/// <param name="requests">All of them.</param>
/// <param name="workers">The requests of each worker, in their order.</param>
/// <param name="priorsOf">What a request waits for by the order of replies.</param>
/// <param name="sequences">The sequences of these.</param>
internal sealed class ReplayRehearsal(IReadOnlyList<RecordedRequest> requests, IReadOnlyList<IReadOnlyList<int>> workers,
    Func<int, IEnumerable<Prior>> priorsOf, int[][] sequences)
{
    private readonly bool[] _isDone = new bool[requests.Count];
    private readonly int[] _ended = new int[sequences.Length];

    /// <summary>Takes away those waits without which all requests come to their end.</summary>
    /// <param name="more">What requests wait for beside all else.</param>
    public void Prune(Dictionary<int, List<int>> more)
    {
        int[] next = new int[workers.Count];
        var waiting = new Dictionary<int, List<int>>();
        var able = new Queue<int>(Enumerable.Range(0, workers.Count));
        while (true)
        {
            while (able.TryDequeue(out int worker))
            {
                while (next[worker] < workers[worker].Count)
                {
                    int request = workers[worker][next[worker]];
                    if (Missing(request, more) is >= 0 and var missing)
                    {
                        (waiting.TryGetValue(missing, out List<int>? others) ? others : waiting[missing] = []).Add(worker);
                        break;
                    }

                    _isDone[request] = true;
                    next[worker]++;
                    if (waiting.Remove(request, out List<int>? freed))
                        freed.ForEach(able.Enqueue);
                }
            }

            // A statement that failed then may succeed; of all else whoever is first in the recording goes on.
            int stuck = Enumerable.Range(0, workers.Count).Where(worker => next[worker] < workers[worker].Count
                && Missing(workers[worker][next[worker]], null) < 0).OrderBy(worker => requests[workers[worker][next[worker]]] is
                    { IsStatement: true, Reply.Code: not 0 } ? 0 : 1).ThenBy(worker => workers[worker][next[worker]])
                .FirstOrDefault(-1);
            if (stuck < 0)
                return;
            more.Remove(workers[stuck][next[stuck]]);
            foreach (List<int> others in waiting.Values)
                others.Remove(stuck);
            able.Enqueue(stuck);
        }
    }

    /// <returns>A request that has not been answered; -1 for none.</returns>
    private int Missing(int request, Dictionary<int, List<int>>? more)
    {
        foreach (int before in (int[])[requests[request].After, requests[request].InSession])
        {
            if (before >= 0 && !_isDone[before])
                return before;
        }

        foreach ((int sequence, int count) in priorsOf(request))
        {
            if (sequence < 0)
            {
                if (!_isDone[count])
                    return count;
                continue;
            }

            for (ref int ended = ref _ended[sequence]; ended < count; ended++)
            {
                if (!_isDone[sequences[sequence][ended]])
                    return sequences[sequence][ended];
            }
        }

        return more?.GetValueOrDefault(request)?.FirstOrDefault(other => !_isDone[other], -1) ?? -1;
    }
}
