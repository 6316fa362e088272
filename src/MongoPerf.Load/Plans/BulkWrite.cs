using MongoPerf.Load.Documents;

namespace MongoPerf.Load.Plans;

/// <summary>Operations that a file puts together as one: each draws its own document, and they have one latency.</summary>
/// <param name="Name">Its name in results.</param>
/// <param name="Collection">The collection of its first operation.</param>
public abstract record CompositeOperation(string Name, string Collection) : Operation(Name, Collection)
{
    public override IReadOnlyList<Operation> Steps => [.. Leaves.SelectMany(leaf => leaf.Steps)];

    public override bool IsWrite => Leaves.Any(leaf => leaf.IsWrite);

    public override Operation Unchecked => Each(operation => operation.Unchecked);
}

/// <summary>
/// Inserts, updates, replacements and deletes that are sent together: by the server's command bulkWrite where it has that (MongoDB 8.0),
/// otherwise by one command for each run of the same kind.
/// </summary>
/// <param name="Name">Its name in results.</param>
/// <param name="Writes">One or more, in their order; they have the bulk's concerns.</param>
/// <param name="Ordered">False lets the server continue after an error, and the client group them by kind.</param>
public sealed record BulkWrite(string Name, IReadOnlyList<RepeatedWrite> Writes, bool Ordered)
    : CompositeOperation(Name, Writes[0].Operation.Collection)
{
    /// <summary>A server takes no more in one command.</summary>
    public const int MostWrites = 100_000;

    public override int DocumentsPerCommand => Writes.Sum(write => write.Times);

    /// <summary>Of all its writes together: some that match nothing are hidden by others that do.</summary>
    public override bool Matches => Leaves.All(leaf => leaf.Matches);

    public override bool Modifies => Leaves.All(leaf => leaf.Modifies);

    public override long DocumentsOf(Func<Operation, bool> isMeant) =>
        Writes.Where(write => isMeant(write.Operation)).Sum(write => (long)write.Times);

    public override IEnumerable<Operation> Leaves => Writes.Select(write => write.Operation with { Concerns = Concerns });

    /// <summary>The collections that it writes, each once.</summary>
    public IReadOnlyList<string> Collections => [.. Writes.Select(write => write.Operation.Collection).Distinct()];

    public override Operation Each(Func<Operation, Operation> change) =>
        this with { Writes = [.. Writes.Select(write => write with { Operation = change(write.Operation) })] };

    /// <summary>The server's command bulkWrite, without <c>ops</c> and <c>nsInfo</c>, which depend on the database.</summary>
    public DocumentValue ToHead() => new CommandBuilder().AddLiteral("bulkWrite", 1).AddLiteral("errorsOnly", true)
        .AddLiteral("ordered", Ordered ? null : false).AddOptions(Options).AddWriteConcern(Concerns).Build();

    /// <summary>The server's command bulkWrite, each of the writes once.</summary>
    public override DocumentValue ToCommand() => new(
    [
        .. ToHead().Elements,
        KeyValuePair.Create("ops", (TemplateValue)DocumentValue.Array(Writes.Select(write => ToStatement(write.Operation)))),
        KeyValuePair.Create("nsInfo", (TemplateValue)DocumentValue.Array(
            Collections.Select(name => new CommandBuilder().AddLiteral("ns", name).Build()))),
    ]);

    /// <summary>A write as the command bulkWrite takes it; of an insert without its document.</summary>
    public DocumentValue ToStatement(Operation write)
    {
        int place = Collections.ToList().IndexOf(write.Collection);
        return write switch
        {
            UpdateDocuments update => new CommandBuilder().AddLiteral("update", place).Add("filter", update.Filter)
                .Add("updateMods", update.Update).AddFlag("multi", update.Many).AddFlag("upsert", update.Upsert).Add("hint", update.Hint)
                .Add("arrayFilters", update.ArrayFilters).Add("collation", update.Options.Collation).Build(),
            DeleteDocuments delete => new CommandBuilder().AddLiteral("delete", place).Add("filter", delete.Filter)
                .AddFlag("multi", delete.Many).Add("hint", delete.Hint).Add("collation", delete.Options.Collation).Build(),
            InsertDocuments insert => new CommandBuilder().AddLiteral("insert", place).Add("document", insert.Documents.Root).Build(),
            _ => throw new NotSupportedException($"{write.GetType().Name} in a bulk"),
        };
    }

    /// <summary>
    /// The commands that carry it out where the server has none for it, as MongoDB's drivers group them: ordered, one for each run of
    /// writes of the same kind; otherwise one for each kind.
    /// </summary>
    /// <returns>The places in <see cref="Writes"/> that each command carries out.</returns>
    public IReadOnlyList<IReadOnlyList<int>> Grouped()
    {
        var groups = new List<List<int>>();
        for (int i = 0; i < Writes.Count; i++)
        {
            (Type, string) kind = KindOf(i);
            List<int>? group = Ordered ? groups.LastOrDefault() : groups.Find(other => KindOf(other[0]) == kind);
            if (group is null || KindOf(group[0]) != kind)
                groups.Add(group = []);
            group.Add(i);
        }

        return groups;

        (Type, string) KindOf(int place) => (Writes[place].Operation.GetType(), Writes[place].Operation.Collection);
    }
}

/// <param name="Operation">An insert of one document, an update, a replacement or a delete.</param>
/// <param name="Times">How many of them follow one another, each drawn anew; 1 or more.</param>
public sealed record RepeatedWrite(Operation Operation, int Times)
{
    /// <summary>One of them as the commands insert, update and delete take it, which take several: of an insert its document.</summary>
    public DocumentValue ToStatement() => Operation switch
    {
        InsertDocuments insert => insert.Documents.Root,
        DeleteDocuments delete => delete.ToStatement(),
        _ => ((UpdateDocuments)Operation).ToStatement(),
    };
}
