using System.Runtime.CompilerServices;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>
/// The places of fields that a pipeline has taken out of a document: one that a later stage sets anew comes back to its
/// place, as in MongoDB.
/// </summary>
/// <remarks>Belongs to one document between two stages, and is forgotten with it. Immutable.</remarks>
/// <param name="Order">All names of one level in their order, those taken out included; of an array the indexes.</param>
/// <param name="Inner">The gaps of the fields that have such themselves.</param>
internal sealed record FieldGaps(string[] Order, IReadOnlyDictionary<string, FieldGaps> Inner)
{
    private const int BytesOfName = 32;

    private static readonly ConditionalWeakTable<BsonDocument, FieldGaps> Known = [];

    /// <summary>What these hold in memory, roughly.</summary>
    public long Bytes => Order.Sum(name => BytesOfName + (2L * name.Length)) + Inner.Values.Sum(inner => inner.Bytes);

    public static FieldGaps? Of(BsonDocument document) => Known.TryGetValue(document, out FieldGaps? gaps) ? gaps : null;

    /// <summary>Lets a document that came from another one keep its places.</summary>
    public static BsonDocument Keep(FieldGaps? gaps, BsonDocument document)
    {
        if (gaps != null)
            Known.AddOrUpdate(document, gaps);
        return document;
    }

    /// <summary>The fields of a level with its gaps between them.</summary>
    public static List<FieldSlot> Slots(IEnumerable<KeyValuePair<string, BsonValue>> fields, FieldGaps? gaps)
    {
        if (gaps == null)
            return [.. fields.Select(field => new FieldSlot(field.Key, field.Value, null))];
        // Back to front: what comes next is taken from the end of the list.
        var left = new List<KeyValuePair<string, BsonValue>>(fields);
        left.Reverse();
        var slots = new List<FieldSlot>();
        foreach (string name in gaps.Order)
        {
            ActiveOperation.Check();
            int at = left.FindLastIndex(field => field.Key == name);
            slots.Add(new FieldSlot(name, at >= 0 ? left[at].Value : null, gaps.Inner.GetValueOrDefault(name)));
            if (at >= 0)
                left.RemoveAt(at);
        }

        left.Reverse();
        return [.. slots, .. left.Select(field => new FieldSlot(field.Key, field.Value, null))];
    }

    /// <returns>Null where nothing was taken out.</returns>
    public static FieldGaps? Between(List<FieldSlot> slots) => slots.Exists(slot => slot.Value == null || slot.Gaps != null)
        ? new FieldGaps([.. slots.Select(slot => slot.Name)],
            slots.Where(slot => slot.Gaps != null).DistinctBy(slot => slot.Name).ToDictionary(slot => slot.Name, slot => slot.Gaps!))
        : null;
}

/// <summary>A field under change, or the place of one.</summary>
/// <param name="Name">The name of the field.</param>
/// <param name="Value">Null where it was taken out.</param>
/// <param name="Gaps">The gaps of the document or array that is the value.</param>
internal readonly record struct FieldSlot(string Name, BsonValue? Value, FieldGaps? Gaps);
