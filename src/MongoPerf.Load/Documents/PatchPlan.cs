using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>
/// Where the changing values of a written document stand, when each has a fixed length: the document then is changed in
/// place, not written anew.
/// </summary>
public sealed class PatchPlan
{
    private readonly (int Offset, FixedValue Value)[] _places;

    private PatchPlan(List<(int, FixedValue)> places) => _places = [.. places];

    /// <param name="template">What was written.</param>
    /// <param name="written">The document, from its first byte on.</param>
    /// <returns>Null when a value's length varies.</returns>
    public static PatchPlan? TryMake(DocumentValue template, ReadOnlySpan<byte> written)
    {
        var places = new List<(int, FixedValue)>();
        return TryCollect(template, written, 0, places) ? new PatchPlan(places) : null;
    }

    /// <param name="document">The document as it was written, from its first byte on.</param>
    /// <param name="context">The next one's.</param>
    public void Apply(Span<byte> document, in ValueContext context)
    {
        foreach ((int offset, FixedValue value) in _places)
            value.Fill(document.Slice(offset, value.Length), context);
    }

    private static bool TryCollect(DocumentValue template, ReadOnlySpan<byte> written, int start, List<(int, FixedValue)> places)
    {
        var reader = new BsonReader(written[start..]);
        foreach ((_, TemplateValue value) in template.Elements)
        {
            reader.Read();
            if (value.IsConstant)
                continue;
            if (value is FixedValue patched)
                places.Add((start + reader.ValueOffset, patched));
            else if (value is not DocumentValue nested || !TryCollect(nested, written, start + reader.ValueOffset, places))
                return false;
        }

        return true;
    }
}
