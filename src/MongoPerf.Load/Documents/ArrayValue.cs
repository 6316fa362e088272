using System.Globalization;
using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>An array of one or of random length; its elements are drawn one by one.</summary>
public sealed class ArrayValue : TemplateValue
{
    private readonly LengthRange _length;
    private readonly TemplateValue _element;
    private readonly ulong _salt;
    private readonly byte[][] _names;

    /// <param name="length">Elements.</param>
    /// <param name="element">The value of each element.</param>
    /// <param name="salt">The value's own.</param>
    public ArrayValue(LengthRange length, TemplateValue element, ulong salt)
    {
        _length = length;
        _element = element;
        _salt = salt;
        _names = [.. Enumerable.Range(0, length.Max).Select(i => Encoding.UTF8.GetBytes(i.ToString(CultureInfo.InvariantCulture)))];
    }

    public override IEnumerable<TemplateValue> Parts => [_element];

    public override TemplateValue Bind(StepValues values) => new ArrayValue(_length, _element.Bind(values), _salt);

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
    public TemplateValue? At(int index) => At(index, null);

    private ElementValue? At(int index, ElementValue? around) =>
        index < _length.Min ? new ElementValue(this, index, _element, around) : null;

    /// <summary>An element, or a value in it.</summary>
    /// <param name="array">Whose element it is.</param>
    /// <param name="index">0-based.</param>
    /// <param name="value">The element, or the value in it.</param>
    /// <param name="around">The element that the array is in; null when it is in none.</param>
    public sealed class ElementValue(ArrayValue array, int index, TemplateValue value, ElementValue? around) : TemplateValue
    {
        public override IEnumerable<TemplateValue> Parts => [value];

        /// <summary>A field of the element, or an element of an array in it.</summary>
        /// <returns>Null when there is none, or not in every element.</returns>
        public TemplateValue? Find(string step) => value switch
        {
            DocumentValue document => document.Find(step) is { } field ? new ElementValue(array, index, field, around) : null,
            ArrayValue inner when int.TryParse(step, NumberStyles.None, CultureInfo.InvariantCulture, out int at) => inner.At(at, this),
            _ => null,
        };

        public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context) =>
            value.Write(writer, name, In(context));

        private ValueContext In(in ValueContext context) => (around is null ? context : around.In(context)).Element(array._salt, index);
    }
}
