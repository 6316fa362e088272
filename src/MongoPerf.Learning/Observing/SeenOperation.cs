using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Observing;

/// <summary>An operation whose form was told from its values.</summary>
/// <param name="head">What a scenario says of it, but for its parts.</param>
internal sealed class SeenOperation(LearnedOperation head)
{
    public LearnedOperation Head => head;

    public DocumentNode? Filter { get; init; }

    public DocumentNode? Projection { get; init; }

    public DocumentNode? Update { get; init; }

    public DocumentNode? ArrayFilters { get; init; }

    public DocumentNode? Pipeline { get; init; }

    public IReadOnlyList<SeenOperation> Parts { get; init; } = [];

    /// <summary>What its shape has in common, and no other shape.</summary>
    public string Key { get; private init; } = "";

    /// <summary>Values by which documents are chosen; not those of its parts.</summary>
    public IEnumerable<ValueNode> Keys => Nodes.SelectMany(node => node.Values).Where(value => value.IsKey);

    private IEnumerable<DocumentNode> Nodes => new[] { Filter, Projection, Update, ArrayFilters, Pipeline }.OfType<DocumentNode>();

    /// <summary>The same with its key, when all else is set.</summary>
    public SeenOperation Named() => Like(head, MakeKey(), Parts);

    /// <summary>The same, so many times in a row.</summary>
    public SeenOperation Repeated(int times) => Like(head with { DocumentsPerOperation = times }, Key, Parts);

    /// <summary>The same with other names, in its parts, too; this one has them from now on.</summary>
    public SeenOperation Renamed(Func<string, string, string> rename)
    {
        foreach (DocumentNode node in Nodes)
            node.Rename(path => rename(head.Collection, path));
        SeenOperation[] parts = [.. Parts.Select(part => part.Renamed(rename))];
        SeenOperation same = Like(head, "", parts);
        return same.Like(head, same.MakeKey(), parts);
    }

    /// <summary>Takes over the values of another one of its shape.</summary>
    /// <param name="other">It.</param>
    /// <param name="isPart">Both are parts of the same command, which is yet to be counted.</param>
    public void Merge(SeenOperation other, bool isPart)
    {
        foreach ((DocumentNode own, DocumentNode others) in Nodes.Zip(other.Nodes))
            own.Merge(others, isPart);
    }

    private SeenOperation Like(LearnedOperation as_, string key, IReadOnlyList<SeenOperation> parts) => new(as_)
    {
        Filter = Filter, Projection = Projection, Update = Update, ArrayFilters = ArrayFilters, Pipeline = Pipeline, Parts = parts,
            Key = key,
    };

    private string MakeKey()
    {
        var key = new StringBuilder();
        key.Append(head.Kind).Append('\0').Append(head.Database).Append('\0').Append(head.Collection).Append('\0').Append(head.Field)
            .Append(head.IsMany ? 'm' : '-').Append(head.IsUpsert ? 'u' : '-').Append(head.IsRemove ? 'r' : '-').Append(head.IsNew ? 'n'
                : '-')
            .Append(head.IsUnordered ? 'o' : '-').Append(head.Skip is null ? '-' : 's')
            .Append(head.Limit is null ? '-' : 'l');
        foreach (BsonDocument? part in (BsonDocument?[])[head.Sort, head.Collation, head.WriteConcern, head.ReadConcern])
            key.Append('|').Append(part is null ? "" : Convert.ToBase64String(part.Bytes));
        if (head.Hint is { } hint)
            key.Append(Convert.ToBase64String(hint.Bytes.Span));
        foreach (DocumentNode? node in (DocumentNode?[])[Filter, Projection, Update, ArrayFilters, Pipeline])
        {
            key.Append('|');
            node?.Describe(key);
        }

        foreach (string what in head.LeftOut)
            key.Append(what).Append('\0');
        foreach (SeenOperation part in Parts)
            key.Append('(').Append(part.Key).Append(')');
        return key.ToString();
    }
}

/// <summary>Counts the operations of one shape.</summary>
/// <param name="first">The first of them, which takes over the values of the others.</param>
/// <param name="number">What tells the shape from others.</param>
internal sealed class OperationTally(SeenOperation first, int number)
{
    private const int MostLimits = 1000;
    private const int MostPlans = 20;
    private const int MostErrors = 100;

    private readonly Dictionary<int, double> _limits = [];
    private readonly Dictionary<string, double> _plans = new(StringComparer.Ordinal);
    private readonly OperationTally[] _parts = [.. first.Parts.Select(part => new OperationTally(part, number))];
    private (int Least, int Most)? _skip = first.Head.Skip;
    private readonly Dictionary<int, double> _errors = [];
    private readonly PairTally _pairs = new();
    private double _documents;
    private double _replies;
    private double _found;
    private double _squares;
    private double _nothing;
    private double? _modified;
    private double _abandoned;
    private double _foundOfAbandoned;
    private double _examinations;
    private (double Sum, double Squares) _keysExamined;
    private (double Sum, double Squares) _documentsExamined;

    public int Number => number;

    public string Database => first.Head.Database;

    /// <summary>The first of them.</summary>
    public SeenOperation First => first;

    /// <summary>The requests that they were.</summary>
    public RequestCount Requests { get; set; }

    public double Count { get; private set; }

