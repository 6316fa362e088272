using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Expressions;

/// <summary>Gathers the values of one group into one. One thread.</summary>
internal abstract class Accumulator
{
    /// <param name="value">Null when it is missing.</param>
    public abstract void Add(BsonValue? value);

    public abstract BsonValue Result { get; }

    /// <summary>Bytes of the values that are kept.</summary>
    public virtual long HeldBytes => 0;

    /// <returns>Null when there is none of that name.</returns>
    public static Func<Accumulator>? Find(string name) => name switch
    {
        "$sum" => () => new SumAccumulator(),
        "$avg" => () => new AverageAccumulator(),
        "$min" => () => new ExtremeAccumulator(isGreatest: false),
        "$max" => () => new ExtremeAccumulator(isGreatest: true),
        "$first" => () => new FirstAccumulator(),
        "$last" => () => new LastAccumulator(),
        "$push" => () => new PushAccumulator(),
        "$addToSet" => () => new SetAccumulator(),
        _ => null,
    };
}

/// <summary>Adds up what is a number.</summary>
internal sealed class SumAccumulator : Accumulator
{
    private readonly RunningSum _sum = new();

    public override BsonValue Result => _sum.Total;

    public override void Add(BsonValue? value)
    {
        if (value is { } known && known.IsNumber)
            _sum.Add(known);
    }
}

/// <summary>The mean of what is a number; null when nothing is.</summary>
internal sealed class AverageAccumulator : Accumulator
{
    private readonly RunningSum _sum = new();

    public override BsonValue Result => _sum.Average;

    public override void Add(BsonValue? value)
    {
        if (value is { } known && known.IsNumber)
            _sum.Add(known);
    }
}

/// <summary>The least or greatest of what is neither missing nor null.</summary>
internal sealed class ExtremeAccumulator(bool isGreatest) : Accumulator
{
    private BsonValue? _best;

    public override BsonValue Result => _best ?? Values.Null;

    public override long HeldBytes => _best?.Bytes.Length ?? 0;

    public override void Add(BsonValue? value)
    {
        if (Values.IsNullish(value))
            return;
        int order = _best == null ? 1 : Values.Compare(value, _best);
        if (_best == null || (isGreatest ? order > 0 : order < 0))
            _best = value;
    }
}

internal sealed class FirstAccumulator : Accumulator
{
    private BsonValue? _first;
    private bool _isGiven;

    public override BsonValue Result => _first ?? Values.Null;

    public override long HeldBytes => _first?.Bytes.Length ?? 0;

    public override void Add(BsonValue? value)
    {
        if (!_isGiven)
            (_first, _isGiven) = (value, true);
    }
}

internal sealed class LastAccumulator : Accumulator
{
    private BsonValue? _last;

    public override BsonValue Result => _last ?? Values.Null;

    public override long HeldBytes => _last?.Bytes.Length ?? 0;

    public override void Add(BsonValue? value) => _last = value;
}

/// <summary>Every value that is there, in the order in which they come.</summary>
internal sealed class PushAccumulator : Accumulator
{
    private readonly List<BsonValue> _values = [];
    private readonly ArrayMemory _memory = new();

    public override BsonValue Result => Values.Array(_values);

    public override long HeldBytes => _memory.Bytes;

    public override void Add(BsonValue? value)
    {
        if (value is not { } known)
            return;
        _memory.Add(known);
        _values.Add(known);
    }
}

/// <summary>Every value once.</summary>
internal sealed class SetAccumulator : Accumulator
{
    private readonly HashSet<string> _keys = [];
    private readonly List<BsonValue> _values = [];
    private readonly ArrayMemory _memory = new();

    public override BsonValue Result => Values.Array(_values);

    public override long HeldBytes => _memory.Bytes;

    public override void Add(BsonValue? value)
    {
        if (value is not { } known || !_keys.Add(Values.KeyOf(known)))
            return;
        // The key is a text, of twice the value's size and more.
        _memory.Add(known, copies: 3);
        _values.Add(known);
    }
}

/// <summary>Bounds what an array of a group may take.</summary>
internal sealed class ArrayMemory
{
    private const int BytesOfElement = 48;
    private int _count;
    private long _bytes;

    public long Bytes => _bytes;

    /// <param name="value">Another element.</param>
    /// <param name="copies">What it takes, in multiples of its size.</param>
    public void Add(BsonValue value, int copies = 1)
    {
        long bytes = ((long)copies * value.Bytes.Length) + BytesOfElement;
        if (_bytes + bytes > ActiveOperation.MaximumHeldBytes)
        {
            throw new CommandException(146, "ExceededMemoryLimit",
                $"Used too much memory for a single array. Memory limit: {ActiveOperation.MaximumHeldBytes} bytes. "
                + $"The array contains {_count} elements and is of size {_bytes} bytes. The element being added has size {bytes} bytes.");
        }

        _bytes += bytes;
        _count++;
    }
}
