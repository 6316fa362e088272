using MongoPerf.Load.Documents;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Plans;

/// <summary>What an update does to the fields of a document, as far as the update itself tells.</summary>
public static class UpdateFields
{
    /// <summary>A whole document, rather than operators or a pipeline.</summary>
    /// <param name="update">The update as an update command takes it.</param>
    public static bool IsReplacement(TemplateValue update) =>
        FieldsOf(update) is { IsArray: false } document && document.Elements is not [{ Key: ['$', ..] }, ..];

    /// <summary>The fields of the first level that an update may give another value.</summary>
    /// <remarks>A replacement leaves those that it fills from the stored document as they were.</remarks>
    /// <param name="update">The update as an update command takes it.</param>
    /// <param name="documents">The documents of the collection.</param>
    /// <returns>Null where it may be any field.</returns>
    public static IReadOnlySet<string>? Changed(TemplateValue update, DocumentTemplate documents)
    {
        if (FieldsOf(update) is not { IsArray: false } document)
            return null;
        if (IsReplacement(update))
        {
            return documents.Files.Any(file => file.Fields.AreTooMany) ? null : documents.Root.Names.Concat(document.Names)
                .Where(name => name != "_id" && !Keeps(document, documents, name)).ToHashSet();
        }

        var changed = new HashSet<string>();
        foreach ((string name, TemplateValue value) in document.Elements)
        {
            // What $rename writes may be drawn.
            if (name == "$rename" || FieldsOf(value) is not { } fields)
                return null;
            changed.UnionWith(fields.Elements.Select(e => e.Key.Split('.')[0]));
        }

        return changed;
    }

    /// <summary>No document stays as it was: <c>$inc</c> by a whole number other than 0, or <c>$push</c> of one value.</summary>
    /// <remarks>A double may be so large that adding to it changes nothing.</remarks>
    /// <param name="update">The update as an update command takes it.</param>
    /// <param name="documents">The documents of the collection.</param>
    public static bool AlwaysModifies(TemplateValue update, DocumentTemplate documents) => FieldsOf(update) is { IsArray: false } document
        && document.Elements.Any(e => FieldsOf(e.Value) is { } fields && fields.Elements.Any(field => e.Key switch
        {
            "$inc" => field.Value is LiteralValue { Value: { Type: BsonType.Int32 or BsonType.Int64 } amount } && amount.ToInt64() != 0
                && documents.Find(field.Key) is not DoubleValue and not LiteralValue { Value.Type: BsonType.Double },
            "$push" => FieldsOf(field.Value) is null,
            _ => false,
        }));

    /// <summary>The field has the value that it was stored with.</summary>
    private static bool Keeps(DocumentValue replacement, DocumentTemplate documents, string field) =>
        replacement.Find(field) is { } value && ReferenceValue.FieldOf(value) is { } source
        && ReferenceEquals(source, documents.Root.Find(field));

    private static DocumentValue? FieldsOf(TemplateValue value) =>
        value as DocumentValue
        ?? (value is LiteralValue { Value.Type: BsonType.Document } literal ? DocumentValue.Of(literal.Value.ToDocument()) : null);
}
