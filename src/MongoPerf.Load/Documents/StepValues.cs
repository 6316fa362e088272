using System.Buffers.Binary;
using System.Buffers.Text;
using System.Globalization;
using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>Where in what earlier steps brought a value stands: the step, and fields or places in arrays.</summary>
/// <remarks>
/// Where an array stands, the next part of the path is an element's number, <see cref="Middle"/>, <see cref="Last"/>, <see cref="Same"/> or
/// <see cref="Size"/>. Where it is none of these, the first element is meant: <c>order.customer</c> is the customer of the first document
/// that was found.
/// </remarks>
public sealed class ValuePath
{
    /// <summary>In place of a slot: which element the step's <c>each</c> is at, from 1.</summary>
    public const int PlaceSlot = -1;

    /// <summary>In an array: the element in its middle, of an even number the one before it.</summary>
    public const string Middle = "middle";

    /// <summary>In an array: its last element.</summary>
    public const string Last = "last";

    /// <summary>In an array: the element at the same place as that of the step's own <c>each</c>.</summary>
    public const string Same = "each";

    /// <summary>Of an array: how many elements it has.</summary>
    public const string Size = "size";

    private const int First = -1;
    private const int InTheMiddle = -2;
    private const int AtTheSamePlace = -3;
    private const int HowMany = -4;
    private const int InTheEnd = -5;

    private readonly (byte[] Name, int Index)[] _steps;

    /// <param name="text">As it is written, such as order.items.0.product.</param>
    /// <param name="slot">Of the step, in <see cref="StepValues"/>.</param>
    public ValuePath(string text, int slot)
    {
        Text = text;
        Slot = slot;
        _steps = [.. text.Split('.').Skip(1).Select(step => (Encoding.UTF8.GetBytes(step), step switch
        {
            Middle => InTheMiddle,
            Last => InTheEnd,
            Same => AtTheSamePlace,
            Size => HowMany,
            _ => int.TryParse(step, NumberStyles.None, CultureInfo.InvariantCulture, out int index) ? index : First,
        }))];
    }

    public string Text { get; }

    public int Slot { get; }

    /// <summary>Follows the path from what the step brought.</summary>
    /// <param name="type">Of the value.</param>
    /// <param name="value">What the step brought, and then what stands there.</param>
    /// <param name="values">The values that it is followed in.</param>
    /// <returns>False where there is nothing.</returns>
    internal bool TryFollow(ref BsonType type, ref ReadOnlySpan<byte> value, StepValues values)
    {
        foreach ((byte[] name, int index) in _steps)
        {
            if (type == BsonType.Array && index == First && !TryTake(ref type, ref value, 0))
                return false;
            if (type == BsonType.Array)
            {
                if (index == HowMany)
                {
                    value = values.Number(Count(value));
                    type = BsonType.Int32;
                    continue;
                }

                int at = index switch
                {
                    InTheMiddle => (Count(value) - 1) / 2,
                    InTheEnd => Count(value) - 1,
                    AtTheSamePlace => values.Element,
                    _ => index,
                };
                if (!TryTake(ref type, ref value, at))
                    return false;
                continue;
            }

            if (type != BsonType.Document)
                return false;
            var reader = new BsonReader(value);
            if (!reader.Find(name))
                return false;
            type = reader.Type;
            value = reader.Value;
        }

        return true;
    }

    private static int Count(ReadOnlySpan<byte> array)
    {
        var items = new BsonReader(array);
        int count = 0;
        while (items.Read())
            count++;
        return count;
    }

    /// <summary>Arrays are read by place: what several replies brought is put together.</summary>
    private static bool TryTake(ref BsonType type, ref ReadOnlySpan<byte> array, int index)
    {
        var items = new BsonReader(array);
        for (int i = 0; items.Read(); i++)
        {
            if (i == index)
            {
                type = items.Type;
                array = items.Value;
                return true;
            }
        }

        return false;
    }
}

