using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;

namespace MongoPerf.Load.Plans;

/// <summary>
/// Inserts documents of a template; numbers come from the phase's <see cref="NumberSource"/> when it has one, else from
/// the collection's keys.
/// </summary>
/// <param name="Name">Its name in results.</param>
/// <param name="Collection">Its name.</param>
/// <param name="Documents">Makes them.</param>
/// <param name="BatchSize">Documents per command.</param>
/// <param name="Ordered">False lets the server continue after an error.</param>
public sealed record InsertDocuments(string Name, string Collection, DocumentTemplate Documents, int BatchSize, bool Ordered)
    : Operation(Name, Collection)
{
    public override bool IsWrite => true;

    public override bool Inserts => true;

    public override string? ServerCounter => "opcounters_insert";

    public override int DocumentsPerCommand => BatchSize;

    /// <summary>The command without the documents, which follow as a section of their own.</summary>
    public override DocumentValue ToCommand() =>
        Command("insert").AddLiteral("ordered", Ordered ? null : false).AddOptions(Options).AddWriteConcern(Concerns).Build();
}
