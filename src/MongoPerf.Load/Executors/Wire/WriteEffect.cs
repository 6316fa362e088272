using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>
/// What an update must have done, which the server's counts are held against: a server may answer ok and have done nothing.
/// </summary>
/// <remarks>
/// A mongos, for one, sends a replacement to the shard of its own shard key, whatever shard holds the document. For all threads.
/// </remarks>
public sealed class WriteEffect
{
    private const string FindAndModifyName = "findAndModify";

    private readonly string _command;
    private readonly bool _mustMatch;
    private readonly bool _mustModify;
    private readonly bool _upserts;

    private WriteEffect(string command, bool mustMatch, bool mustModify, bool upserts) =>
        (_command, _mustMatch, _mustModify, _upserts) = (command, mustMatch, mustModify, upserts);

    /// <summary>The effect that an operation is known to have; null where it may rightly do nothing, or where no reply tells.</summary>
    public static WriteEffect? Of(Operation operation) => operation switch
    {
        { Concerns.IsUnacknowledged: true } => null,
        UpdateDocuments update when update.MustMatch || update.MustModify || update.Upsert =>
            new WriteEffect(update.IsReplacement ? "replace" : "update", update.MustMatch, update.MustModify, update.Upsert),
        FindAndModify { MustMatch: true } change => new WriteEffect(FindAndModifyName, mustMatch: true, mustModify: false, change.Upsert),
        _ => null,
    };

    /// <param name="documents">The documents that the server counts: matched or inserted.</param>
    /// <param name="upserted">Inserted ones among them.</param>
    /// <param name="modified">Changed ones among them.</param>
    public bool IsMet(long documents, long upserted, long modified) =>
        (documents > 0 || !(_mustMatch || _upserts)) && (upserted == 0 || !_mustMatch)
        && (modified >= documents - upserted || !_mustModify);

    /// <summary>What an effect that <see cref="IsMet"/> denies was instead. Allocates.</summary>
    /// <inheritdoc cref="IsMet"/>
    public ServerError ErrorOf(long documents, long upserted, long modified)
    {
        // Where it upserts, findAndModify brings no document only if it inserted one.
        if (upserted > 0 ? _mustMatch : documents == 0 && _upserts && _command == FindAndModifyName)
        {
            string inserted = $"{_command} inserted a document: the one that it is about was not found";
            return new ServerError(0, ErrorCount.UnexpectedUpsert, inserted, []);
        }

        string message = documents == 0
            ? $"{_command} changed nothing: matched 0 of 1 documents"
            : $"{_command} changed too little: matched {documents}, modified {modified}";
        return new ServerError(0, ErrorCount.NothingChanged, message, []);
    }
}
