using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage.Keys;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Sorts matches that do not come in order: all of them, or with a limit only as many as are needed.</summary>
/// <remarks>Bounded at 100 MB like MongoDB's own, and with its error beyond.</remarks>
internal sealed class BlockingSort
{
    public const long MaximumBytes = 100L << 20;

    private readonly KeyBuffer _key = new();
    // Two arrays and their places in queue and list, besides the bytes in them.
    private const int BytesOfRow = 160;

    private static readonly Comparer<Row> WorstFirst = Comparer<Row>.Create((a, b) => b.CompareTo(a));

    private PriorityQueue<Row, Row> _worst = new(WorstFirst);
    private List<Row> _rows = [];
    private int _next;
    private long _bytes;

    /// <summary>Takes all matches and sorts them.</summary>
    /// <param name="runner">Read to its end.</param>
    /// <param name="sort">The order.</param>
    /// <param name="wanted">How many are needed from the front, skipped ones included.</param>
    public void Fill(PlanExecutor runner, SortSpec sort, long wanted)
    {
        _worst.Clear();
        _bytes = 0;
        _next = 0;
        long order = 0;
        while (runner.MoveNext(0))
        {
            sort.WriteKey(_key, runner.Document);
            if (_worst.Count == wanted)
            {
                if (_key.Written.SequenceCompareTo(_worst.Peek().Key) >= 0)
                    continue;
                Row dropped = _worst.Dequeue();
                _bytes -= dropped.Key.Length + dropped.Document.Length + BytesOfRow;
            }

            var row = new Row(_key.Written.ToArray(), order++, runner.Document.ToArray());
            _worst.Enqueue(row, row);
            _bytes += row.Key.Length + row.Document.Length + BytesOfRow;
            if (_bytes > MaximumBytes)
            {
                throw new CommandException(292, "QueryExceededMemoryLimitNoDiskUseAllowed",
                    $"Executor error during find command :: caused by :: Sort exceeded memory limit of {MaximumBytes} bytes, "
                    + "but did not opt in to external sorting.");
            }
        }

        ActiveOperation.Gather(_bytes);
        _rows = [.. _worst.UnorderedItems.Select(item => item.Element)];
        _rows.Sort();
        _worst = new PriorityQueue<Row, Row>(WorstFirst);
    }

    /// <summary>Gives back the documents.</summary>
    public void Clear()
    {
        if (_rows.Count == 0)
            return;
        _rows = [];
        _worst = new PriorityQueue<Row, Row>(WorstFirst);
        Current = [];
    }

    public bool MoveNext(long skip)
    {
        _next = (int)Math.Min(_rows.Count, _next + skip);
        if (_next == _rows.Count)
            return false;
        Current = _rows[_next].Document;
        _rows[_next++] = default;
        return true;
    }

    public byte[] Current { get; private set; } = [];

    private readonly record struct Row(byte[] Key, long Order, byte[] Document) : IComparable<Row>
    {
        public int CompareTo(Row other)
        {
            int byKey = Key.AsSpan().SequenceCompareTo(other.Key);
            return byKey != 0 ? byKey : Order.CompareTo(other.Order);
        }
    }
}
