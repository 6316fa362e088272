using System.Collections.Concurrent;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Plans;

/// <summary>A value of another collection's document, drawn as operations draw theirs: its _id, for a reference that is skewed.</summary>
public static class KeyedValue
{
    /// <param name="documents">The other collection's.</param>
    /// <param name="field">One of their values.</param>
    /// <param name="choice">How they are drawn; not one after the other, which depends on what was drawn before.</param>
    /// <param name="count">How many there are, 1 or more.</param>
    /// <param name="salt">The value's own.</param>
    /// <param name="others">Numbers of documents in place of which others are taken; null for none.</param>
    public static TemplateValue Of(DocumentTemplate documents, TemplateValue field, KeyChoice choice, long count, ulong salt,
        IReadOnlyDictionary<long, long>? others = null)
    {
        var draw = new Draw(choice, count, salt, others is { Count: > 0 } ? others : null);
        return field is FixedValue value ? new FixedReference(documents, value, draw) : new VaryingReference(documents, field, draw);
    }

    /// <remarks>A chooser remembers nothing but constants of its count; each thread has its own all the same.</remarks>
    private sealed class Draw(KeyChoice choice, long count, ulong salt, IReadOnlyDictionary<long, long>? others)
    {
        private readonly ConcurrentDictionary<int, KeyChooser> _ofThreads = [];

        public long NumberOf(in ValueContext context)
        {
            var random = new RandomStream(context.BitsOf(salt));
            long number = _ofThreads.GetOrAdd(Environment.CurrentManagedThreadId, static (_, draw) => draw.Open(), this).Next(ref random);
            return others is not null && others.TryGetValue(number, out long other) ? other : number;
        }

        private KeyChooser Open() => choice.Open(new KeySpace(count), 0).ForWorker();
    }

    private sealed class FixedReference(DocumentTemplate documents, FixedValue field, Draw draw) : FixedValue(field.Type, field.Length)
    {
        public override void Fill(Span<byte> value, in ValueContext context) =>
            field.Fill(value, documents.ContextOf(draw.NumberOf(context)));
    }

    private sealed class VaryingReference(DocumentTemplate documents, TemplateValue inner, Draw draw) : TemplateValue
    {
        public override IEnumerable<TemplateValue> Parts => [inner];

        public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context) =>
            inner.Write(writer, name, documents.ContextOf(draw.NumberOf(context)));
    }
}
