using MongoPerf.Engine.Workloads.Templates;

namespace MongoPerf.Engine.Workloads.Operations;

/// <summary>A command that is rather administered than asked for: createIndexes, dropIndexes, compact, validate, or any that the file writes out.</summary>
/// <param name="Test">Its name in results.</param>
/// <param name="Collection">Its name; empty when the command is about none.</param>
/// <param name="Arguments">The command, its name first.</param>
public sealed record ServerCommand(string Test, string Collection, DocumentValue Arguments) : CollectionOperation(Test, Collection)
{
    /// <summary>Where it runs, such as admin; null for the scenario's own database.</summary>
    public string? Database { get; init; }

    /// <summary>It may change what the collection holds.</summary>
    public bool MayWrite { get; init; }

    public override bool IsLong => true;

    public override bool IsWrite => MayWrite;

    public override DocumentValue ToCommand() => new([.. Arguments.Elements, .. new CommandBuilder().AddWriteConcern(Concerns).Build().Elements]);
}

/// <summary>Makes a collection anew: empty, with its indexes. Those who prepare the scenario's data carry it out, not an executor.</summary>
/// <param name="Collection">Its name.</param>
public sealed record CreateCollection(string Collection) : CollectionOperation("create", Collection)
{
    public override bool IsLong => true;

    public override DocumentValue ToCommand() => Command("create").Build();
}

/// <summary>Operations one after the other on the same document, counted and timed as one, such as YCSB's read-modify-write.</summary>
/// <param name="Test">Its name in results.</param>
/// <param name="Collection">Its name.</param>
/// <param name="Steps">Two or more; none inserts.</param>
public sealed record OperationSequence(string Test, string Collection, IReadOnlyList<CollectionOperation> Steps) : CollectionOperation(Test, Collection)
{
    public override bool IsWrite => Steps.Any(step => step.IsWrite);

    public override DocumentValue ToCommand() => throw new NotSupportedException("a sequence is several commands");
}

/// <summary>Several operations, each drawn by its weight: what the workers of a phase do.</summary>
/// <param name="Test">The phase's name.</param>
/// <param name="Items">Two or more with different names.</param>
public sealed record OperationMix(string Test, IReadOnlyList<WeightedOperation> Items) : OperationSpecification(Test)
{
    public override IReadOnlyList<OperationSpecification> Parts { get; } = [.. Items.Select(item => item.Operation)];
}

/// <param name="Operation">What is done.</param>
/// <param name="Weight">Its share is this over the sum of all; 0 or more.</param>
public sealed record WeightedOperation(CollectionOperation Operation, double Weight);
