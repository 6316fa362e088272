using MongoPerf.Load.Documents;

namespace MongoPerf.Load.Plans;

/// <summary>An administrative command: createIndexes, dropIndexes, compact, validate, or any that the file writes out.</summary>
/// <param name="Name">Its name in results.</param>
/// <param name="Collection">Its name; empty when the command is about none.</param>
/// <param name="Arguments">The command, its name first.</param>
public sealed record DatabaseCommand(string Name, string Collection, DocumentValue Arguments) : Operation(Name, Collection)
{
    /// <summary>Where it runs, such as admin; null for the scenario's own database.</summary>
    public string? Database { get; init; }

    /// <summary>It may change what the collection holds.</summary>
    public bool MayWrite { get; init; }

    /// <summary>
    /// It is about the collection's files and indexes, wherever they lie: in a sharded deployment each shard that owns a part does it.
    /// </summary>
    public bool IsForOwners { get; init; }

    /// <summary>It gives the free space of the collection's files back.</summary>
    public bool IsCompact => Arguments.Elements[0].Key == "compact";

    /// <summary>The same for one that a primary refuses: it takes none that is not forced.</summary>
    public bool LacksForce => IsCompact && Arguments.Find("force") is null;

    /// <summary>The same, also on a primary.</summary>
    public DatabaseCommand Forced =>
        this with { Arguments = new([.. Arguments.Elements, .. new CommandBuilder().AddFlag("force", true).Build().Elements]) };

    public override bool IsLong => true;

    public override bool IsWrite => MayWrite;

    public override bool IsForCluster => IsForOwners;

    public override DocumentValue ToCommand() =>
        new([.. Arguments.Elements, .. new CommandBuilder().AddOptions(Options).AddWriteConcern(Concerns).Build().Elements]);
}

/// <summary>
/// Makes a collection anew: empty, with its indexes. Those who prepare the scenario's data carry it out, not an executor.
/// </summary>
public sealed record CreateCollection(string Collection) : Operation("create", Collection)
{
    public override bool IsLong => true;

    public override DocumentValue ToCommand() => Command("create").Build();
}

/// <summary>Operations one after the other on the same document, counted and timed as one, such as YCSB's read-modify-write.</summary>
/// <param name="Name">Its name in results.</param>
/// <param name="Collection">Its name.</param>
/// <param name="Operations">Two or more; none inserts. They have the sequence's concerns and options.</param>
public sealed record OperationSequence(string Name, string Collection, IReadOnlyList<Operation> Operations) : Operation(Name, Collection)
{
    public override IReadOnlyList<Operation> Steps =>
        [.. Operations.Select(operation => operation with { Concerns = Concerns, Options = Options })];

    public override IEnumerable<Operation> Leaves => Steps;

    public override Operation Each(Func<Operation, Operation> change) => this with { Operations = [.. Operations.Select(change)] };

    public override bool IsWrite => Operations.Any(operation => operation.IsWrite);

    public override Operation Unchecked => Each(operation => operation.Unchecked);

    public override DocumentValue ToCommand() => throw new NotSupportedException("a sequence is several commands");
}

/// <summary>Sets the balancer of a sharded deployment, and may wait until it has nothing left to do.</summary>
/// <param name="Name">Its name in results.</param>
/// <param name="Mode">on, off, HH:MM-HH:MM (the hours in which it may work, in the servers' time), or <see cref="Now"/>.</param>
/// <param name="Balanced">The collections that are waited for.</param>
/// <param name="Seconds">The seconds to wait at most; 0 sets it and continues.</param>
public sealed record SetBalancer(string Name, string Mode, IReadOnlyList<string> Balanced, double Seconds) : Operation(Name, "")
{
    /// <summary>A window that opens now, and closes when all is balanced or the time is over.</summary>
    public const string Now = "now";

    public override bool IsLong => true;

    public override bool IsForCluster => true;

    /// <summary>What a mongos would be told.</summary>
    public override DocumentValue ToCommand() =>
        new CommandBuilder().AddLiteral(Mode == "off" ? "balancerStop" : "balancerStart", 1).Build();
}

/// <summary>One of the operations of a group.</summary>
/// <param name="Operation">What is done.</param>
/// <param name="Weight">Its share is this over the sum of all; 0 or more.</param>
public sealed record WeightedOperation(Operation Operation, double Weight);
