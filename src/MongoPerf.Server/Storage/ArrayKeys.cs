using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Storage;

/// <summary>
/// The keys of a document in whose indexed fields an array lies: one for each element, fields below the same array taken
/// from the same element.
/// </summary>
/// <remarks>
/// Source: manual, "Multikey Indexes". A value is remembered by its place in the document, so nothing is copied but into keys.
/// Reused; one thread.
/// </remarks>
internal sealed class ArrayKeys
{
    private IndexField[] _fields = [];
    private Action _append = static () => { };
    private bool _isSparse;
    private KeyBuffer _key = new();
    private FieldState[] _states = [];

    /// <summary>Puts each key into <paramref name="key"/> in turn and calls <paramref name="append"/>.</summary>
    /// <remarks>If sparse, keys of missing fields alone are left out.</remarks>
    /// <exception cref="IndexKeyException">Arrays side by side in two fields, or a number that names both a place and a field.</exception>
    public void Build(IndexField[] fields, ReadOnlySpan<byte> document, KeyBuffer key, Action append, bool isSparse = false)
    {
        (_fields, _key, _append, _isSparse) = (fields, key, append, isSparse);
        Expand(document, new FieldState[fields.Length]);
    }

    private void Expand(ReadOnlySpan<byte> document, FieldState[] states)
    {
        int arrayAt = -1;
        bool isNested = false;
        for (int i = 0; i < states.Length; i++)
        {
            if (states[i].Kind != FieldKind.Open)
                continue;
            FieldState from = states[i];
            states[i] = Walk(document, from.At, _fields[i].Path, from.Step);
            if (states[i].Kind != FieldKind.InArray)
                continue;
            if (arrayAt >= 0 && arrayAt != states[i].At)
                throw new IndexKeyException(
                    $"cannot index parallel arrays [{_fields[i].Path.Text}] "
                    + $"[{_fields[Array.FindIndex(states, state => state.Kind == FieldKind.InArray)].Path.Text}]",
                    IndexKeyException.ParallelArrays);
            arrayAt = states[i].At;
            isNested |= from.IsPlace && states[i].Step == from.Step + 1;
        }

        if (arrayAt < 0)
            WriteKey(document, states);
        else
            ExpandElements(document, arrayAt, states, isNested);
    }

    /// <param name="document">The whole document.</param>
    /// <param name="arrayAt">Where the array starts in it.</param>
    /// <param name="states">How far each field is known.</param>
    /// <param name="isNested">
    /// The array lies in another one, at a place that a path names by its number: it is one value where a path ends with it.
    /// </param>
    private void ExpandElements(ReadOnlySpan<byte> document, int arrayAt, FieldState[] states, bool isNested)
    {
        int arrayLength = new BsonReader(document[arrayAt..]).Document.Length;
        var elements = new BsonReader(document[arrayAt..]);
        bool any = false;
        while (elements.Read())
        {
            any = true;
            int at = arrayAt + elements.ValueOffset;
            var next = (FieldState[])states.Clone();
            for (int i = 0; i < next.Length; i++)
            {
                if (next[i].Kind != FieldKind.InArray)
                    continue;
                next[i] = isNested && next[i].Step == _fields[i].Path.StepCount
                    ? new FieldState(FieldKind.Value, next[i].Step, arrayAt, arrayLength, BsonType.Array)
                    : InElement(document, next[i], elements.Type, at, elements.Value.Length, _fields[i].Path);
            }

            Expand(document, next);
        }

        if (any)
            return;
        // An empty array stands in the index as undefined, below null; fields below it are missing.
        for (int i = 0; i < states.Length; i++)
        {
            if (states[i].Kind == FieldKind.InArray)
                states[i] = states[i] with { Kind = states[i].Step == _fields[i].Path.StepCount ? FieldKind.Undefined : FieldKind.Missing };
        }

        WriteKey(document, states);
    }

