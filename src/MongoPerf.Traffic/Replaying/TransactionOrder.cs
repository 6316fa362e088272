namespace MongoPerf.Traffic.Replaying;

/// <summary>
/// Finds what transactions wait for beside what was answered before: writes that a server did while the reply was still to come, as it does
/// until a majority has them.
/// </summary>
/// <remarks>
/// Of two transactions that wrote a document and succeeded one had been committed before the other took its snapshot. So the first
/// statement of one waits for each commit, and each write without a transaction, of the documents it wrote that was under way with it; a
/// statement waits for aborts so, and for statements that failed, which are aborts; and such a write that came within a transaction waits
/// for its end. A statement that failed waits for the writes that were under way with it, so that it conflicts again. What would make
/// anybody wait for ever, as documents are only known by groups, is left out.
/// </remarks>
internal sealed class TransactionOrder
{
    /// <summary>Of requests that write; recordings without transactions need none of it.</summary>
    private const int MostWrites = 2_000_000;

    /// <summary>Pairs of requests under way at the same time.</summary>
    private const int MostWaits = 1_000_000;

    /// <summary>Looked at, whether or not one waits for the other: an hour of a hundred connections has fewer.</summary>
    private const long MostPairs = 500_000_000;

    private readonly Dictionary<Guid, Transaction> _open = [];
    private readonly List<Transaction> _transactions = [];
    private readonly Dictionary<int, Write> _writes = [];
    private readonly Dictionary<long, int> _last = [];

    /// <summary>Some connection sent before it had its reply, so that times don't tell what came first.</summary>
    private bool _isUnclear;

    private enum Kind
    {
        /// <summary>Outside of transactions.</summary>
        Single,
        Statement,

        /// <summary>A statement with an error, which ends its transaction.</summary>
        Failed,
        Commit,
        Abort,

        /// <summary>The first statement of a transaction: from then on it sees nothing new.</summary>
        Snapshot,
    }

    /// <summary>A request comes.</summary>
    /// <param name="number">Its number.</param>
    /// <param name="connection">On which it came.</param>
    /// <param name="isAnswered">The one before it on that connection has its reply, or gets none.</param>
    /// <param name="parts">What it touches; of the end of a transaction all that this touched.</param>
    /// <param name="session">Of a transaction that it is in; null for none.</param>
    /// <param name="starts">It is the first of it.</param>
    /// <param name="end">It ends it: true commits, false aborts; null for neither.</param>
    public void Begin(
        int number, long connection, Func<int, bool> isAnswered, IReadOnlyCollection<DataPart> parts, Guid? session, bool starts, bool? end)
    {
        _isUnclear |= _last.TryGetValue(connection, out int before) && !isAnswered(before);
        _last[connection] = number;
        if (_writes.Count > MostWrites)
            return;
        DataPart[] written = [.. parts.Where(part => part.IsWritten)];
        if (session is not { } of)
        {
            if (written.Length > 0)
                _writes[number] = new Write(number, Kind.Single, null, written, []);
            return;
        }

        if (starts || !_open.TryGetValue(of, out Transaction? transaction))
            _transactions.Add(_open[of] = transaction = new Transaction(number));
        if (written.Length > 0)
        {
            Kind kind = end is null ? Kind.Statement : end is true ? Kind.Commit : Kind.Abort;
            _writes[number] = new Write(number, kind, transaction, written, end is null ? [.. transaction.Written] : []);
        }

        transaction.Written.UnionWith(written);
        if (end is not null)
            _open.Remove(of);
    }

    /// <summary>What else each request waits for.</summary>
    /// <param name="requests">All of them.</param>
    /// <param name="spanOf">
    /// By request: how many requests and replies had come when it came, and when its reply did; null without a reply.
    /// </param>
    public Dictionary<int, List<int>> Find(IReadOnlyList<RecordedRequest> requests, Func<int, (int Begin, int End)?> spanOf)
    {
        var waits = new Dictionary<int, List<int>>();
        if (_transactions.Count == 0 || _isUnclear)
            return waits;
        var known = new HashSet<(int Then, int First)>();
        long pairs = 0;
        foreach (IGrouping<(string Database, string Collection), Entry> collection in Entries(requests, spanOf).GroupBy(entry =>
            (entry.Part.Database, entry.Part.Collection)))
        {
            var underWay = new List<Entry>();
            foreach (Entry entry in collection.OrderBy(entry => entry.Begin))
            {
                underWay.RemoveAll(other => other.End < entry.Begin);
                foreach (Entry other in underWay.Where(other => other.Number != entry.Number && (other.Part.Document == entry.Part.Document
                    || other.Part.Document < 0 || entry.Part.Document < 0)))
                {
                    if (known.Count >= MostWaits || ++pairs > MostPairs)
                        return waits;
                    Add(entry, other);
                    Add(other, entry);
                }

                underWay.Add(entry);
            }
        }

        return waits;

        void Add(in Entry then, in Entry first)
        {
            if (Waits(then, first) && known.Add((then.Number, first.Number)))
                (waits.TryGetValue(then.Number, out List<int>? some) ? some : waits[then.Number] = []).Add(first.Number);
        }
    }

    private static bool Waits(in Entry then, in Entry first) => (then.Of is null || then.Of != first.Of) && (then.Kind, first.Kind) switch
    {
        (Kind.Snapshot, Kind.Single or Kind.Commit) => true,
        (Kind.Statement, Kind.Abort) => true,
        (Kind.Failed, Kind.Single or Kind.Statement) => true,
        (Kind.Single, Kind.Commit or Kind.Abort) => then.Begin > first.Of!.SnapshotEnd,
        _ => false,
    };

    private IEnumerable<Entry> Entries(IReadOnlyList<RecordedRequest> requests, Func<int, (int Begin, int End)?> spanOf)
    {
        foreach (Transaction one in _transactions)
            one.SnapshotEnd = spanOf(one.First)?.End ?? int.MaxValue;
        foreach (Write write in _writes.Values)
        {
            if (spanOf(write.Number) is not var (begin, end))
                continue;
            bool hasFailed = requests[write.Number].Reply.Code != 0;
            Kind kind = !hasFailed ? write.Kind : write.Kind == Kind.Statement ? Kind.Failed
                : write.Kind == Kind.Commit ? Kind.Abort : write.Kind;
            foreach (DataPart part in write.Parts)
            {
                yield return new Entry(write.Number, kind, write.Of, part, begin, end);
                if (kind == Kind.Statement && spanOf(write.Of!.First) is var (from, to))
                    yield return new Entry(write.Of.First, Kind.Snapshot, write.Of, part, from, to);
            }

            foreach (DataPart part in kind == Kind.Failed ? write.Before : [])
                yield return new Entry(write.Number, Kind.Abort, write.Of, part, begin, end);
        }
    }

    private sealed class Transaction(int first)
    {
        public int First => first;

        public HashSet<DataPart> Written { get; } = [];

        /// <summary>When its first statement was answered.</summary>
        public int SnapshotEnd { get; set; }
    }

    private sealed record Write(int Number, Kind Kind, Transaction? Of, DataPart[] Parts, DataPart[] Before);

    private readonly record struct Entry(int Number, Kind Kind, Transaction? Of, DataPart Part, int Begin, int End);
}
