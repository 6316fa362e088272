using MongoPerf.Load.Documents;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Plans;

/// <summary>A find; its cursor is read to the end.</summary>
public sealed record FindDocuments(string Name, string Collection, DocumentValue Filter) : Operation(Name, Collection)
{
    public DocumentValue? Sort { get; init; }

    public TemplateValue? Projection { get; init; }

    /// <summary>A number, maybe drawn.</summary>
    public TemplateValue? Skip { get; init; }

    /// <summary>A number, maybe drawn; null for no limit.</summary>
    public TemplateValue? Limit { get; init; }

    /// <summary>An index's name, or its key.</summary>
    public TemplateValue? Hint { get; init; }

    /// <summary>Documents per reply; null: as many as the limit, or as the server likes.</summary>
    public int? BatchSize { get; init; }

    /// <summary>Makes the documents that are there; null when something changes them, so that nobody knows what must come back.</summary>
    public DocumentTemplate? Expected { get; init; }

    /// <summary>The server may have removed documents by itself: one that does not come is not missed.</summary>
    public bool MayBeRemoved { get; init; }

    /// <summary>Fields may come in another order than they were written in, as in a time-series collection.</summary>
    public bool MayReorderFields { get; init; }

    /// <summary>It asks for the one document whose number was drawn.</summary>
    public bool IsOfKey { get; init; }

    public override Operation Unchecked => this with { Expected = null };

    private long? FixedLimit => (Limit as LiteralValue)?.Value.ToInt64();

    public override int FullReply => (int)Math.Min(FixedLimit ?? 0, int.MaxValue);

    public override bool Finds => true;

    public override bool IsRead => true;

    public override DocumentValue ToCommand() => Command("find")
        .Add("filter", Filter)
        .Add("sort", Sort)
        .Add("projection", Projection)
        .Add("hint", Hint)
        .Add("skip", Skip)
        .Add("limit", Limit)
        .Add("batchSize", BatchSize is { } size ? new LiteralValue(CommandBuilder.Value(size)) : FixedLimit == 1 ? null : Limit)
        .AddFlag("singleBatch", FixedLimit == 1)
        .Add("collation", Options.Collation)
        .AddOptions(Options)
        .AddReadConcerns(Concerns)
        .Build();
}

/// <summary>How many documents meet a filter.</summary>
public sealed record CountDocuments(string Name, string Collection, DocumentValue Filter) : Operation(Name, Collection)
{
    public TemplateValue? Skip { get; init; }

    public TemplateValue? Limit { get; init; }

    public TemplateValue? Hint { get; init; }

    public override bool Finds => true;

    public override bool IsRead => true;

    public override DocumentValue ToCommand() => Command("count")
        .Add("query", Filter).Add("limit", Limit).Add("skip", Skip).Add("hint", Hint)
        .Add("collation", Options.Collation).AddOptions(Options).AddReadConcerns(Concerns).Build();
}

/// <summary>Returns the different values of a field.</summary>
public sealed record DistinctValues(string Name, string Collection, string Field, DocumentValue Filter) : Operation(Name, Collection)
{
    public TemplateValue? Hint { get; init; }

    public override bool Finds => true;

    public override bool IsRead => true;

    public override DocumentValue ToCommand() => Command("distinct").AddLiteral("key", Field).Add("query", Filter).Add("hint", Hint)
        .Add("collation", Options.Collation).AddOptions(Options).AddReadConcerns(Concerns).Build();
}

/// <summary>An aggregation; its cursor is read to the end.</summary>
/// <param name="Name">Its name in results.</param>
/// <param name="Collection">Its name.</param>
/// <param name="Pipeline">An array of stages.</param>
public sealed record AggregateDocuments(string Name, string Collection, DocumentValue Pipeline) : Operation(Name, Collection)
{
    public TemplateValue? Hint { get; init; }

    public bool AllowDiskUse { get; init; }

    /// <summary>A pipeline with $out or $merge writes.</summary>
    public override bool IsRead => !IsWrite;

    public override bool Finds => !IsWrite;

    public override bool IsWrite => WriteTargets.OfStages(Pipeline, "").Any();

    /// <summary>It changes the collection that $out or $merge names.</summary>
    public override string Written => "";

    public override DocumentValue ToCommand() => Command("aggregate")
        .Add("pipeline", Pipeline).Add("cursor", BsonDocument.Empty).Add("hint", Hint).AddFlag("allowDiskUse", AllowDiskUse)
        .Add("collation", Options.Collation).AddOptions(Options)
        // A pipeline may end in $out or $merge.
        .AddReadConcerns(Concerns).AddWriteConcern(Concerns).Build();
}

/// <summary>Watches a collection: counts the events of its change stream, and times them against the writes of the same phase.</summary>
/// <param name="Name">Its name in results.</param>
/// <param name="Collection">Its name.</param>
/// <param name="Documents">Tells which document an event is about.</param>
public sealed record WatchChanges(string Name, string Collection, DocumentTemplate Documents) : Operation(Name, Collection)
{
    /// <summary>How long the server waits for events before it answers that there are none.</summary>
    public const int AwaitMilliseconds = 200;

    /// <summary>
    /// How long the last events are waited for at most: a mongos has none of later than its quietest shard's time, which that tells every
    /// 10 s (periodicNoopIntervalSecs). Source: manual, "Change Streams", "Sharded Clusters".
    /// </summary>
    public const double LongestDrainSeconds = 30;

    /// <summary>Stages behind $changeStream; empty for every event as it is.</summary>
    public DocumentValue Stages { get; init; } = DocumentValue.Array([]);

    /// <summary>Which documents events of updates bring whole, such as updateLookup; null for none.</summary>
    public string? FullDocument { get; init; }

    /// <summary>Events per reply at most; null leaves it to the server.</summary>
    public int? BatchSize { get; init; }

    /// <summary>Where it goes on; null begins now.</summary>
    public BsonDocument? ResumeAfter { get; init; }

    /// <summary>The fields in which updates of the same phase have their numbers (<see cref="NumberFields"/>).</summary>
    public IReadOnlyList<string> Fields { get; init; } = [];

    /// <summary>Its stages may leave events out, so that one which does not come is not missed.</summary>
    public bool MayLeaveOut => Stages.Elements.Count > 0;

    public override bool IsRead => true;

    public override DocumentValue ToCommand() => Command("aggregate")
        .Add("pipeline", DocumentValue.Array(
        [
            DocumentValue.Of(("$changeStream",
                new CommandBuilder().AddLiteral("fullDocument", FullDocument).Add("resumeAfter", ResumeAfter).Build())),
            .. Stages.Elements.Select(stage => stage.Value),
        ]))
        .Add("cursor", new CommandBuilder().AddLiteral("batchSize", BatchSize).Build())
        .Add("collation", Options.Collation)
        .AddOptions(Options with { MaxMilliseconds = null })
        .AddReadConcerns(Concerns)
        .Build();
}
