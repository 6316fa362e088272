using MongoPerf.Load.Documents;
using MongoPerf.Measurement;

namespace MongoPerf.Load.Plans;

/// <summary>
/// How the threads of a group come by connections. What that takes is counted as if it were an operation: each wait for a connection of a
/// pool, each opening of one.
/// </summary>
/// <param name="Name">What that is called in results, as <see cref="Storage.OperationResult.NameOf"/> says.</param>
/// <param name="Kind">How.</param>
/// <param name="Count">Connections of a pool, or of a storm, which are its threads; 0 where each operation opens one.</param>
public sealed record ConnectionUse(string Name, ConnectionKind Kind, int Count) : Operation(Name, "")
{
    /// <summary>There is no command.</summary>
    public override DocumentValue ToCommand() => new CommandBuilder().Build();
}