    private static FieldState InElement(ReadOnlySpan<byte> document, FieldState state, BsonType type, int at, int length, FieldPath path)
    {
        if (state.Step == path.StepCount)
            return new FieldState(FieldKind.Value, state.Step, at, length, type);
        // A step that is a number means the element of that place, whichever element is looked at.
        if (new BsonReader(document[state.At..]).Find(path.Step(state.Step)))
        {
            if (type == BsonType.Document && new BsonReader(document[at..]).Find(path.Step(state.Step)))
                throw new IndexKeyException(
                    "Ambiguous field name found in array (do not use numeric field names in embedded elements in an array), "
                    + $"field: '{path.Text}'",
                    IndexKeyException.AmbiguousName);
            return state with { Kind = FieldKind.Open, IsPlace = true };
        }

        return state with { Kind = type == BsonType.Document ? FieldKind.Open : FieldKind.Missing, At = at, IsPlace = false };
    }

    /// <summary>Follows a path from a document on to its value, or to the first array on it.</summary>
    private static FieldState Walk(ReadOnlySpan<byte> document, int at, FieldPath path, int step)
    {
        while (true)
        {
            var reader = new BsonReader(document[at..]);
            if (!reader.Find(path.Step(step)))
                return new FieldState(FieldKind.Missing, step, 0, 0, BsonType.Null);
            step++;
            at += reader.ValueOffset;
            if (reader.Type == BsonType.Array)
                return new FieldState(FieldKind.InArray, step, at, 0, BsonType.Array);
            if (step == path.StepCount)
                return new FieldState(FieldKind.Value, step, at, reader.Value.Length, reader.Type);
            if (reader.Type != BsonType.Document)
                return new FieldState(FieldKind.Missing, step, at, 0, reader.Type);
        }
    }

    /// <summary>
    /// The values of the present key, one for each field; to be called while it is handed out. Null for a missing one, undefined
    /// for an empty array.
    /// </summary>
    public BsonDocument Values(ReadOnlySpan<byte> document)
    {
        var writer = new BsonWriter(64);
        writer.StartDocument();
        for (int i = 0; i < _states.Length; i++)
        {
            FieldState state = _states[i];
            BsonType type = state.Kind switch
            {
                FieldKind.Value => state.Type,
                FieldKind.Undefined => BsonType.Undefined,
                _ => BsonType.Null,
            };
            writer.WriteValue(System.Text.Encoding.UTF8.GetBytes(_fields[i].Path.Text), type,
                state.Kind == FieldKind.Value ? document.Slice(state.At, state.Length) : default);
        }

        writer.End();
        return new BsonDocument(writer.ToArray());
    }

    private void WriteKey(ReadOnlySpan<byte> document, FieldState[] states)
    {
        if (_isSparse && Array.TrueForAll(states, state => state.Kind == FieldKind.Missing))
            return;
        _states = states;
        _key.Clear();
        for (int i = 0; i < states.Length; i++)
        {
            FieldState state = states[i];
            bool isDescending = _fields[i].IsDescending;
            if (state.Kind == FieldKind.Value)
                KeyEncoder.Write(_key, state.Type, document.Slice(state.At, state.Length), isDescending, _fields[i].Collation);
            else if (state.Kind == FieldKind.Undefined)
                KeyEncoder.Write(_key, BsonType.Undefined, default, isDescending);
            else
                KeyEncoder.WriteMissing(_key, isDescending);
        }

        _append();
    }

    private enum FieldKind
    {
        /// <summary>The fields to be looked for from a document on, and from the present step.</summary>
        Open,

        /// <summary>Leads into the present array.</summary>
        InArray,
        Value,
        Missing,
        Undefined,
    }

    /// <param name="Kind">How far the field is known.</param>
    /// <param name="Step">Steps of its path that are done.</param>
    /// <param name="At">Where its value, the array, or the document to look in starts in the whole document.</param>
    /// <param name="Length">The value's bytes.</param>
    /// <param name="Type">The value's type.</param>
    /// <param name="IsPlace">For an open field: it is looked for in an array, in the place that the next step names.</param>
    private readonly record struct FieldState(FieldKind Kind, int Step, int At, int Length, BsonType Type, bool IsPlace = false);
}
