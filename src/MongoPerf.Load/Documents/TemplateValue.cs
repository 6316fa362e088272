using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>A value of a template: written as often as documents or operations need it, always the same for the same context.</summary>
/// <remarks>Immutable, for all threads. Writing allocates nothing once the writer's buffer has grown.</remarks>
public abstract class TemplateValue
{
    /// <summary>It never changes.</summary>
    public virtual bool IsConstant => false;

    /// <summary>The values that it is made of or drawn from; empty for one that stands for itself.</summary>
    public virtual IEnumerable<TemplateValue> Parts => [];

    /// <summary>The number of the first document that it has no value for; the largest number where it has one for each.</summary>
    public virtual long Limit => long.MaxValue;

    /// <summary>The same with values of earlier steps taken from there; itself where it takes none.</summary>
    public virtual TemplateValue Bind(StepValues values) => this;

    /// <summary>Writes the whole element.</summary>
    public abstract void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context);
}

/// <summary>A value whose type and length are always the same, so that it can be changed in place in a message.</summary>
public abstract class FixedValue(BsonType type, int length) : TemplateValue
{
    public BsonType Type { get; } = type;

    /// <summary>Bytes of the value, without type and name.</summary>
    public int Length { get; } = length;

    /// <param name="value">Exactly <see cref="Length"/> bytes, all of which are written.</param>
    /// <param name="context">What it is computed from.</param>
    public abstract void Fill(Span<byte> value, in ValueContext context);

    public sealed override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
    {
        writer.WriteName(Type, name);
        Fill(writer.Grow(Length), context);
    }
}

/// <summary>A value as it stands in the file.</summary>
public sealed class LiteralValue(BsonValue value) : TemplateValue
{
    private readonly byte[] _bytes = value.Bytes.ToArray();

    public BsonValue Value { get; } = value;

    public override bool IsConstant => true;

    public override IEnumerable<TemplateValue> Parts =>
        Value.Type is BsonType.Document or BsonType.Array ? [DocumentValue.Of(Value.ToDocument())] : [];

    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context) =>
        writer.WriteValue(name, Value.Type, _bytes);
}
