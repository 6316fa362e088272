using System.Globalization;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Observing;

/// <summary>Groups what was seen by shape, and tells when it came, on how many connections, and how keys were drawn.</summary>
/// <remarks>
/// Its size depends on how many shapes there are, not on how many operations, but for what <see cref="Timeline"/> keeps, and 40 bytes of
/// each of the first million <c>_id</c>s that were inserted.
/// </remarks>
public sealed class MixBuilder
{
    /// <summary>Of a collection.</summary>
    private const int MostShapes = 1000;

    private const int MostShapesInAll = 20_000;
    private const long MostInserted = 1_000_000;
    private const int MostTransactions = 10_000;
    private const int MostStatements = 100;
    private const double MostAtOnce = 1e15;

    /// <summary>The year 9999.</summary>
    private const double LatestSecond = 253_402_300_800;

    /// <summary>A year.</summary>
    private const double MostMicroseconds = 3.2e13;

    private readonly Dictionary<string, OperationTally> _shapes = new(StringComparer.Ordinal);
    private readonly Dictionary<(string Database, string Collection), int> _shapesOf = [];
    private readonly Dictionary<(string Database, string Collection), DataNames> _names = [];
    private readonly Dictionary<(string Database, string What), RequestCount> _leftOut = [];
    private readonly Dictionary<string, OpenTransaction> _transactions = new(StringComparer.Ordinal);
    private readonly Dictionary<(string Database, string Collection), InsertionOrder> _inserted = [];
    private readonly Dictionary<(string Database, string Collection), List<BsonDocument>> _documents = [];
    private readonly Timeline _times = new();
    private double _count;
    private long _insertedIds;
    private long _damaged;
    private double _others;

    /// <summary>How many operations were counted.</summary>
    public double Count => _count;

    /// <summary>Reads a source to its end.</summary>
    /// <returns>What makes the mix once the data are known.</returns>
    public static MixBuilder Of(ObservationSource source)
    {
        var builder = new MixBuilder();
        foreach (ObservedOperation operation in source.Read())
            builder.Add(operation);
        return builder;
    }

    public void Add(ObservedOperation operation)
    {
        // A server that is broken, or a file, may say anything.
        if (!(operation.Count is > 0 and <= MostAtOnce && Math.Abs(operation.Seconds) <= LatestSecond))
        {
            _damaged++;
            return;
        }

        if (operation.Microseconds is not (null or (>= 0 and <= MostMicroseconds)))
            operation = operation with { Microseconds = null };
        if (operation.InsertedIds.Count > 0 && _insertedIds < MostInserted)
        {
            _insertedIds += operation.InsertedIds.Count;
            InsertionOrder order = InsertedInto(operation.Database, operation.Collection);
            foreach (ulong id in operation.InsertedIds)
                order.Add(id);
        }

        if (operation.InsertedDocuments.Count > 0)
        {
            if (!_documents.TryGetValue((operation.Database, operation.Collection), out List<BsonDocument>? all))
                _documents[(operation.Database, operation.Collection)] = all = [];
            all.AddRange(operation.InsertedDocuments);
        }

        IReadOnlyList<SeenOperation> seen;
        string? whyNot;
        try
        {
            if (AddToTransaction(operation))
                return;
            seen = CommandReader.Read(operation, out whyNot);
            if (seen.Count == 0 && whyNot is null)
                _others += operation.Count;
        }
        catch (BsonFormatException)
        {
            _damaged++;
            return;
        }

        if (whyNot is not null)
            LeaveOut(operation.Database, whyNot, CountOf(operation));
        foreach (SeenOperation one in seen)
            Tally(one, operation, CountOf(operation));
    }

    /// <summary>Some of the documents that were inserted into a collection, in their order; empty where the source doesn't tell.</summary>
    public IReadOnlyList<BsonDocument> InsertedDocuments(string database, string collection) =>
        _documents.TryGetValue((database, collection), out List<BsonDocument>? all) ? all : [];

