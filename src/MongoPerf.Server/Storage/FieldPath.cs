using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Storage;

/// <summary>A dotted field name, cut into its steps once; immutable.</summary>
internal sealed class FieldPath
{
    private readonly byte[][] _steps;

    public FieldPath(string text)
    {
        Text = text;
        _steps = [.. text.Split('.').Select(Encoding.UTF8.GetBytes)];
    }

    public string Text { get; }

    public int StepCount => _steps.Length;

    public bool IsSame(FieldPath? other) => ReferenceEquals(this, other) || Text == other?.Text;

    public ReadOnlySpan<byte> Step(int index) => _steps[index];

    /// <summary>Finds the value of a path on which no array lies: one step, or nested documents only.</summary>
    /// <returns>
    /// Present, missing, or — when an array is met — <see cref="PathResult.Array"/>, and the caller looks at every element.
    /// </returns>
    public PathResult Find(ReadOnlySpan<byte> document, out BsonType type, out ReadOnlySpan<byte> value)
    {
        for (int step = 0; ; step++)
        {
            var reader = new BsonReader(document);
            if (!reader.Find(_steps[step]))
                break;
            type = reader.Type;
            value = reader.Value;
            if (type == BsonType.Array)
                return PathResult.Array;
            if (step == _steps.Length - 1)
                return PathResult.Present;
            if (type != BsonType.Document)
                break;
            document = reader.Value;
        }

        type = BsonType.Null;
        value = default;
        return PathResult.Missing;
    }

    /// <summary>Calls <paramref name="visitor"/> with every value that the path reaches, going through arrays as MongoDB does.</summary>
    /// <remarks>
    /// An array at the end is visited element by element and then as a whole. A step that is a number also means a place in an
    /// array; an array that lies in that place at the end is one value, and its elements are not visited.
    /// </remarks>
    /// <returns>True when the visitor asked to stop.</returns>
    public bool Visit<TVisitor>(ReadOnlySpan<byte> document, ref TVisitor visitor)
        where TVisitor : IValueVisitor => Visit(document, 0, ref visitor);

    private bool Visit<TVisitor>(ReadOnlySpan<byte> document, int step, ref TVisitor visitor)
        where TVisitor : IValueVisitor
    {
        var reader = new BsonReader(document);
        if (!reader.Find(_steps[step]))
            return visitor.VisitMissing();
        if (step == _steps.Length - 1)
            return VisitLast(reader.Type, reader.Value, ref visitor);
        return reader.Type switch
        {
            BsonType.Document => Visit(reader.Value, step + 1, ref visitor),
            BsonType.Array => VisitElements(reader.Value, step + 1, ref visitor),
            _ => visitor.VisitMissing(),
        };
    }

    private bool VisitElements<TVisitor>(ReadOnlySpan<byte> array, int step, ref TVisitor visitor)
        where TVisitor : IValueVisitor
    {
        var reader = new BsonReader(array);
        while (reader.Read())
        {
            if (reader.Type == BsonType.Document && Visit(reader.Value, step, ref visitor))
            {
                visitor.StoppedIn(reader.Name);
                return true;
            }

            if (reader.Name.SequenceEqual(_steps[step]) && VisitPlace(reader.Type, reader.Value, step, ref visitor))
                return true;
        }

        return false;
    }

    private bool VisitPlace<TVisitor>(BsonType type, ReadOnlySpan<byte> value, int step, ref TVisitor visitor)
        where TVisitor : IValueVisitor
    {
        if (step == _steps.Length - 1)
            return visitor.Visit(type, value, isElement: false);
        return type switch
        {
            BsonType.Document => Visit(value, step + 1, ref visitor),
            BsonType.Array => VisitElements(value, step + 1, ref visitor),
            _ => false,
        };
    }

    private static bool VisitLast<TVisitor>(BsonType type, ReadOnlySpan<byte> value, ref TVisitor visitor)
        where TVisitor : IValueVisitor
    {
        if (type == BsonType.Array)
        {
            var reader = new BsonReader(value);
            while (reader.Read())
            {
                if (visitor.Visit(reader.Type, reader.Value, isElement: true))
                {
                    visitor.StoppedIn(reader.Name);
                    return true;
                }
            }
        }

        return visitor.Visit(type, value, isElement: false);
    }
}

internal enum PathResult
{
    Missing,
    Present,

    /// <summary>An array lies on the path or at its end; the value found is that array.</summary>
    Array,
}

/// <summary>Looks at the values of a path; each method returns true to stop the walk.</summary>
internal interface IValueVisitor
{
    bool Visit(BsonType type, ReadOnlySpan<byte> value, bool isElement);

    bool VisitMissing();

    /// <summary>
    /// Tells after a stop which element of an array the path went through, without naming it; of arrays in arrays the innermost first.
    /// </summary>
    void StoppedIn(ReadOnlySpan<byte> element);
}
