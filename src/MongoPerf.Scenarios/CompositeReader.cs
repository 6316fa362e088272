using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>Reads an operation that is made of steps.</summary>
/// <param name="reader">The reader of the operation.</param>
/// <param name="path">The path of the operation for messages, such as mix.order.</param>
/// <param name="sources">Where values come from.</param>
/// <param name="read">Reads one step's command: the node, its usual name, and what reads its values.</param>
/// <param name="writeConcern">Reads a write concern.</param>
internal sealed class StepReader(
    MappingReader reader, string path, ValueSources sources,
    Func<ScenarioNode, string, Func<DocumentTemplate?, TemplateReader>, (Operation Operation, MappingReader Reader)> read,
    Func<ScenarioNode, BsonDocument?> writeConcern)
{
    private readonly List<Step> _steps = [];
    private readonly HashSet<string> _names = [TransactionSettings.Commit, TransactionSettings.Abort];

    /// <param name="name">The name of the operation in results.</param>
    public StepSequence Read(string name)
    {
        if (reader.Find("steps") is not SequenceNode { Items: { Count: > 0 } nodes })
            throw MappingReader.Wrong(reader.Find("steps") ?? reader.Node, $"{path}: steps has no list of steps",
                "such as steps: [{find: users, key: uniform, as: user}, {update: users, filter: {_id: {^from: user.friend}}, with: {…}}]");
        TransactionSettings? transaction = Transaction();
        var scope = new StepScope([.. nodes.Index()
            .Select(step => ((step.Item as MappingNode)?.Find("as") is ScalarNode text ? text.Text : "", step.Index + 1))]);
        foreach (ScenarioNode node in nodes)
            _steps.Add(ReadStep(node, scope, transaction));
        if (_steps.All(step => step.Operation is null))
            throw MappingReader.Wrong(reader.Find("steps")!, $"{path}: no step does anything",
                "add an operation, such as {find: users, key: uniform}");
        return new StepSequence(name, _steps)
        {
            Transaction = transaction, IsCausal = reader.OneOf("session", ScenarioLanguage.Sessions) is not null,
        };
    }

    private Step ReadStep(ScenarioNode node, StepScope scope, TransactionSettings? transaction)
    {
        int place = _steps.Count + 1;
        string at = $"{path}, step {place}";
        if (node is not MappingNode mapping)
            throw MappingReader.Wrong(node,
                $"{at} is {node.Describe()}; expected a mapping such as {{find: users, key: uniform, as: user}}");
        if (mapping.Find("steps") is { } inner)
            throw MappingReader.Wrong(inner, $"{at}: steps can't have steps of their own",
                "write them one after the other; each repeats a step for every element of an array, and if leaves one out");
        scope.HasElement = false;
        ValuePath? each = Each(mapping, scope, at);
        if (ScenarioLanguage.SilentSteps.FirstOrDefault(keys => mapping.Find(keys.Name) is not null) is { } silent)
            return Silent(new MappingReader(mapping, $"{at}: {silent.Name}", silent), silent.Name, each, scope, at);

        scope.HasElement = each is not null;
        (Operation operation, MappingReader of) = read(
            node, UsualName(mapping), documents => new TemplateReader(documents, sources, scope));
        if (!_names.Add(operation.Name))
            throw MappingReader.Wrong(
                of.Find("name") ?? of.Node, $"{at}: another step is called '{operation.Name}'", "give it another name");
        Require(operation, of, transaction, at);
        return Conditional(new Step { Operation = InTransaction(operation, transaction), Each = each }, of, scope, at);
    }

    /// <summary>A step that sends no command.</summary>
    private Step Silent(MappingReader of, string kind, ValuePath? each, StepScope scope, string at)
    {
        switch (kind)
        {
            case "think":
                return Conditional(new Step { Think = ThinkReader.Read(of.Find("think")!, at) }, of, scope, at);
            case "abort":
                if (!of.Flag("abort"))
                    throw MappingReader.Wrong(of.Find("abort")!, $"{at}: abort is false; allowed: true", "remove the step");
                of.Require("if", "such as if: {in.isInvalid: true}; without one, every operation would end here");
                return Conditional(new Step { Aborts = true }, of, scope, at);
            default:
                of.Require("as", "such as as: in; later steps take the values from there: {^from: in.field}");
                scope.HasElement = each is not null;
                DocumentValue values = new TemplateReader(null, sources, scope).Document(of.Find("values")!, $"{path}.{of.Text("as")}");
                return Conditional(new Step { Values = values, Each = each }, of, scope, at);
        }
    }

    /// <summary>Adds what decides whether the step is done, and where what it brings is kept.</summary>
    private Step Conditional(Step step, MappingReader of, StepScope scope, string at)
    {
        // What the step brings is not there when it is decided whether to do it.
        scope.HasElement = step.Each is not null;
        scope.HasUsedElement = false;
        IReadOnlyList<StepCondition> conditions = Conditions(of, scope, at);
        step = step with { Conditions = conditions, ChoosesElements = scope.HasUsedElement };
        scope.HasElement = false;
        if (!of.Takes("as") || of.Text("as") is not { } brought)
            return step;
        AddName(brought, of.Find("as")!, scope, at);
        return step with { Keeps = _steps.Count + 1 };
    }

    /// <summary>Makes the operation one of a transaction, in which all commands have its concerns and go to the primary.</summary>
    private static Operation InTransaction(Operation operation, TransactionSettings? transaction) => transaction is null ? operation
        : operation with
        {
            Concerns = new OperationConcerns { ReadPreference = operation.IsRead ? Wire.Connections.ReadPreference.Primary : null },
        };

    /// <summary>What a step is called that has no name: its kind, with a number where there are several. Its streams go by that.</summary>
    private string UsualName(MappingNode mapping)
    {
        string kind = mapping.Entries.Select(e => e.Name)
            .FirstOrDefault(name => ScenarioLanguage.Steps.Any(of => of.Name == name)) ?? "step";
        string name = kind;
        for (int i = 2; _names.Contains(name); i++)
            name = $"{kind} {i}";
        return name;
    }

    private void AddName(string name, ScenarioNode node, StepScope scope, string at)
    {
        if (name.Length == 0 || !name.All(c => char.IsLetterOrDigit(c) || c == '_') || name is StepScope.Element or StepScope.Place)
            throw MappingReader.Wrong(node,
                $"{at}: as is '{name}'; expected a name of letters, digits and _, other than {StepScope.Element} and {StepScope.Place}");
        if (!scope.TryAdd(name, _steps.Count + 1))
            throw MappingReader.Wrong(node, $"{at}: an earlier step is already called '{name}'", "give it another name");
    }

    private static void Require(Operation operation, MappingReader of, TransactionSettings? transaction, string at)
    {
        if (operation.Concerns.IsUnacknowledged)
            throw MappingReader.Wrong(of.Find("writeConcern") ?? of.Node, $"{at}: w: 0 is not allowed in steps, which wait for each other");
        if (transaction is null)
            return;
        if (operation is CountDocuments)
            throw MappingReader.Wrong(of.Node, $"{at}: MongoDB has no count in transactions",
                "write aggregate with pipeline: [{$match: {…}}, {$count: n}]");
        if (operation is AggregateDocuments { IsWrite: true })
            throw MappingReader.Wrong(of.Find("pipeline")!, $"{at}: MongoDB has no $out and no $merge in transactions");
        if (((string[])["writeConcern", "readConcern", "readPreference"]).FirstOrDefault(key => of.Takes(key) && of.Find(key) is not null)
            is { } key)
            throw MappingReader.Wrong(of.Find(key)!, $"{at}: {key} is the transaction's, not a step's",
                key == "readPreference" ? "a transaction reads from the primary" : $"write transaction: {{{key}: …}} beside steps");
    }

    private static ValuePath? Each(MappingNode mapping, StepScope scope, string at) => mapping.Find("each") switch
    {
        null => null,
        ScalarNode { IsNull: false } text => scope.Path(text.Text, text, $"{at}: each"),
        { } other => throw MappingReader.Wrong(
            other, $"{at}: each is {other.Describe()}; expected the path of an array that an earlier step returned",
            "such as each: order.items"),
    };

    private IReadOnlyList<StepCondition> Conditions(MappingReader of, StepScope scope, string at)
    {
        if (of.Node.Find("if") is not { } node)
            return [];
        string what = $"{at}: if";
        if (node is ScalarNode { IsNull: false } text)
            return [new StepCondition(scope.Path(text.Text, text, what), null, null)];
        if (node is not MappingNode { Entries.Count: > 0 } mapping)
            throw MappingReader.Wrong(node, $"{what} asks for nothing; expected a name, or conditions on what earlier steps returned",
                "such as if: order, or if: {order.status: open, order.total: {$gt: 100}}");
        return [.. mapping.Entries.SelectMany(entry => Conditions(entry, scope, what))];
    }

    private IEnumerable<StepCondition> Conditions(MappingEntry entry, StepScope scope, string what)
    {
        ValuePath path = scope.Path(entry.Name, entry.Key, what);
        var templates = new TemplateReader(null, sources, scope);
        if (entry.Value is not MappingNode { Entries: [{ Name: ['$', ..] }, ..] } operators || LiteralReader.IsWrapper(operators))
            return [new StepCondition(path, "$eq", Operand(entry.Value))];
        if (operators.Entries.FirstOrDefault(e => !StepCondition.Comparisons.Contains(e.Name)) is { } unknown)
            throw MappingReader.Unknown(unknown.Key, $"{what}.{entry.Name}", StepCondition.Comparisons, "comparison");
        return operators.Entries.Select(e => new StepCondition(path, e.Name, Operand(e.Value)));

        DocumentValue Operand(ScenarioNode value) => DocumentValue.Of(("v", templates.Value(value, $"{what}.{entry.Name}")));
    }

    private TransactionSettings? Transaction()
    {
        if (reader.Find("transaction") is not { } node)
            return null;
        if (node is not MappingNode)
            return reader.Flag("transaction") ? new TransactionSettings() : null;
        var of = new MappingReader(node, $"{path}: transaction", ScenarioLanguage.Transaction);
        BsonDocument? concern = of.Find("writeConcern") is { } w ? writeConcern(w) : null;
        if (concern?.FindInt64("w") == 0)
            throw MappingReader.Wrong(of.Find("writeConcern")!,
                $"{path}: w: 0 is not allowed for a transaction: its commit is waited for", "use w: majority");
        return new TransactionSettings
        {
            ReadConcern = of.OneOf("readConcern", ScenarioLanguage.TransactionReadConcerns),
            WriteConcern = concern,
            MaxCommitMilliseconds = (int?)of.Count("maxCommitTimeMS", 1, int.MaxValue),
        };
    }
}

