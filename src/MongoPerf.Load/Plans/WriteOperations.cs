using MongoPerf.Load.Documents;

namespace MongoPerf.Load.Plans;

/// <summary>Changes documents, or replaces one.</summary>
/// <param name="Name">Its name in results.</param>
/// <param name="Collection">Its name.</param>
/// <param name="Filter">Which.</param>
/// <param name="Update">Operators such as $set, a pipeline (an array), or a whole document in place of the old one.</param>
public sealed record UpdateDocuments(
    string Name, string Collection, DocumentValue Filter, TemplateValue Update) : Operation(Name, Collection)
{
    public bool Many { get; init; }

    public bool Upsert { get; init; }

    public TemplateValue? Hint { get; init; }

    /// <summary>Which elements of arrays each <c>$[name]</c> means: an array of filters; null for none.</summary>
    public DocumentValue? ArrayFilters { get; init; }

    /// <summary>
    /// The document that the filter names is there: a reply that counts none, or an upsert that inserts one, is a failure.
    /// </summary>
    public bool MustMatch { get; init; }

    /// <summary>No document stays as it was, so a reply that counts fewer modified than matched documents is a failure.</summary>
    public bool MustModify { get; init; }

    public override bool IsWrite => true;

    public override bool Matches => !Upsert && !Concerns.IsUnacknowledged;

    public override bool Modifies => !Concerns.IsUnacknowledged;

    public override Operation Unchecked => this with { MustMatch = false };

    /// <summary>The update is a whole document in place of the old one.</summary>
    public bool IsReplacement => UpdateFields.IsReplacement(Update);

    public override string? ServerCounter => "opcounters_update";

    /// <summary>The write as a command of several takes it.</summary>
    public DocumentValue ToStatement() => new CommandBuilder()
        .Add("q", Filter).Add("u", Update).AddFlag("multi", Many).AddFlag("upsert", Upsert).Add("hint", Hint)
        .Add("arrayFilters", ArrayFilters).Add("collation", Options.Collation).Build();

    public override DocumentValue ToCommand() => Command("update")
        .Add("updates", DocumentValue.Array([ToStatement()])).AddOptions(Options).AddWriteConcern(Concerns).Build();
}

/// <summary>Deletes one document, or all that meet the filter.</summary>
public sealed record DeleteDocuments(string Name, string Collection, DocumentValue Filter) : Operation(Name, Collection)
{
    public bool Many { get; init; }

    public TemplateValue? Hint { get; init; }

    public override bool IsWrite => true;

    public override bool Matches => !Concerns.IsUnacknowledged;

    public override bool Removes => true;

    public override string? ServerCounter => "opcounters_delete";

    /// <inheritdoc cref="UpdateDocuments.ToStatement"/>
    public DocumentValue ToStatement() => new CommandBuilder()
        .Add("q", Filter).AddLiteral("limit", Many ? 0 : 1).Add("hint", Hint).Add("collation", Options.Collation).Build();

    public override DocumentValue ToCommand() => Command("delete")
        .Add("deletes", DocumentValue.Array([ToStatement()])).AddOptions(Options).AddWriteConcern(Concerns).Build();
}

/// <summary>Changes or removes one document and brings it back.</summary>
/// <param name="Name">Its name in results.</param>
/// <param name="Collection">Its name.</param>
/// <param name="Filter">Which.</param>
/// <param name="Update">The update that <see cref="UpdateDocuments"/> has; null removes the document.</param>
public sealed record FindAndModify(
    string Name, string Collection, DocumentValue Filter, TemplateValue? Update) : Operation(Name, Collection)
{
    public DocumentValue? Sort { get; init; }

    public TemplateValue? Projection { get; init; }

    /// <summary>Brings the document as it is afterwards, not as it was.</summary>
    public bool ReturnNew { get; init; }

    public bool Upsert { get; init; }

    public TemplateValue? Hint { get; init; }

    /// <inheritdoc cref="UpdateDocuments.ArrayFilters"/>
    public DocumentValue? ArrayFilters { get; init; }

    /// <inheritdoc cref="UpdateDocuments.MustMatch"/>
    public bool MustMatch { get; init; }

    public override bool IsWrite => true;

    public override bool Matches => !Upsert && !Concerns.IsUnacknowledged;

    public override Operation Unchecked => this with { MustMatch = false };

    public override bool Removes => Update is null;

    public override DocumentValue ToCommand() => Command("findAndModify")
        .Add("query", Filter).Add("sort", Sort).AddFlag("remove", Update is null).Add("update", Update).AddFlag("new", ReturnNew)
        .Add("fields", Projection).AddFlag("upsert", Upsert).Add("hint", Hint).Add("arrayFilters", ArrayFilters)
        .Add("collation", Options.Collation).AddOptions(Options).AddWriteConcern(Concerns).Build();
}

/// <summary>The fields into which operations write their own numbers.</summary>
public static class NumberFields
{
    /// <returns>Such as seq for <c>{$set: {seq: ^write}}</c>; empty for an operation without a number.</returns>
    public static IEnumerable<string> Of(Operation operation) => operation switch
    {
        UpdateDocuments { Many: false } update => Of(update.Update),
        FindAndModify { Update: { } update } => Of(update),
        OperationSequence several => several.Operations.SelectMany(Of),
        _ => [],
    };

    private static IEnumerable<string> Of(TemplateValue update) =>
        ((UpdateFields.IsReplacement(update) ? update : (update as DocumentValue)?.Find("$set")) as DocumentValue)?.Elements
            .Where(element => element.Value is WriteNumberValue).Select(element => element.Key) ?? [];
}
