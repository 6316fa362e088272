namespace MongoPerf.Traffic.Replaying;

/// <summary>A part of the data that a request reads or writes.</summary>
/// <param name="Database">Empty for all of the server.</param>
/// <param name="Collection">Empty for all of the database.</param>
/// <param name="Document">A group of <c>_id</c>s; -1 for the whole collection.</param>
/// <param name="IsWritten">Otherwise it is only read.</param>
internal readonly record struct DataPart(string Database, string Collection, int Document, bool IsWritten);

/// <summary>
/// Finds which requests depend on which: one depends on another whose reply was recorded before it came, if they touch the same
/// documents, and one of the two writes.
/// </summary>
/// <remarks>
/// The data are a tree: server, databases, collections, groups of documents. Each node has the requests that touch it as a whole, and all
/// that touch anything in it, both in the order of their replies, so that what a request waits for is the beginning of some of these
/// sequences. Parts beyond <see cref="MostNodes"/> count as what they lie in, so that more waits than must.
/// </remarks>
internal sealed class RequestDependencies
{
    private const int MostNodes = 200_000;

    /// <summary>Parts of one request, or of a transaction; with more it counts as a write to everything.</summary>
    private const int MostParts = 256;

    private static readonly DataPart Everything = new("", "", -1, true);

    private readonly Dictionary<(string Database, string Collection, int Document), Node> _nodes = [];
    private readonly List<List<int>> _sequences = [];
    private readonly Dictionary<int, DataPart[]> _begun = [];
    private readonly Dictionary<Guid, HashSet<DataPart>> _transactions = [];
    private readonly Dictionary<int, HashSet<DataPart>> _statements = [];

    /// <summary>Requests in the order of their replies.</summary>
    public IEnumerable<int[]> Sequences => _sequences.Select(sequence => sequence.ToArray());

    /// <summary>A request comes.</summary>
    /// <param name="number">More than that of the one before.</param>
    /// <param name="parts">What it touches.</param>
    /// <param name="priors">Gets what it must wait for.</param>
    public void Begin(int number, DataPart[] parts, List<Prior> priors)
    {
        if (parts.Length > MostParts)
            parts = [Everything];
        int first = priors.Count;
        foreach (DataPart part in parts)
        {
            Span<Node> path = PathOf(part);
            for (int i = 0; i < path.Length; i++)
                AddPrior(priors, first, i == path.Length - 1 ? path[i].Inside(part.IsWritten) : path[i].Itself(part.IsWritten));
        }

        if (parts.Length > 0)
            _begun[number] = parts;
    }

    /// <summary>A request waits for all writes whose replies have come.</summary>
    /// <param name="priors">Gets them.</param>
    public void AwaitWrites(List<Prior> priors)
    {
        foreach (Node root in PathOf(Everything))
            AddPrior(priors, priors.Count, root.Inside(all: false));
    }

    /// <summary>Its reply comes; nothing waits for a request without one.</summary>
    /// <param name="number">The request's.</param>
    /// <param name="hasFailed">A statement that failed is the end of its transaction.</param>
    public void End(int number, bool hasFailed)
    {
        bool isInTransaction = _statements.Remove(number, out HashSet<DataPart>? all);
        if (!_begun.Remove(number, out DataPart[]? parts))
            return;
        if (isInTransaction && hasFailed)
            parts = [.. all!];
        foreach (DataPart part in parts)
        {
            Span<Node> path = PathOf(part);
            foreach (Node node in path)
                Add(number, part, node.Inside(true), node.Inside(false));
            Add(number, part, path[^1].Itself(true), path[^1].Itself(false));
        }
    }

    /// <summary>Adds a statement of a transaction to what its end makes visible.</summary>
    /// <returns>What the transaction has touched so far.</returns>
    public IReadOnlyCollection<DataPart> AddStatement(int number, Guid session, bool isFirst, DataPart[] parts)
    {
        if (isFirst || !_transactions.TryGetValue(session, out HashSet<DataPart>? all))
        {
            if (_transactions.Count == MostNodes)
                _transactions.Clear();
            _transactions[session] = all = [];
        }

        all.UnionWith(parts);
        if (all.Count > MostParts)
            _transactions[session] = all = [Everything];
        if (_statements.Count == MostNodes)
            _statements.Clear();
        _statements[number] = all;
        return all;
    }

    private void AddPrior(List<Prior> priors, int first, int sequence)
    {
        int count = _sequences[sequence].Count;
        if (count == 0)
            return;
        for (int i = first; i < priors.Count; i++)
        {
            if (priors[i].Sequence == sequence)
                return;
        }

        priors.Add(new Prior(sequence, count));
    }

    private void Add(int number, in DataPart part, int all, int writes)
    {
        AddOnce(_sequences[all], number);
        if (part.IsWritten)
            AddOnce(_sequences[writes], number);
    }

    private static void AddOnce(List<int> sequence, int number)
    {
        if (sequence.Count == 0 || sequence[^1] != number)
            sequence.Add(number);
    }

    /// <summary>From the server down to the part.</summary>
    private Span<Node> PathOf(in DataPart part)
    {
        var path = new Node[4];
        int length = 0;
        if (TryAdd("", "", -1) && part.Database.Length > 0 && TryAdd(part.Database, "", -1) && part.Collection.Length > 0
            && TryAdd(part.Database, part.Collection, -1) && part.Document >= 0)
            _ = TryAdd(part.Database, part.Collection, part.Document);
        return path.AsSpan(0, length);

        bool TryAdd(string database, string collection, int document)
        {
            if (!_nodes.TryGetValue((database, collection, document), out Node node))
            {
                if (_nodes.Count >= MostNodes)
                    return false;
                _nodes[(database, collection, document)] = node = new Node(_sequences.Count);
                for (int i = 0; i < Node.Sequences; i++)
                    _sequences.Add([]);
            }

            path[length++] = node;
            return true;
        }
    }

    /// <summary>A part of the data, with its sequences: what is written waits for all of them, what is read for those that write.</summary>
    private readonly record struct Node(int First)
    {
        public const int Sequences = 4;

        /// <summary>What touches the part as a whole.</summary>
        public int Itself(bool all) => First + (all ? 0 : 1);

        /// <summary>What touches anything in it.</summary>
        public int Inside(bool all) => First + (all ? 2 : 3);
    }
}