/// <summary>Reads writes that go to the server together.</summary>
internal static class BulkReader
{
    /// <param name="reader">The reader of the operation.</param>
    /// <param name="name">The name of the operation in results.</param>
    /// <param name="path">The path of the operation for messages, such as mix.bulkWrite.</param>
    /// <param name="read">Reads one write: the node, and its name.</param>
    public static BulkWrite Read(
        MappingReader reader, string name, string path, Func<ScenarioNode, string, (Operation Operation, MappingReader Reader)> read)
    {
        if (reader.Find("bulkWrite") is not SequenceNode { Items: { Count: > 0 } nodes })
            throw MappingReader.Wrong(reader.Find("bulkWrite") ?? reader.Node, $"{path}: bulkWrite has no list of writes",
                "such as bulkWrite: [{insert: users, times: 10}, {update: users, key: uniform, with: {$inc: {visits: 1}}}]");
        var writes = new List<RepeatedWrite>();
        foreach (ScenarioNode node in nodes)
        {
            (Operation write, MappingReader of) = read(node, $"{writes.Count + 1}");
            int times = (int)(of.Count("times", 1, BulkWrite.MostWrites) ?? 1);
            writes.Add(new RepeatedWrite(write is InsertDocuments insert ? insert with { BatchSize = times } : write, times));
        }

        var bulk = new BulkWrite(name, writes, reader.Flag("ordered", usual: true));
        return bulk.DocumentsPerCommand <= BulkWrite.MostWrites ? bulk
            : throw MappingReader.Wrong(reader.Find("bulkWrite")!,
                $"{path}: {bulk.DocumentsPerCommand:N0} writes; allowed: 1 to {BulkWrite.MostWrites:N0} in one bulk");
    }
}
