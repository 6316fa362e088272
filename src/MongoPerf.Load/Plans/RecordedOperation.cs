using MongoPerf.Load.Documents;

namespace MongoPerf.Load.Plans;

/// <summary>Requests of one shape in a recording. What is sent, only the recording says.</summary>
/// <param name="Name">The shape, such as <c>find shop.orders {sku, status} sort date</c>.</param>
/// <param name="MayWrite">One of them may change something.</param>
public sealed record RecordedOperation(string Name, bool MayWrite) : Operation(Name, "")
{
    public override bool IsRead => !MayWrite;

    public override bool IsWrite => MayWrite;

    /// <summary>None that is known before: what its requests write is found when the recording is read.</summary>
    public override IReadOnlyList<Operation> Steps => [];

    public override DocumentValue ToCommand() => throw new NotSupportedException("a shape stands for many commands");
}
