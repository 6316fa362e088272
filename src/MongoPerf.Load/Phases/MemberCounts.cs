using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>How many of a worker's measured operations each server carried out.</summary>
/// <remarks>
/// The worker's own. An operation's server only changes when the worker connects: between that, operations are counted and nothing more.
/// </remarks>
/// <param name="operations">The operations of the worker.</param>
/// <param name="parts">For each operation, the part of the plan that it counts in.</param>
internal sealed class MemberCounts(IReadOnlyList<IPreparedOperation> operations, IReadOnlyList<int> parts)
{
    private readonly long[] _since = new long[operations.Count];
    private readonly Dictionary<(int Part, string Member), long> _counts = [];

    /// <summary>One more has succeeded.</summary>
    public void Count(int operation) => _since[operation]++;

    /// <summary>
    /// What was counted since the last call belongs to the servers that the operations go to now: to be called before they
    /// change, and at the end.
    /// </summary>
    public void Flush()
    {
        for (int i = 0; i < _since.Length; i++)
        {
            if (_since[i] > 0 && operations[i].Member is { } member)
                _counts[(parts[i], member)] = _counts.GetValueOrDefault((parts[i], member)) + _since[i];
            _since[i] = 0;
        }
    }

    /// <summary>Adds up one part's counts over several workers that have ended; the busiest server comes first.</summary>
    public static IReadOnlyList<MemberShare> Sum(IEnumerable<MemberCounts> workers, int part) =>
    [
        .. workers.SelectMany(worker => worker._counts).Where(count => count.Key.Part == part).GroupBy(count => count.Key.Member)
            .Select(member => new MemberShare(member.Key, member.Sum(count => count.Value)))
            .OrderByDescending(share => share.Operations).ThenBy(share => share.Member, StringComparer.Ordinal),
    ];
}
