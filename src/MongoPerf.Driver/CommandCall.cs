using MongoDB.Bson;
using MongoDB.Driver;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Steps;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;

namespace MongoPerf.Driver;

/// <summary>
/// Any command, by RunCommand. Count and distinct are sent so too: the driver's own count is an aggregation, which another engine's figures
/// could not be compared with.
/// </summary>
internal sealed class CommandCall(IMongoDatabase database, Operation operation, CancellationToken stop) : DriverCall(PartsOf(operation))
{
    private readonly ReadPreference? _preference = DriverValues.PreferenceOf(operation);
    private BsonDocument _command = [];
    private byte[] _reply = [];

    public override OperationOutcome Execute()
    {
        using RawBsonDocument answer = Session is null
            ? database.RunCommand<RawBsonDocument>(_command, _preference, stop)
            : database.RunCommand<RawBsonDocument>(Session, _command, _preference, stop);
        byte[] bytes = _reply = DriverValues.BytesOf(answer);
        OperationReply reply = OperationReply.ParseBody(bytes);
        if (!reply.IsOk)
            LastError = OperationReply.ErrorOf(new Wire.Bson.BsonDocument(bytes));
        return new OperationOutcome(reply.IsOk, (int)Math.Min(reply.Documents, int.MaxValue), reply.Bytes);
    }

    public override void Keep(StepValues values, int slot) => StepReply.Keep(operation, _reply, values, slot);

    protected override void Take(BsonDocument drawn) => _command = drawn;

    /// <summary>The driver adds the read preference itself.</summary>
    private static DocumentValue PartsOf(Operation operation) =>
        new([.. operation.ToCommand().Elements.Where(element => element.Key != "$readPreference")]);
}
