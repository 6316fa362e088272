using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Load.Executors.Tyrant;

/// <summary>A scenario's find as a search of the table.</summary>
/// <exception cref="OperationLimitException">The find asks for what a search can't do.</exception>
internal sealed class TyrantFindDocuments(TyrantExecutor executor, FindDocuments operation, OperationContext context) : IPreparedOperation
{
    private readonly TyrantSearch _search = TyrantSearch.Fetching(operation, executor.Columns);
    private readonly BsonWriter _scratch = new();
    private readonly TyrantRecord _expected = new();
    private OperationDraws _draws = new(operation, context);
    private long _number;

    public ServerError? LastError => _search.LastError;

    public bool Draw()
    {
        ValueContext values = _draws.Next();
        _number = values.Number;
        _scratch.Clear();
        operation.Filter.WriteRoot(_scratch, values);
        _search.Write(_scratch.Written);
        return true;
    }

    public OperationOutcome Execute() => _search.Execute(executor.Connection);

    public VerificationOutcome Verify()
    {
        if (operation is not { Expected: not null, IsOfKey: true, Projection: null })
            return default;
        _scratch.Clear();
        operation.Expected.Write(_scratch, _number);
        _expected.Read(_scratch.Written);
        int right = 0;
        TyrantReply reply = executor.Connection.LastReply;
        foreach (ReadOnlySpan<byte> element in reply)
        {
            TyrantRecord.Split(element, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> columns);
            if (key.SequenceEqual(_expected.Key) && columns.SequenceEqual(_expected.Columns))
                right++;
        }

        // The document must be there: none at all is one wrong.
        int seen = Math.Max(reply.Count, 1);
        return new VerificationOutcome(seen, seen - right);
    }

    public void Complete()
    {
    }
}