/// <summary>What the steps of one worker's operation have brought, in buffers that are used again.</summary>
/// <remarks>One thread. Nothing allocates once the buffers have grown.</remarks>
public sealed class StepValues
{
    private readonly Slot[] _slots;
    private readonly byte[] _number = new byte[sizeof(int)];

    /// <param name="slots">How many there are.</param>
    public StepValues(int slots) => _slots = [.. Enumerable.Range(0, slots).Select(_ => new Slot())];

    /// <summary>
    /// What the first value that could not be made since <see cref="Clear"/> lacks: the end of a sentence about its step. Null for none.
    /// </summary>
    public string? Problem { get; private set; }

    /// <summary>Which element the step that is being done is at, 0-based; -1 for a step without <c>each</c>.</summary>
    public int Element { get; set; } = -1;

    /// <summary>Nothing has been brought yet.</summary>
    public void Clear()
    {
        foreach (Slot slot in _slots)
            slot.Clear();
        Problem = null;
    }

    /// <summary>A step has brought nothing.</summary>
    public void Forget(int slot) => _slots[slot].Clear();

    public void Fail(string problem) => Problem ??= problem;

    public void Set(int slot, BsonType type, ReadOnlySpan<byte> value) => _slots[slot].Set(type, value);

    /// <summary>Starts an array, which <see cref="Append"/> adds to.</summary>
    public void StartArray(int slot) => _slots[slot].Start();

    /// <summary>Adds one element.</summary>
    public void Append(int slot, BsonType type, ReadOnlySpan<byte> value) => _slots[slot].Append(type, value);

    /// <summary>Adds the elements of another array.</summary>
    public void AppendAll(int slot, ReadOnlySpan<byte> array)
    {
        var items = new BsonReader(array);
        while (items.Read())
            _slots[slot].Append(items.Type, items.Value);
    }

    /// <summary>Adds what is in one slot to the array in another.</summary>
    public void AppendFrom(int slot, int source)
    {
        if (_slots[source].IsSet)
            _slots[slot].Append(_slots[source].Type, _slots[source].Value);
        else
            _slots[slot].Append(BsonType.Null, []);
    }

    /// <summary>A number as a value, until the next one is asked for.</summary>
    internal ReadOnlySpan<byte> Number(int number)
    {
        BinaryPrimitives.WriteInt32LittleEndian(_number, number);
        return _number;
    }

    /// <returns>False where there is nothing.</returns>
    public bool TryFind(ValuePath path, out BsonType type, out ReadOnlySpan<byte> value)
    {
        if (path.Slot == ValuePath.PlaceSlot)
        {
            type = BsonType.Int32;
            value = Number(Element + 1);
            return true;
        }

        Slot slot = _slots[path.Slot];
        type = slot.Type;
        value = slot.Value;
        return slot.IsSet && path.TryFollow(ref type, ref value, this);
    }

    private sealed class Slot
    {
        private readonly BsonWriter _writer = new(256);
        private int _count;
        private bool _isOpen;

        public bool IsSet { get; private set; }

        public BsonType Type { get; private set; }

        public ReadOnlySpan<byte> Value
        {
            get
            {
                if (_isOpen)
                {
                    _writer.WriteRawByte(0);
                    _writer.PatchInt32(0, _writer.Length);
                    _isOpen = false;
                }

                return _writer.Written;
            }
        }

        public void Clear() => IsSet = _isOpen = false;

        public void Set(BsonType type, ReadOnlySpan<byte> value)
        {
            _writer.Clear();
            _writer.WriteRaw(value);
            (Type, IsSet, _isOpen) = (type, true, false);
        }

        public void Start()
        {
            _writer.Clear();
            _writer.WriteRawInt32(0);
            (Type, IsSet, _isOpen, _count) = (BsonType.Array, true, true, 0);
        }

        public void Append(BsonType type, ReadOnlySpan<byte> value)
        {
            if (!_isOpen)
                _writer.Truncate(_writer.Length - 1);
            _isOpen = true;
            Span<byte> name = stackalloc byte[11];
            Utf8Formatter.TryFormat(_count++, name, out int length);
            _writer.WriteValue(name[..length], type, value);
        }
    }
}
