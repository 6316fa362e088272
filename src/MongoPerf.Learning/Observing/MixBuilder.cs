using System.Globalization;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Observing;

/// <summary>Groups what was seen by shape, and tells when it came, on how many connections, and how keys were drawn.</summary>
/// <remarks>
/// Its size depends on how many shapes there are, not on how many operations, but for 20 bytes of each of the first million, and 40 of each
/// of the first million <c>_id</c>s that were inserted.
/// </remarks>
public sealed class MixBuilder
{
    private const int MostShapes = 1000;
    private const int MostTimes = 1_000_000;
    private const long MostInserted = 1_000_000;
    private const int MostTransactions = 10_000;
    private const int MostStatements = 100;
    private const int MostConnections = 100_000;

    /// <summary>Up to so long, what passes between a reply and the next request is the client's own work.</summary>
    private const double ClientMicroseconds = 200;

    private readonly Dictionary<string, OperationTally> _shapes = new(StringComparer.Ordinal);
    private readonly Dictionary<string, double> _notLearned = new(StringComparer.Ordinal);
    private readonly Dictionary<string, OpenTransaction> _transactions = new(StringComparer.Ordinal);
    private readonly Dictionary<string, Line> _lines = new(StringComparer.Ordinal);
    private readonly Dictionary<(string Database, string Collection), InsertionOrder> _inserted = [];
    private readonly List<(double Start, double End)> _times = [];
    private readonly Pauses _pauses = new();
    private double _first = double.MaxValue;
    private double _last = double.MinValue;
    private double _count;
    private long _insertedIds;
    private long _damaged;

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
        if (operation.InsertedIds.Count > 0 && _insertedIds < MostInserted)
        {
            _insertedIds += operation.InsertedIds.Count;
            InsertionOrder order = InsertedInto(operation.Database, operation.Collection);
            foreach (ulong id in operation.InsertedIds)
                order.Add(id);
        }

        IReadOnlyList<SeenOperation> seen;
        string? whyNot;
        try
        {
            if (AddToTransaction(operation))
                return;
            seen = CommandReader.Read(operation, out whyNot);
        }
        catch (BsonFormatException)
        {
            _damaged++;
            return;
        }

