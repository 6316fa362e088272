using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>
/// compact and validate. As on mongod, they take fields that they do not know: old drivers send validate <c>scandata</c>.
/// </summary>
internal static class MaintenanceCommands
{
    public static void Compact(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        Collection collection = session.FindCollection(CommandSession.CollectionName(reader))
            ?? throw CommandException.NamespaceNotFound("collection does not exist");
        long before = StatisticsCommands.TotalBytes(collection);
        using (CollectionUse.ToRead(session, collection))
        {
            if (!collection.IsDropped)
                collection.Compact();
        }

        Numbers.Write(reply.Body, "bytesFreed"u8, Math.Max(0, before - StatisticsCommands.TotalBytes(collection)));
        reply.Succeed();
    }

    public static void Validate(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        Collection collection = session.FindCollection(CommandSession.CollectionName(reader))
            ?? throw CommandException.NamespaceNotFound($"Collection '{session.Database}.{reader.StringText}' does not exist to validate.");
        CollectionReport report = Check(session, collection);
        Write(reply.Body, collection, report);
        reply.Succeed();
    }

    private static CollectionReport Check(CommandSession session, Collection collection)
    {
        using var use = CollectionUse.ToRead(session, collection);
        if (collection.IsDropped)
            throw CommandException.NamespaceNotFound($"Collection '{collection.Namespace}' does not exist to validate.");
        // Writers wait, so that records and keys are of one moment.
        using (collection.Writer.Gate.Enter())
            return CollectionCheck.Run(collection);
    }

    private static void Write(BsonWriter body, Collection collection, CollectionReport report)
    {
        body.WriteString("ns"u8, collection.Namespace);
        Numbers.Write(body, "nInvalidDocuments"u8, report.InvalidDocuments);
        body.WriteInt32("nNonCompliantDocuments"u8, 0);
        Numbers.Write(body, "nrecords"u8, report.Records);
        body.WriteInt32("nIndexes"u8, report.Indexes.Count);
        body.StartDocument("keysPerIndex"u8);
        foreach (IndexReport index in report.Indexes)
            Numbers.Write(body, System.Text.Encoding.UTF8.GetBytes(index.Name), index.Keys);
        body.End();
        body.StartDocument("indexDetails"u8);
        foreach (IndexReport index in report.Indexes)
        {
            body.StartDocument(System.Text.Encoding.UTF8.GetBytes(index.Name));
            body.WriteBoolean("valid"u8, index.IsValid);
            body.End();
        }

        body.End();
        body.WriteBoolean("valid"u8, report.IsValid);
        body.WriteBoolean("repaired"u8, false);
        WriteTexts(body, "warnings"u8, []);
        WriteTexts(body, "errors"u8, report.Errors);
        foreach (string name in (string[])["extraIndexEntries", "missingIndexEntries", "corruptRecords"])
            WriteTexts(body, System.Text.Encoding.UTF8.GetBytes(name), []);
    }

    private static void WriteTexts(BsonWriter body, ReadOnlySpan<byte> name, IReadOnlyList<string> texts)
    {
        body.StartArray(name);
        for (int i = 0; i < texts.Count; i++)
            body.WriteString(ArrayNames.Of(i), texts[i]);
        body.End();
    }
}
