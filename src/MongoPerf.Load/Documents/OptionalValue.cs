using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>A field that some documents have and others lack.</summary>
/// <param name="share">The share of documents that have it, 0 to 1.</param>
/// <param name="value">Its value.</param>
/// <param name="salt">The field's own.</param>
public sealed class OptionalValue(double share, TemplateValue value, ulong salt) : TemplateValue
{
    /// <inheritdoc cref="OptionalValue" path="/param[@name='share']"/>
    public double Share => share;

    /// <summary>What it is where it is there.</summary>
    public TemplateValue Value => value;

    public override IEnumerable<TemplateValue> Parts => [value];

    /// <summary>The document of the context has it.</summary>
    public bool IsIn(in ValueContext context) => (context.BitsOf(salt) >> 11) * (1.0 / (1UL << 53)) < share;

    public override TemplateValue Bind(StepValues values) => new OptionalValue(share, value.Bind(values), salt);

    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
    {
        if (IsIn(context))
            value.Write(writer, name, context);
    }
}