    /// <param name="source">What was read.</param>
    /// <param name="database">Only what was done in it is of interest.</param>
    /// <param name="populations">What is known of a field, by collection and path; null for nothing.</param>
    /// <param name="maps">Whether the names of fields are data, by collection and path; null where nobody knows.</param>
    public OperationMix Finish(ObservationSource source, string database, Func<string, string, FieldPopulation?> populations,
        Func<string, string, bool>? maps = null)
    {
        List<string> notLearned = [.. source.Notes];
        foreach (OpenTransaction open in _transactions.Values)
            LeaveOut(open.First.Database, "statements of transactions whose end was not seen", open.Requests);
        _transactions.Clear();
        if (_damaged > 0)
            notLearned.Add($"{_damaged:N0} commands that could not be read");
        double elsewhere = _shapes.Values.Where(shape => shape.Database != database).Sum(shape => shape.Requests.Requests)
            + _leftOut.Where(one => one.Key.Database != database).Sum(one => one.Value.Requests);
        if (elsewhere > 0)
            notLearned.Add(FormattableString.Invariant($"{elsewhere:0} operations on other databases"));
        OperationTally[] shapes =
            [.. Folded(_shapes.Values.Where(shape => shape.Database == database), maps).OrderByDescending(shape => shape.Count)];
        Dictionary<(string Collection, string Field), KeyDistribution> usual = UsualKeys(shapes, populations);
        Dictionary<int, LearnedOperation> operations = shapes.ToDictionary(shape => shape.Number, shape => shape.ToLearned(
            (collection, field) => new KnownField(populations(collection, field), usual.GetValueOrDefault((collection, field)))));
        IReadOnlyList<Stretch> stretches = _times.Divide(operations.Keys.ToHashSet(), source.Seconds);
        return new OperationMix(source.Name, source.Seconds ?? _times.Seconds,
            [.. stretches.Select(one => Phase(one, operations, stretches, source.HasPreciseTimes))], notLearned)
        {
            LeftOut = _leftOut.Where(one => one.Key.Database == database)
                .ToDictionary(one => one.Key.What, one => one.Value, StringComparer.Ordinal),
            Others = source.Others + _others,
            Elsewhere = elsewhere,
            NotUnderstood = source.NotUnderstood + _damaged,
        };
    }

    /// <summary>Shapes that differ in nothing but names that are data are one.</summary>
    private List<OperationTally> Folded(IEnumerable<OperationTally> shapes, Func<string, string, bool>? maps)
    {
        var kept = new Dictionary<string, OperationTally>(StringComparer.Ordinal);
        var renamed = new Dictionary<int, int>();
        foreach (OperationTally shape in shapes)
        {
            string key = shape.First.Renamed((collection, path) => NamesOf(shape.Database, collection)
                .Fold(path, at => maps?.Invoke(collection, at) is true)).Key;
            if (!kept.TryGetValue(key, out OperationTally? same))
            {
                kept[key] = shape;
                continue;
            }

            same.Take(shape);
            renamed[shape.Number] = same.Number;
        }

        if (renamed.Count > 0)
            _times.Rename(renamed);
        return [.. kept.Values];
    }

    private DataNames NamesOf(string database, string collection) =>
        _names.TryGetValue((database, collection), out DataNames? names) ? names : _names[(database, collection)] = new DataNames();

    private static RequestCount CountOf(ObservedOperation operation) =>
        new(operation.Count, operation.Count * (operation.Microseconds ?? 0));

    private void LeaveOut(string database, string what, RequestCount requests) =>
        _leftOut[(database, what)] = _leftOut.GetValueOrDefault((database, what)) + requests;

    private InsertionOrder InsertedInto(string database, string collection) =>
        _inserted.TryGetValue((database, collection), out InsertionOrder? order) ? order
            : _inserted[(database, collection)] = new InsertionOrder();

    /// <summary>How each field is drawn, where several operations draw it: one that came rarely can't tell by itself.</summary>
    private static Dictionary<(string Collection, string Field), KeyDistribution> UsualKeys(
        IEnumerable<OperationTally> shapes, Func<string, string, FieldPopulation?> populations) => shapes.SelectMany(shape => shape.All)
        .SelectMany(one => one.Keys.Select(key => (At: (one.Head.Collection, key.Field), key.Tally)))
        .GroupBy(one => one.At, one => one.Tally).Where(tallies => tallies.Skip(1).Any())
        .ToDictionary(tallies => tallies.Key,
            tallies => ValueTally.KeysOf(tallies, populations(tallies.Key.Collection, tallies.Key.Field)));

    private static ObservedPhase Phase(
        Stretch stretch, Dictionary<int, LearnedOperation> operations, IReadOnlyList<Stretch> all, bool isPrecise)
    {
        PhaseOperation[] own =
            [.. stretch.Shapes.Select(one => Of(one.Key, one.Value.Count, one.Value.Latency)).OrderByDescending(one => one.Count)];
        IReadOnlyList<double> rates = stretch.Rates(own.Sum(one => one.Count));
        return new ObservedPhase(stretch.Seconds, own)
        {
            Rates = rates,
            Connections = stretch.Connections,
            IsSteady = stretch.IsSteady,
            Think = isPrecise ? stretch.Think(rates) : null,
        };

        // Where times are of a sample, counts are of all.
        PhaseOperation Of(int shape, double count, ObservedLatency? latency) => new(operations[shape],
            operations[shape].Count * count / all.Sum(other => other.Shapes.GetValueOrDefault(shape).Count), latency);
    }