        if (whyNot is not null)
            _notLearned[whyNot] = _notLearned.GetValueOrDefault(whyNot) + operation.Count;
        foreach (SeenOperation one in seen)
            Tally(one, operation.Count, operation.Microseconds, operation.Plan);
        if (seen.Count > 0)
            Time(operation);
    }

    /// <param name="source">What was read.</param>
    /// <param name="populations">What is known of a field, by database, collection and path; null for nothing.</param>
    public OperationMix Finish(ObservationSource source, Func<string, string, string, FieldPopulation?> populations)
    {
        double seconds = source.Seconds ?? Math.Max(_last - _first, 0.001);
        List<string> notLearned = [.. source.Notes];
        if (_transactions.Count > 0)
            notLearned.Add($"{_transactions.Count:N0} transactions whose end was not seen");
        foreach ((string what, double count) in _notLearned.OrderByDescending(one => one.Value))
            notLearned.Add(FormattableString.Invariant($"{what} ({count:0} times)"));
        if (_damaged > 0)
            notLearned.Add($"{_damaged:N0} commands that could not be read");
        List<double> arrivals = Arrivals(seconds);
        Dictionary<(string Database, string Collection, string Field), KeyDistribution> usual = UsualKeys(populations);
        return new OperationMix(
            [
                .. _shapes.Values.OrderByDescending(shape => shape.Count).Select(shape => shape.ToLearned((database, collection, field) =>
                    new KnownField(populations(database, collection, field), usual.GetValueOrDefault((database, collection, field))))),
            ],
            seconds, arrivals, notLearned)
        {
            Source = source.Name,
            Connections = Connections(seconds),
            IsSteady = IsSteady(seconds),
            Think = source.HasPreciseTimes ? Think(arrivals) : null,
        };
    }

    private InsertionOrder InsertedInto(string database, string collection) =>
        _inserted.TryGetValue((database, collection), out InsertionOrder? order) ? order
            : _inserted[(database, collection)] = new InsertionOrder();

    /// <summary>How each field is drawn, where several operations draw it: one that came rarely can't tell by itself.</summary>
    private Dictionary<(string Database, string Collection, string Field), KeyDistribution> UsualKeys(
        Func<string, string, string, FieldPopulation?> populations) => _shapes.Values.SelectMany(shape => shape.All)
        .SelectMany(one => one.Keys.Select(key => (At: (one.Head.Database, one.Head.Collection, key.Field), key.Tally)))
        .GroupBy(one => one.At, one => one.Tally).Where(tallies => tallies.Skip(1).Any())
        .ToDictionary(tallies => tallies.Key,
            tallies => ValueTally.KeysOf(tallies, populations(tallies.Key.Database, tallies.Key.Collection, tallies.Key.Field)));

    private void Tally(SeenOperation seen, double count, double? microseconds, string? plan)
    {
        if (!_shapes.TryGetValue(seen.Key, out OperationTally? shape))
        {
            if (_shapes.Count == MostShapes)
            {
                string others = $"operations of more than {MostShapes:N0} shapes";
                _notLearned[others] = _notLearned.GetValueOrDefault(others) + count;
                return;
            }

            _shapes[seen.Key] = shape = new OperationTally(seen);
            foreach (SeenOperation one in shape.All)
            {
                foreach (ValueNode key in one.Keys.Where(key => key.Field == "_id"))
                    key.Inserted = InsertedInto(one.Head.Database, one.Head.Collection);
            }
        }

        shape.Add(seen, count, microseconds, plan);
        _count += count;
    }

    private void Time(ObservedOperation operation)
    {
        double end = operation.Seconds + ((operation.Microseconds ?? 0) / 1e6);
        _first = Math.Min(_first, operation.Seconds);
        _last = Math.Max(_last, end);
        if (_times.Count < MostTimes)
            _times.Add((operation.Seconds, end));
        if (operation.Connection is not { } connection)
            return;
        if (!_lines.TryGetValue(connection, out Line? line))
        {
            if (_lines.Count == MostConnections)
                return;
            _lines[connection] = line = new Line(operation.Seconds, end);
            return;
        }

        line.Add(operation.Seconds, end, _pauses);
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
            if (_transactions.Remove(key, out OpenTransaction? ended) && name == "commitTransaction")
                End(ended, operation);
            return true;
        }

        if (!_transactions.TryGetValue(key, out OpenTransaction? open))
        {
            // One that is not ended by now has been forgotten.
            if (_transactions.Count == MostTransactions)
                _transactions.Clear();
            _transactions[key] = open = new OpenTransaction(operation);
        }

        open.Add(CommandReader.Read(operation, out string? whyNot), whyNot);
        return true;
    }

    private void End(OpenTransaction transaction, ObservedOperation commit)
    {
        if (transaction.WhyNot is { } why || transaction.Steps.Count == 0)
        {
            string what = $"transactions with {transaction.WhyNot ?? "no statement"}";
            _notLearned[what] = _notLearned.GetValueOrDefault(what) + 1;
            return;
        }

        ObservedOperation first = transaction.First;
        double? took = commit.Microseconds is { } last ? Math.Max(0, ((commit.Seconds - first.Seconds) * 1e6) + last) : null;
        var steps = new SeenOperation(new LearnedOperation(first.Database, "", "steps", 1)) { Parts = transaction.Steps };
        Tally(steps.Named(), 1, took, null);
        Time(first with { Microseconds = took });
    }

    private List<double> Arrivals(double seconds)
    {
        const int MostPieces = 60;
        const int OperationsInPiece = 50;
        int pieces = (int)Math.Min(MostPieces, Math.Min(seconds, _times.Count / (double)OperationsInPiece));
        if (pieces < 2 || _times.Count == MostTimes)
            return [];
        double[] counts = new double[pieces];
        foreach ((double start, _) in _times)
            counts[(int)Math.Clamp((start - _first) / seconds * pieces, 0, pieces - 1)]++;
        // Sampled operations stand for several.
        double each = _count / _times.Count;
        return [.. counts.Select(count => count * each * pieces / seconds)];
    }

    /// <summary>Of random arrivals, counts in short times vary as much as their mean is large; of even ones much less.</summary>
    private bool IsSteady(double seconds)
    {
        const int OperationsInPiece = 10;
        const int LeastPieces = 20;
        int pieces = (int)Math.Min(100_000, _times.Count / OperationsInPiece);
        if (pieces < LeastPieces)
            return false;
        double[] counts = new double[pieces];
        foreach ((double start, _) in _times)
            counts[(int)Math.Clamp((start - _first) / seconds * pieces, 0, pieces - 1)]++;
        double mean = counts.Average();
        return counts.Average(count => (count - mean) * (count - mean)) < 0.5 * mean;
    }

    /// <summary>Those that were in use on average, from their first operation to their last; or the most operations at once.</summary>
    private int Connections(double seconds)
    {
        if (_lines.Count > 0)
            return (int)Math.Clamp(Math.Ceiling((_lines.Values.Sum(line => line.Length) / seconds) - 0.1), 1, _lines.Count);
        int atOnce = 0;
        int most = 1;
        // An end before a start at the same time.
        foreach ((_, int change) in _times.SelectMany(time => new[] { (time.Start, 1), (time.End, -1) })
            .OrderBy(one => one.Item1).ThenBy(one => one.Item2))
            most = Math.Max(most, atOnce += change);
        return most;
    }

    private double? Think(List<double> arrivals)
    {
        // What an application does in turns, and what comes at times of its own, is no closed loop, however busy the server is.
        const double MostVariation = 0.5;
        const double LeastCorrelation = -0.3;
        double busy = _lines.Values.Sum(line => line.Busy);
        double idle = _lines.Values.Sum(line => line.Idle);
        long gaps = _lines.Values.Sum(line => line.Gaps);
        if (gaps < KeyFit.LeastDraws)
            return null;
        double mean = idle / gaps * 1e6;
        if (arrivals.Count > 1)
        {
            double rate = arrivals.Average();
            if (Math.Sqrt(arrivals.Average(one => (one - rate) * (one - rate))) > MostVariation * rate)
                return null;
        }

        return mean <= ClientMicroseconds ? 0 : idle <= busy && _pauses.Correlation > LeastCorrelation ? mean : null;
    }

    /// <summary>A connection's operations: how long it had one under way, and how long none in between.</summary>
    /// <param name="start">When the first one began.</param>
    /// <param name="end">When it ended.</param>
    private sealed class Line(double start, double end)
    {
        private double _end = end;
        private double _took = end - start;

        /// <summary>From the first operation to the end of the last one.</summary>
        public double Length => _end - start;

        public double Busy { get; private set; }

        public double Idle { get; private set; }

        public long Gaps { get; private set; }

        public void Add(double start, double end, Pauses pauses)
        {
            pauses.Add(_took, Math.Max(0, start - _end));
            Idle += Math.Max(0, start - _end);
            Busy += Math.Max(0, end - start);
            Gaps++;
            _took = end - start;
            _end = Math.Max(_end, end);
        }
    }

    /// <summary>How the pauses on a connection go with how long the operation before took.</summary>
    private sealed class Pauses
    {
        private double _count;
        private double _took;
        private double _paused;
        private double _tookSquared;
        private double _pausedSquared;
        private double _both;

        /// <summary>Where operations have times of their own, a long one leaves less of a pause: below 0. 0 where nothing varies.</summary>
        public double Correlation
        {
            get
            {
                double varied = ((_count * _tookSquared) - (_took * _took)) * ((_count * _pausedSquared) - (_paused * _paused));
                return varied > 0 ? ((_count * _both) - (_took * _paused)) / Math.Sqrt(varied) : 0;
            }
        }

        /// <summary>Logarithms, since a few long ones would decide otherwise.</summary>
        public void Add(double took, double paused)
        {
            double x = Math.Log(Math.Max(took, 1e-6));
            double y = Math.Log(Math.Max(paused, 1e-6));
            _count++;
            _took += x;
            _paused += y;
            _tookSquared += x * x;
            _pausedSquared += y * y;
            _both += x * y;
        }
    }

    private sealed class OpenTransaction(ObservedOperation first)
    {
        private readonly List<SeenOperation> _steps = [];

        public ObservedOperation First => first;

        public List<SeenOperation> Steps => _steps;

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
