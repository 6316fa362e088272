using System.Text;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Replaying;

/// <summary>
/// Names requests by their shape, such as <c>find shop.orders {sku, status} sort date</c>: command, collection and names of fields, no
/// values.
/// </summary>
internal static class RequestShape
{
    private const int MostFields = 8;
    private const int LongestName = 40;
    private const int Longest = 100;

    /// <param name="message">The request.</param>
    /// <param name="command">Its name.</param>
    /// <param name="database">The database that it was sent to.</param>
    public static string Of(in OpMsg message, string command, string database)
    {
        var text = new StringBuilder(command);
        var body = new BsonReader(message.Body);
        body.Read();
        string? collection = command == "getMore" ? TextOf(message.Body, "collection"u8)
            : body.Type == BsonType.String ? body.StringText : null;
        text.Append(' ').Append(collection is null ? database : $"{database}.{collection}");
        switch (command)
        {
            case "find":
                AddFields(text, Find(message.Body, "filter"u8));
                AddSort(text, Find(message.Body, "sort"u8));
                break;
            case "count":
                AddFields(text, Find(message.Body, "query"u8));
                break;
            case "distinct":
                text.Append(' ').Append(TextOf(message.Body, "key"u8));
                AddFields(text, Find(message.Body, "query"u8));
                break;
            case "findAndModify" or "findandmodify":
                AddFields(text, Find(message.Body, "query"u8));
                AddOperators(text, Find(message.Body, "update"u8));
                AddSort(text, Find(message.Body, "sort"u8));
                break;
            case "update":
                ReadOnlySpan<byte> update = FirstOf(message, "updates"u8);
                AddFields(text, Find(update, "q"u8));
                AddOperators(text, Find(update, "u"u8));
                break;
            case "delete":
                AddFields(text, Find(FirstOf(message, "deletes"u8), "q"u8));
                break;
            case "aggregate":
                AddStages(text, Find(message.Body, "pipeline"u8));
                break;
        }

        return Clean(text);
    }

    /// <summary>The document under that name; empty where there is none.</summary>
    private static ReadOnlySpan<byte> Find(ReadOnlySpan<byte> document, ReadOnlySpan<byte> name)
    {
        if (document.IsEmpty)
            return default;
        var reader = new BsonReader(document);
        return reader.Find(name) && reader.Type is BsonType.Document or BsonType.Array ? reader.Value : default;
    }

    private static string? TextOf(ReadOnlySpan<byte> document, ReadOnlySpan<byte> name)
    {
        var reader = new BsonReader(document);
        return reader.Find(name) && reader.Type == BsonType.String ? reader.StringText : null;
    }

    /// <summary>The first of the statements of a write, wherever they stand.</summary>
    private static ReadOnlySpan<byte> FirstOf(in OpMsg message, ReadOnlySpan<byte> name)
    {
        foreach (DocumentSequence sequence in message.Sequences)
        {
            if (sequence.Name.SequenceEqual(name) && sequence.Documents.Length >= BsonReader.MinimumDocumentLength)
                return sequence.Documents;
        }

        ReadOnlySpan<byte> array = Find(message.Body, name);
        return array.IsEmpty ? default : Find(array, "0"u8);
    }

    private static void AddFields(StringBuilder text, ReadOnlySpan<byte> document)
    {
        text.Append(" {");
        AddNames(text, document);
        text.Append('}');
    }

    private static void AddSort(StringBuilder text, ReadOnlySpan<byte> document)
    {
        if (document.Length <= BsonReader.MinimumDocumentLength)
            return;
        text.Append(" sort ");
        AddNames(text, document);
    }

    private static void AddNames(StringBuilder text, ReadOnlySpan<byte> document)
    {
        if (document.IsEmpty)
            return;
        var reader = new BsonReader(document);
        for (int i = 0; reader.Read(); i++)
        {
            if (i == MostFields)
            {
                text.Append(", …");
                return;
            }

            text.Append(i > 0 ? ", " : "").Append(Short(reader.NameText));
        }
    }

    /// <summary>The operators of an update; of a replacement and of a pipeline that it is one.</summary>
    private static void AddOperators(StringBuilder text, ReadOnlySpan<byte> update)
    {
        if (update.Length <= BsonReader.MinimumDocumentLength)
            return;
        var reader = new BsonReader(update);
        for (int i = 0; i < MostFields && reader.Read(); i++)
        {
            if (reader.Name is not [(byte)'$', ..])
            {
                text.Append(reader.NameIs("0"u8) ? " pipeline" : " replacement");
                return;
            }

            text.Append(' ').Append(Short(reader.NameText));
        }
    }

    private static void AddStages(StringBuilder text, ReadOnlySpan<byte> pipeline)
    {
        if (pipeline.IsEmpty)
            return;
        var stages = new BsonReader(pipeline);
        for (int i = 0; i < MostFields && stages.Read(); i++)
        {
            if (stages.Type != BsonType.Document)
                continue;
            var stage = new BsonReader(stages.Value);
            if (!stage.Read())
                continue;
            text.Append(' ').Append(Short(stage.NameText));
            if (stage.NameIs("$match"u8) && stage.Type == BsonType.Document)
                AddFields(text, stage.Value);
        }
    }

    private static string Short(string name) => name.Length <= LongestName ? name : $"{name.AsSpan(0, LongestName)}…";

    /// <summary>What names a hostile file may have is shown on terminals, and is a key in stored runs.</summary>
    private static string Clean(StringBuilder text)
    {
        if (text.Length > Longest)
            text.Remove(Longest - 1, text.Length - Longest + 1).Append('…');
        for (int i = 0; i < text.Length; i++)
        {
            if (char.IsControl(text[i]) || char.IsSurrogate(text[i]) || text[i] is '\u2028' or '\u2029')
                text[i] = '?';
        }

        return text.ToString();
    }
}
