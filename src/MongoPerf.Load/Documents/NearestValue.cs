using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>
/// A value that some documents lack, of the nearest one that has it: the document of the context, one before it, or, where none of
/// those does, the first one after it. So whoever asks for it finds a document, where all up to the context's are there.
/// </summary>
/// <param name="documents">The documents.</param>
/// <param name="optional">The fields that a document with the value has: itself, or those that it is in; together not too rare.</param>
/// <param name="value">The value.</param>
public sealed class NearestValue(DocumentTemplate documents, IReadOnlyList<OptionalValue> optional, TemplateValue value) : TemplateValue
{
    public override IEnumerable<TemplateValue> Parts => [value];

    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
    {
        ValueContext at = context;
        int step = -1;
        while (!IsIn(at))
        {
            if (at.Number <= 0 && step < 0)
                (step, at) = (1, context);
            at = documents.ContextOf(at.Number + step);
        }

        value.Write(writer, name, at);
    }

    private bool IsIn(in ValueContext context)
    {
        foreach (OptionalValue one in optional)
        {
            if (!one.IsIn(context))
                return false;
        }

        return true;
    }
}
