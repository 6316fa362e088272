using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Updates;

/// <summary>
/// The path of an update operator: names, indexes, <c>$[]</c> for all elements, <c>$[name]</c> for those that an array filter takes,
/// and once <c>$</c> for the element that met the query.
/// </summary>
internal sealed class UpdatePath
{
    private const string Positional = "$";

    /// <exception cref="CommandException">An empty step, a first name that begins with $, or a $ that stands first or twice.</exception>
    public UpdatePath(string text)
    {
        Text = text;
        Steps = text.Split('.');
        if (Steps.Length > ProtocolLimits.MaximumPath)
            throw CommandException.Overflow($"Document exceeds maximum nesting depth of {ProtocolLimits.MaximumDepth}");
        if (text.Length == 0)
            throw new CommandException(56, "EmptyFieldName", "An empty update path is not valid.");
        foreach (string step in Steps)
        {
            if (step.Length == 0)
                throw new CommandException(
                    56, "EmptyFieldName", $"The update path '{text}' contains an empty field name, which is not allowed.");
            if (step == Positional)
                RequireOnePosition();
        }

        if (Steps[0][0] == '$' && !IsFiltered(Steps[0]))
            throw UpdateErrors.DollarField(text);

        if (IsFiltered(Steps[0]))
            throw CommandException.BadValue(
                $"Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path '{text}'");
    }

    public string Text { get; }

    public string[] Steps { get; }

    /// <summary>Whether it has a <c>$</c>, which has to be replaced before the path can be applied.</summary>
    public bool IsPositional => Steps.Contains(Positional);

    /// <summary>Whether it depends on the query, or on the document, which fields it leads to.</summary>
    public bool IsDynamic => IsPositional || Steps.Any(IsFiltered);

    /// <summary>The path with an element's place where the <c>$</c> is.</summary>
    public UpdatePath At(string place) =>
        IsPositional ? new UpdatePath(string.Join('.', Steps.Select(step => step == Positional ? place : step))) : this;

    /// <summary>Whether one path is the beginning of the other, or the same, or one names a field where the other means elements.</summary>
    /// <returns>The steps that they have in common before the conflict; −1 where there is none.</returns>
    public int ConflictWith(UpdatePath other)
    {
        int common = Math.Min(Steps.Length, other.Steps.Length);
        for (int i = 0; i < common; i++)
        {
            if (Steps[i] != other.Steps[i])
                return IsFiltered(Steps[i]) != IsFiltered(other.Steps[i]) ? i : -1;
        }

        return common;
    }

    /// <summary>MongoDB's order of changes: step by step, indexes as numbers.</summary>
    public int CompareTo(UpdatePath other)
    {
        for (int i = 0; i < Math.Min(Steps.Length, other.Steps.Length); i++)
        {
            int order = EditNode.TryIndex(Steps[i], out int index) && EditNode.TryIndex(other.Steps[i], out int otherIndex)
                ? index.CompareTo(otherIndex)
                : string.CompareOrdinal(Steps[i], other.Steps[i]);
            if (order != 0)
                return order;
        }

        return Steps.Length.CompareTo(other.Steps.Length);
    }

    public void Apply(EditNode root, UpdateAction action, ArrayFilters? filters)
    {
        ActiveOperation.Check();
        if (IsPositional)
            throw CommandException.BadValue("The positional operator did not find the match needed from the query.");
        Apply(root, 0, action, filters);
    }

    private void RequireOnePosition()
    {
        if (Steps[0] == Positional)
            throw CommandException.BadValue($"Cannot have positional (i.e. '$') element in the first position in path '{Text}'");
        if (Steps.Count(step => step == Positional) > 1)
            throw CommandException.BadValue($"Too many positional (i.e. '$') elements found in path '{Text}'");
    }

    private void Apply(EditNode parent, int at, UpdateAction action, ArrayFilters? filters)
    {
        string step = Steps[at];
        if (IsFiltered(step))
        {
            ApplyToElements(parent, at, action, filters);
            return;
        }

        bool isLast = at == Steps.Length - 1;
        if (isLast && parent.IsArray && parent.Child(step) == null && !EditNode.TryIndex(step, out _))
        {
            if (action.NeedsViablePath)
                throw UpdateErrors.NotViable(step, parent);
            return;
        }

        if (isLast)
        {
            action.Apply(parent, step, Text);
            return;
        }

        EditNode? child = parent.Child(step);
        if (child == null)
        {
            if (IsFiltered(Steps[at + 1]))
                throw CommandException.BadValue(
                    $"The path '{string.Join('.', Steps[..(at + 1)])}' must exist in the document in order to apply array updates.");
            if (action.NeedsViablePath && parent.IsArray && !EditNode.TryIndex(step, out _))
                throw UpdateErrors.NotViable(step, parent);
            if (!action.MakesPath)
                return;
            child = MakePath(at, action, filters);
            if (child != null)
                parent.Set(step, child.Value);
            return;
        }

        if (child.IsContainer)
            Apply(child, at + 1, action, filters);
        else if (IsFiltered(Steps[at + 1]))
            throw CommandException.BadValue(
                $"Cannot apply array updates to non-array element {step}: {Expressions.Values.Text(child.Value)}");
        else if (action.NeedsViablePath)
            throw UpdateErrors.NotViable(Steps[at + 1], child);
    }

