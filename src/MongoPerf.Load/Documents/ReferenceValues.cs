using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>A field of the document that an operation is about, computed anew from its number: so a query finds what is there.</summary>
public static class ReferenceValue
{
    /// <param name="documents">The documents of the collection.</param>
    /// <param name="field">One of its values.</param>
    public static TemplateValue Of(DocumentTemplate documents, TemplateValue field) =>
        field is FixedValue value ? new FixedReference(documents, value) : new VaryingReference(documents, field);

    /// <summary>The field that a value refers to; null for a value that is no reference.</summary>
    public static TemplateValue? FieldOf(TemplateValue value) => value switch
    {
        FixedReference reference => reference.Field,
        VaryingReference reference => reference.Field,
        _ => null,
    };

    private sealed class FixedReference(DocumentTemplate documents, FixedValue fixedValue) : FixedValue(fixedValue.Type, fixedValue.Length)
    {
        /// <inheritdoc cref="VaryingReference.Field"/>
        public FixedValue Field => fixedValue;

        public override void Fill(Span<byte> value, in ValueContext context) => fixedValue.Fill(value, documents.ContextOf(context.Number));
    }

    /// <summary>A field whose length varies, or that has fields of its own.</summary>
    private sealed class VaryingReference(DocumentTemplate documents, TemplateValue inner) : TemplateValue
    {
        /// <summary>What it refers to.</summary>
        public TemplateValue Field => inner;

        public override bool IsConstant => inner.IsConstant;

        public override IEnumerable<TemplateValue> Parts => [inner];

        public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context) =>
            inner.Write(writer, name, documents.ContextOf(context.Number));
    }
}
