using System.Buffers.Binary;
using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Engine.Execution.Tyrant;

/// <summary>Runs a find as a search of the table; the drawn values are patched into the filter, from which the conditions are written.</summary>
internal sealed class TyrantFind : IPreparedOperation
{
    private readonly TyrantExecutor _executor;
    private readonly TyrantSearch _search;
    private readonly TyrantVerifier _verifier;
    private readonly byte[] _filter;
    private readonly int[] _places;
    private readonly int[] _ranges;
    private readonly int[] _drawn;
    private RandomStream _random;

    /// <exception cref="OperationLimitException">The find asks for what a search can't do.</exception>
    public TyrantFind(TyrantExecutor executor, FindSpecification specification, DocumentGenerator generator, OperationContext context)
    {
        _executor = executor;
        _search = TyrantSearch.Fetching(specification, executor.Columns);
        _verifier = new TyrantVerifier(specification, generator);
        _random = RandomStream.For(context.Seed, RandomPurpose.Arguments, context.Worker);
        _filter = specification.Filter.Bytes.ToArray();
        _places = [.. specification.Parameters.Select(p => BsonPath.ValueOffset(_filter, p.Path, BsonType.Int32))];
        _ranges = [.. specification.Parameters.Select(p => p.Range)];
        _drawn = new int[_places.Length];
    }

    public ServerError? LastError => _search.LastError;

    public bool Draw()
    {
        for (int i = 0; i < _places.Length; i++)
        {
            int value = _random.Next(_ranges[i]);
            _drawn[i] = value;
            BinaryPrimitives.WriteInt32LittleEndian(_filter.AsSpan(_places[i]), value);
        }

        _search.Write(_filter);
        return true;
    }

    public OperationOutcome Execute() => _search.Execute(_executor.Connection);

    public VerificationOutcome Verify() => _verifier.Verify(_executor.Connection.LastReply, _drawn);

    public void Complete()
    {
    }
}