    private void Tally(SeenOperation seen, ObservedOperation operation, RequestCount requests)
    {
        seen = seen.Renamed((collection, path) => NamesOf(seen.Head.Database, collection).See(path));
        if (!_shapes.TryGetValue(seen.Key, out OperationTally? shape))
        {
            int known = _shapesOf.GetValueOrDefault((seen.Head.Database, seen.Head.Collection));
            if (known == MostShapes || _shapes.Count == MostShapesInAll)
            {
                LeaveOut(seen.Head.Database, $"operations of more than {MostShapes:N0} shapes of a collection", requests);
                return;
            }

            _shapesOf[(seen.Head.Database, seen.Head.Collection)] = known + 1;

            _shapes[seen.Key] = shape = new OperationTally(seen, _shapes.Count);
            foreach (SeenOperation one in shape.All)
            {
                foreach (ValueNode key in one.Keys.Where(key => key.Field == "_id"))
                    key.Inserted = InsertedInto(one.Head.Database, one.Head.Collection);
            }
        }

        shape.Requests += requests;
        shape.Add(seen, operation.Count, operation.Plan, operation.Reply);
        _times.Add(operation, shape.Number);
        _count += operation.Count;
    }

    /// <summary>A statement of a transaction waits for its end, when it is known what it is part of.</summary>
    private bool AddToTransaction(ObservedOperation operation)
    {
        BsonDocument command = operation.Command;
        if (command.Find("autocommit") is not { Type: BsonType.Boolean } automatic || automatic.ToBoolean()
            || command.Find("lsid.id") is not { } session || command.FindInt64("txnNumber") is not { } number)
            return false;
        string key = string.Create(CultureInfo.InvariantCulture, $"{Convert.ToBase64String(session.Bytes.Span)} {number}");
        string name = command.First().Key;
        if (name is "commitTransaction" or "abortTransaction")
        {
            if (!_transactions.Remove(key, out OpenTransaction? ended))
            {
                LeaveOut(operation.Database, "ends of transactions whose beginning was not seen", CountOf(operation));
                return true;
            }

            ended.Requests += CountOf(operation);
            if (name == "commitTransaction")
                End(ended, operation);
            else
                LeaveOut(ended.First.Database, "statements of transactions that were aborted", ended.Requests);
            return true;
        }

        if (!_transactions.TryGetValue(key, out OpenTransaction? open))
        {
            // One that is not ended by now has been forgotten.
            if (_transactions.Count == MostTransactions)
            {
                foreach (OpenTransaction forgotten in _transactions.Values)
                    LeaveOut(forgotten.First.Database, "statements of transactions whose end was not seen", forgotten.Requests);
                _transactions.Clear();
            }

            _transactions[key] = open = new OpenTransaction(operation);
        }

        open.Requests += CountOf(operation);
        open.Add(CommandReader.Read(operation, out string? whyNot), whyNot);
        return true;
    }

    private void End(OpenTransaction transaction, ObservedOperation commit)
    {
        if (transaction.WhyNot is { } why || transaction.Steps.Count == 0)
        {
            LeaveOut(transaction.First.Database, $"statements of transactions with {transaction.WhyNot ?? "no statement"}",
                transaction.Requests);
            return;
        }

        ObservedOperation first = transaction.First;
        double? took = commit.Microseconds is { } last ? Math.Max(0, ((commit.Seconds - first.Seconds) * 1e6) + last) : null;
        var steps = new SeenOperation(new LearnedOperation(first.Database, "", "steps", 1)) { Parts = transaction.Steps };
        Tally(steps.Named(), first with { Microseconds = took, Count = 1, Plan = null, Reply = null }, transaction.Requests);
    }

    private sealed class OpenTransaction(ObservedOperation first)
    {
        private readonly List<SeenOperation> _steps = [];

        public ObservedOperation First => first;

        public List<SeenOperation> Steps => _steps;

        public RequestCount Requests { get; set; }

        public string? WhyNot { get; private set; }

        public void Add(IReadOnlyList<SeenOperation> statement, string? whyNot)
        {
            WhyNot ??= whyNot ?? (_steps.Count == MostStatements ? $"more than {MostStatements} statements"
                : statement.Any(one => one.Head.Kind == "bulkWrite") ? "bulks" : null);
            if (WhyNot is null)
                _steps.AddRange(statement);
        }
    }
}
