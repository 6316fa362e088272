using System.Globalization;
using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Engine.Documents;

/// <summary>An array of one or of random length; its elements are drawn one by one.</summary>
public sealed class ArrayValue : TemplateValue
{
    private readonly LengthRange _length;
    private readonly TemplateValue _element;
    private readonly ulong _salt;
    private readonly byte[][] _names;

    /// <param name="length">Elements.</param>
    /// <param name="element">Of each.</param>
    /// <param name="salt">The value's own.</param>
    public ArrayValue(LengthRange length, TemplateValue element, ulong salt)
    {
        _length = length;
        _element = element;
        _salt = salt;
        _names = [.. Enumerable.Range(0, length.Max).Select(i => Encoding.UTF8.GetBytes(i.ToString(CultureInfo.InvariantCulture)))];
    }

    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
    {
        int count = _length.Draw(context.BitsOf(_salt));
        writer.StartArray(name);
        for (int i = 0; i < count; i++)
            _element.Write(writer, _names[i], context.Element(_salt, i));
        writer.End();
    }

    /// <summary>One of its elements as a value by itself.</summary>
    /// <returns>Null when not every array is that long.</returns>
    public TemplateValue? At(int index) => index < _length.Min ? new ElementValue(this, index) : null;

    private sealed class ElementValue(ArrayValue array, int index) : TemplateValue
    {
        public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context) =>
            array._element.Write(writer, name, context.Element(array._salt, index));
    }
}
