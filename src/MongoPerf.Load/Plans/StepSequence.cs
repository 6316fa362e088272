using MongoPerf.Load.Documents;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Plans;

/// <summary>Steps one after the other on one connection, counted and timed as one operation and each by itself.</summary>
/// <param name="Name">Its name in results.</param>
/// <param name="Sequence">One or more, in their order; one of them at least does something.</param>
public sealed record StepSequence(string Name, IReadOnlyList<Step> Sequence)
    : CompositeOperation(Name, Sequence.First(step => step.Operation is not null).Operation!.Collection)
{
    /// <summary>The steps are a transaction, with these options; null for none.</summary>
    public TransactionSettings? Transaction { get; init; }

    /// <summary>Reads see what the session has read and written before, whichever member answers.</summary>
    public bool IsCausal { get; init; }

    public override IEnumerable<Operation> Leaves => Sequence.Select(step => step.Operation).OfType<Operation>();

    public override IReadOnlyList<string> TimedSteps =>
    [
        .. Leaves.Select(leaf => leaf.Name),
        .. Transaction is not null ? [TransactionSettings.Commit, TransactionSettings.Abort]
            : Sequence.Any(step => step.Aborts) ? (string[])[TransactionSettings.Abort]
            : [],
    ];

    public override Operation Each(Func<Operation, Operation> change) => this with
    {
        Sequence = [.. Sequence.Select(step => step.Operation is { } operation ? step with { Operation = change(operation) } : step)],
    };

    public override DocumentValue ToCommand() => throw new NotSupportedException("steps are several commands");
}

/// <summary>How a transaction is begun and committed; what is null the connection string, or the server, decides.</summary>
public sealed record TransactionSettings
{
    /// <summary>What the commit is called among the steps in results.</summary>
    public const string Commit = "commit";

    /// <inheritdoc cref="Commit"/>
    public const string Abort = "abort";

    public string? ReadConcern { get; init; }

    public BsonDocument? WriteConcern { get; init; }

    /// <summary>How long a server may work on the commit.</summary>
    public int? MaxCommitMilliseconds { get; init; }
}

/// <summary>One step: a command, values drawn for later steps, an end on purpose, or a time to think.</summary>
public sealed record Step
{
    /// <summary>Its command, with a name of its own among the steps; null for a step without one.</summary>
    public Operation? Operation { get; init; }

    /// <summary>What it brings, in place of a command's reply; null for any other step.</summary>
    public DocumentValue? Values { get; init; }

    /// <summary>It ends the operation, which counts as done: a transaction is aborted, and is not made again.</summary>
    public bool Aborts { get; init; }

    /// <summary>In <see cref="StepValues"/>: what it brings is kept there; null where no later step asks for it.</summary>
    public int? Keeps { get; init; }

    /// <summary>It is left out unless all of these hold.</summary>
    public IReadOnlyList<StepCondition> Conditions { get; init; } = [];

    /// <summary>It is done once for each element of the array there, which <see cref="ElementSlot"/> then has; null for once.</summary>
    public ValuePath? Each { get; init; }

    /// <summary>Its conditions are about the element that <see cref="Each"/> is at, and decide on each by itself.</summary>
    public bool ChoosesElements { get; init; }

    /// <summary>Of the element that an <see cref="Each"/> is at.</summary>
    public const int ElementSlot = 0;

    public ThinkTime? Think { get; init; }
}

/// <summary>What must hold of a value that an earlier step brought.</summary>
/// <param name="Path">Where it stands.</param>
/// <param name="Comparison">One of <see cref="Comparisons"/>; null asks whether there is anything: no null, no empty array, not 0.</param>
/// <param name="Operand">An array or document of one element: what it is compared with, or for $exists whether.</param>
public sealed record StepCondition(ValuePath Path, string? Comparison, DocumentValue? Operand)
{
    public static IReadOnlyList<string> Comparisons { get; } = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$exists"];
}
