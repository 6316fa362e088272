using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>A field that some documents have and others lack; as it need not be there, nothing refers to it.</summary>
/// <param name="share">The share of documents that have it, 0 to 1.</param>
/// <param name="value">Its value.</param>
/// <param name="salt">The field's own.</param>
public sealed class OptionalValue(double share, TemplateValue value, ulong salt) : TemplateValue
{
    public override IEnumerable<TemplateValue> Parts => [value];

    public override TemplateValue Bind(StepValues values) => new OptionalValue(share, value.Bind(values), salt);

    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
    {
        if ((context.BitsOf(salt) >> 11) * (1.0 / (1UL << 53)) < share)
            value.Write(writer, name, context);
    }
}
