namespace MongoPerf.Learning.Observing;

/// <summary>The order in which documents came into a collection while it was watched. Of their <c>_id</c>s only hashes are kept.</summary>
internal sealed class InsertionOrder
{
    private readonly Dictionary<ulong, int> _places = [];

    /// <summary>How many came so far.</summary>
    public int Count => _places.Count;

    /// <param name="id">The hash of the document's <c>_id</c>.</param>
    public void Add(ulong id) => _places.TryAdd(id, _places.Count);

    /// <summary>How many came after it so far; -1 for what did not come while it was watched.</summary>
    public int AgeOf(ulong id) => _places.TryGetValue(id, out int place) ? Count - 1 - place : -1;
}