    /// <param name="operation">One of the shape; the first one, too.</param>
    /// <param name="count">How many there were.</param>
    /// <param name="plan">The server's summary of its plan; null if unknown.</param>
    /// <param name="reply">What its reply said; null if unknown.</param>
    public void Add(SeenOperation operation, double count, string? plan, ObservedReply? reply)
    {
        if (reply is { } said)
            Add(said, count);
        LearnedOperation head = operation.Head;
        Count += count;
        _documents += count * head.DocumentsPerOperation;
        if (head.Limit is { } limit && (_limits.Count < MostLimits || _limits.ContainsKey(limit)))
            _limits[limit] = _limits.GetValueOrDefault(limit) + count;
        if (plan is not null && (_plans.Count < MostPlans || _plans.ContainsKey(plan)))
            _plans[plan] = _plans.GetValueOrDefault(plan) + count;
        _pairs.Add(operation, count);
        if (_skip is var (least, most) && head.Skip is var (low, high))
            _skip = (Math.Min(least, low), Math.Max(most, high));
        if (!ReferenceEquals(first, operation))
            first.Merge(operation, isPart: false);
        foreach ((OperationTally own, SeenOperation part) in _parts.Zip(operation.Parts))
            own.Add(part, count, null, null);
    }

    /// <summary>Takes over the counts of another one, whose shape has become the same.</summary>
    public void Take(OperationTally other)
    {
        Count += other.Count;
        Requests += other.Requests;
        _documents += other._documents;
        _replies += other._replies;
        _found += other._found;
        _squares += other._squares;
        _nothing += other._nothing;
        _abandoned += other._abandoned;
        _foundOfAbandoned += other._foundOfAbandoned;
        _modified = other._modified is null ? _modified : (_modified ?? 0) + other._modified;
        _examinations += other._examinations;
        _keysExamined = (_keysExamined.Sum + other._keysExamined.Sum, _keysExamined.Squares + other._keysExamined.Squares);
        _documentsExamined =
            (_documentsExamined.Sum + other._documentsExamined.Sum, _documentsExamined.Squares + other._documentsExamined.Squares);
        foreach ((int limit, double count) in other._limits)
            _limits[limit] = _limits.GetValueOrDefault(limit) + count;
        foreach ((int code, double count) in other._errors)
            _errors[code] = _errors.GetValueOrDefault(code) + count;
        foreach ((string plan, double count) in other._plans)
            _plans[plan] = _plans.GetValueOrDefault(plan) + count;
        _pairs.Take(other._pairs);
        first.Merge(other.First, isPart: false);
        foreach ((OperationTally own, OperationTally part) in _parts.Zip(other._parts))
            own.Take(part);
    }

    private void Add(in ObservedReply reply, double count)
    {
        _replies += count;
        if (reply.Code != 0 && (_errors.Count < MostErrors || _errors.ContainsKey(reply.Code)))
            _errors[reply.Code] = _errors.GetValueOrDefault(reply.Code) + count;
        _found += count * reply.Documents;
        _squares += count * reply.Documents * reply.Documents;
        if (reply.Code == 0 && (reply.Documents == 0 || (first.Head.IsUpsert && reply.Upserted > 0)))
            _nothing += count;
        if (reply.IsAbandoned)
        {
            _abandoned += count;
            _foundOfAbandoned += count * reply.Documents;
        }

        if (reply.Modified is { } modified)
            _modified = (_modified ?? 0) + (count * modified);
        // Of those that failed, as much as they came to.
        if (reply is { Code: 0, Examined: var (keys, documents) })
        {
            _examinations += count;
            _keysExamined = Plus(_keysExamined, keys, count);
            _documentsExamined = Plus(_documentsExamined, documents, count);
        }

        static (double, double) Plus((double Sum, double Squares) all, double value, double count) =>
            (all.Sum + (count * value), all.Squares + (count * value * value));
    }

    private static double DeviationOf(double count, double sum, double squares) =>
        Math.Sqrt(Math.Max(0, (squares / count) - (sum / count * (sum / count))));

    /// <summary>It and its parts.</summary>
    public IEnumerable<SeenOperation> All => [first, .. _parts.SelectMany(part => part.All)];

    /// <param name="fields">What is known of a field, by collection and path.</param>
    public LearnedOperation ToLearned(Func<string, string, KnownField> fields)
    {
        LearnedOperation head = first.Head;
        KnownField Known(string field) => fields(head.Collection, field);
        return head with
        {
            Count = Count,
            Requests = Requests,
            Filter = first.Filter?.ToShape(Known),
            Projection = first.Projection?.ToShape(Known),
            Update = first.Update?.ToShape(Known),
            ArrayFilters = first.ArrayFilters?.ToShape(Known),
            Pipeline = first.Pipeline?.ToShape(Known),
            Skip = _skip,
            Limit = _limits.Count > 0 ? _limits.MaxBy(one => one.Value).Key : head.Limit,
            Limits = _limits,
            DocumentsPerOperation = Count > 0 ? _documents / Count : 1,
            Plan = _plans.Count > 0 ? _plans.MaxBy(one => one.Value).Key : null,
            Pair = _pairs.Best(),
            Parts = [.. _parts.Select(part => part.ToLearned(fields))],
            Replies = _replies <= 0 ? null : new ObservedReplies(_replies, _found / _replies,
                DeviationOf(_replies, _found, _squares), _nothing / _replies, _modified / _replies, _errors)
            {
                Abandoned = _abandoned / _replies, DocumentsOfAbandoned = _abandoned > 0 ? _foundOfAbandoned / _abandoned : 0,
                Examined = _examinations <= 0 ? null : new ObservedExamined(_examinations,
                    _keysExamined.Sum / _examinations, DeviationOf(_examinations, _keysExamined.Sum, _keysExamined.Squares),
                    _documentsExamined.Sum / _examinations,
                    DeviationOf(_examinations, _documentsExamined.Sum, _documentsExamined.Squares)),
            },
        };
    }
}