    /// <summary>
    /// The documents below a missing step, with the change in the innermost; null when the operator changes nothing there.
    /// </summary>
    private EditNode? MakePath(int at, UpdateAction action, ArrayFilters? filters)
    {
        var made = new EditNode(new BsonValue(BsonType.Document, BsonDocument.Empty.Memory));
        Apply(made, at + 1, action, filters);
        return made.Children.Count > 0 ? made : null;
    }

    private void ApplyToElements(EditNode array, int at, UpdateAction action, ArrayFilters? filters)
    {
        if (!array.IsArray)
            throw CommandException.BadValue(
                $"Cannot apply array updates to non-array element {Steps[at - 1]}: {Expressions.Values.Text(array.Value)}");
        string identifier = Steps[at][2..^1];
        for (int i = 0; i < array.Children.Count; i++)
        {
            EditNode element = array.Children[i].Node;
            if (identifier.Length > 0 && !filters!.Matches(identifier, element.Value))
                continue;
            string index = i.ToString(System.Globalization.CultureInfo.InvariantCulture);
            if (at == Steps.Length - 1)
                action.Apply(array, index, Text);
            else if (element.IsContainer)
                Apply(element, at + 1, action, filters);
            else if (action.NeedsViablePath)
                throw UpdateErrors.NotViable(Steps[at + 1], element);
        }
    }

    private static bool IsFiltered(string step) => step.StartsWith("$[", StringComparison.Ordinal) && step.EndsWith(']');

    /// <summary>The names of the array filters that the path uses.</summary>
    public IEnumerable<string> Identifiers => Steps.Where(step => IsFiltered(step) && step.Length > 3).Select(step => step[2..^1]);
}

/// <summary>The arrayFilters of an update: which elements each <c>$[name]</c> means.</summary>
internal sealed class ArrayFilters
{
    private readonly Dictionary<string, Filter> _filters = new(StringComparer.Ordinal);

    /// <exception cref="CommandException">A filter over two names, none, or one that is there already.</exception>
    public ArrayFilters(IEnumerable<BsonValue> filters)
    {
        foreach (BsonValue value in filters)
        {
            if (value.Type != BsonType.Document)
                throw CommandException.TypeMismatch("array filters must be objects");
            var filter = new Filter(new PathCache());
            filter.Compile(value.Bytes.Span);
            if (filter.HasExpressions)
                throw new CommandException(224, "QueryFeatureNotAllowed", "$expr is not allowed in this context");
            string name = NameOf(value.ToDocument())
                ?? throw CommandException.FailedToParse("Cannot use an expression without a top-level field name in arrayFilters");
            if (!_filters.TryAdd(name, filter))
                throw CommandException.FailedToParse($"Found multiple array filters with the same top-level field name {name}");
        }
    }

    public IEnumerable<string> Names => _filters.Keys;

    public bool Matches(string name, BsonValue element) => _filters.TryGetValue(name, out Filter? filter)
        ? filter.Matches(Expressions.Values.Document([(name, element)]).Bytes.Span)
        : throw CommandException.BadValue($"No array filter found for identifier '{name}'");

    /// <summary>Whether a condition of one field is {$all: []} alone, or its negation: mongod forgets which field that was of.</summary>
    private static bool IsOfNoField(BsonValue condition)
    {
        if (condition.Type != BsonType.Document)
            return false;
        KeyValuePair<string, BsonValue>[] operators = [.. condition.ToDocument()];
        return operators is [var only] && (only.Key switch
        {
            "$all" => !Expressions.Values.Items(only.Value).Any(),
            "$not" => IsOfNoField(only.Value),
            _ => false,
        });
    }

    private static string? NameOf(BsonDocument filter)
    {
        string? name = null;
        foreach ((string field, BsonValue value) in filter)
        {
            IEnumerable<string?> names = field.StartsWith('$') && value.Type == BsonType.Array
                ? Expressions.Values.Items(value).Select(branch => NameOf(branch.ToDocument()))
                : [IsOfNoField(value) ? null : field.Split('.')[0]];
            foreach (string? found in names)
            {
                if (found == null)
                    continue;
                if (name != null && found != name)
                    throw CommandException.FailedToParse(
                        $"Error parsing array filter :: caused by :: Expected a single top-level field name, found '{name}' and '{found}'");
                name = found;
            }
        }

        return name;
    }
}
