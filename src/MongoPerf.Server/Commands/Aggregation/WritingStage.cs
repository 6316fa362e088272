using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>The last stage of a pipeline whose documents go to a collection, not to the client: $out or $merge.</summary>
internal static class WritingStage
{
    public static bool IsOne(string name) => name is "$out" or "$merge";

    /// <param name="stage">One of them.</param>
    /// <param name="context">What the pipeline's other stages were read with; its collation is the one that holds.</param>
    /// <param name="collation">As the command has it.</param>
    /// <returns>Opens where the documents go.</returns>
    /// <exception cref="CommandException">The stage is wrong, or $merge would compare by a collation.</exception>
    public static Func<CommandSession, IPipelineTarget> Parse(
        (string Name, BsonValue Value) stage, StageContext context, CollationOption collation)
    {
        if (stage.Name == "$out")
            return OutStage.Parse(stage.Value, context.Database);
        Func<CommandSession, IPipelineTarget> merge = MergeStage.Parse(stage.Value, context, collation);
        return context.Collation is null ? merge : throw CollationLimits.NotSupported("$merge");
    }
}
