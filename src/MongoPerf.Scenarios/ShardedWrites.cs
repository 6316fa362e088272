using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>Writes of single documents in a collection that is sharded by another field than _id: they name the stored shard key.</summary>
/// <remarks>
/// A router sends a replacement to the shard of the replacement's own shard key. Where that is not the document's, nothing is changed and
/// no error is answered. An upsert and a findAndModify without the shard key are refused by servers before 8.0. What is stored is computed
/// from the document's number, as when it was created.
/// </remarks>
public static class ShardedWrites
{
    /// <summary>Completes the writes of a collection whose file says by what it is sharded.</summary>
    /// <param name="operation">The operation as it was read.</param>
    /// <param name="collection">The collection that it is about.</param>
    /// <param name="reader">The reader of the operation.</param>
    /// <param name="path">The path for messages, such as mix.replace.</param>
    /// <exception cref="UserException">A replacement would not keep the shard key, or names no document by it.</exception>
    public static Operation Of(Operation operation, PlanCollection? collection, MappingReader reader, string path)
    {
        return collection is { ShardKey: { } key, Shard: null, Files: null }
            ? new Rewriting(collection, ShardKey.Of(key), path, Wrong).Of(operation)
            : operation;

        UserException Wrong(string at, string message, string? hint) => MappingReader.Wrong(reader.Find(at) ?? reader.Node, message, hint);
    }

    /// <summary>Completes the writes of collections whose file leaves open by what they are sharded.</summary>
    /// <param name="read">A plan.</param>
    /// <param name="usual">
    /// The key by which shards hold a collection without a key of its own; null without shards, and where it is not known.
    /// </param>
    /// <exception cref="UserException">As for those whose file says it.</exception>
    public static ReadPlan Of(ReadPlan read, string? usual) => usual is null ? read : read with
    {
        Plan = read.Plan with { Rounds = [.. read.Plan.Rounds.Select(round => Of(round, ShardKey.Parse(usual)))] },
    };

    private static PlanRound Of(PlanRound round, ShardKey key)
    {
        return round with { Phases = [.. round.Phases.Select(OfPhase)] };

        Phase OfPhase(Phase phase) => phase with
        {
            Groups = [.. phase.Groups.Select(group => OfGroup(group, phase))],
            Growth = phase.Growth is not { } growth ? null : growth with
            {
                Each = [.. growth.Each.Select(OfPhase)], Beside = [.. growth.Beside.Select(group => OfGroup(group, phase))],
            },
        };

        PhaseGroup OfGroup(PhaseGroup group, Phase phase) =>
            group with
            {
                Operations = [.. group.Operations.Select(o => o with { Operation = o.Operation.Each(one => OfOperation(one, phase)) })],
            };

        Operation OfOperation(Operation operation, Phase phase) =>
            round.Collections.FirstOrDefault(c => c.Name == operation.Collection) is { ShardKey: null, Shard: null, Files: null } collection
                ? new Rewriting(
                    collection, key, $"{phase.Name}.{operation.Name}",
                    (_, message, hint) => new UserException(ExitCode.WrongUsage, message, hint)).Of(operation)
                : operation;
    }

    /// <param name="collection">The collection that operations are about.</param>
    /// <param name="key">The key by which it is sharded.</param>
    /// <param name="path">The path for messages.</param>
    /// <param name="wrong">Makes the error of a key of the operation, with a hint.</param>
    private sealed class Rewriting(PlanCollection collection, ShardKey key, string path, Func<string, string, string?, UserException> wrong)
    {
        private readonly DocumentTemplate _documents = collection.Documents;

        /// <summary>The key's fields without _id, which every document is named by anyway.</summary>
        private readonly string[] _fields = [.. key.FieldNames.Where(name => name != "_id")];

        public Operation Of(Operation operation) => _fields.Length == 0 ? operation : operation switch
        {
            UpdateDocuments { Many: false, IsReplacement: true } replace =>
                replace with { Filter = RequiredFilter(replace.Filter), Update = Kept(replace.Update) },
            UpdateDocuments { Many: false, Upsert: true } upsert => upsert with { Filter = Filter(upsert.Filter) },
            FindAndModify { Update: { } update } change when UpdateFields.IsReplacement(update) =>
                change with { Filter = RequiredFilter(change.Filter), Update = Kept(update) },
            FindAndModify change => change with { Filter = Filter(change.Filter) },
            _ => operation,
        };

        /// <summary>
        /// A filter for the document that was drawn, with the shard key that it is stored under; any other filter as it is.
        /// </summary>
        private DocumentValue Filter(DocumentValue filter)
        {
            if (filter.Find("_id") is not { } id || !IsStored("_id", id))
                return filter;
            IEnumerable<string> missing = _fields.Where(name => filter.Find(name) is null && _documents.Find(name) is not null);
            return new DocumentValue([.. filter.Elements, .. missing.Select(name => KeyValuePair.Create(name, Stored(name)))]);
        }

        private DocumentValue RequiredFilter(DocumentValue filter)
        {
            DocumentValue whole = Filter(filter);
            if (_fields.FirstOrDefault(name => whole.Find(name) is not { } value || !IsStored(name, value)) is not { } missing)
                return whole;
            string hint = _documents.Find(missing) is null
                ? "shard by a field that every document has, or use update with $set"
                : $"write key: uniform instead of a filter, or filter: {{{missing}: {{^field: {missing}}}}}";
            throw wrong(
                "filter",
                $"{path}: the filter does not name the stored '{missing}', and '{collection.Name}' is sharded by {key}: "
                + "a router could not tell which shard holds the document",
                hint);
        }

        /// <summary>
        /// The replacement with the shard key as it is stored: what the file leaves to the collection's document is taken from there.
        /// </summary>
        private DocumentValue Kept(TemplateValue update)
        {
            var replacement = (DocumentValue)update;
            string[] drawn =
                [.. _fields.Select(name => name.Split('.')[0])
                    .Where(name => ReferenceEquals(replacement.Find(name), _documents.Root.Find(name)))];
            replacement = replacement.With([.. drawn.Distinct()
                .Select(name => KeyValuePair.Create(name, ReferenceValue.Of(_documents, _documents.Root.Find(name)!)))]);
            foreach (string name in _fields.Where(name => !drawn.Contains(name.Split('.')[0])))
            {
                TemplateValue? value = name.Split('.')
                    .Aggregate((TemplateValue?)replacement, (at, step) => (at as DocumentValue)?.Find(step));
                if (value is null || !IsStored(name, value))
                {
                    throw wrong(
                        "with",
                        $"{path}: with {(value is null ? "has no" : "gives another value to")} '{name}', "
                        + $"by which '{collection.Name}' is sharded: "
                        + "a router would look for the document on the wrong shard",
                        $"write {name}: {{^field: {name}}} in with, which keeps the stored value");
                }
            }

            return replacement;
        }

        private TemplateValue Stored(string name) => ReferenceValue.Of(_documents, _documents.Find(name)!);

        /// <summary>What the document has in this field.</summary>
        private bool IsStored(string name, TemplateValue value) => _documents.Find(name) is { } field
            && (ReferenceEquals(ReferenceValue.FieldOf(value), field)
                || (value is LiteralValue given && field is LiteralValue constant && IsSame(given.Value, constant.Value)));

        private static bool IsSame(BsonValue one, BsonValue other) =>
            one.Type == other.Type && one.Bytes.Span.SequenceEqual(other.Bytes.Span);
    }
}
