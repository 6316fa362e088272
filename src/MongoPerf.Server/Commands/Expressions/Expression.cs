using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Expressions;

/// <summary>A parsed aggregation expression. Immutable; any thread.</summary>
internal abstract class Expression
{
    /// <returns>Null when the value is missing.</returns>
    /// <exception cref="CommandException">Operands that the operator does not take.</exception>
    public abstract BsonValue? Evaluate(Scope scope);

    /// <summary>Evaluates it for somebody who keeps the value while more is worked out. A constant is held since it was parsed.</summary>
    public BsonValue? EvaluateAndHold(Scope scope)
    {
        BsonValue? value = Evaluate(scope);
        if (this is not ConstantExpression)
            Values.Hold(value);
        return value;
    }

    /// <summary>Whether a document meets an $expr.</summary>
    public bool IsTrue(ReadOnlySpan<byte> document, Variables? variables) =>
        Values.IsTrue(Evaluate(new Scope(new BsonDocument(document.ToArray()), variables)));
}

internal sealed class ConstantExpression(BsonValue value) : Expression
{
    public BsonValue Value { get; } = value;

    public override BsonValue? Evaluate(Scope scope) => Value;
}

/// <summary>
/// A path from a variable on, such as <c>$a.b</c>, which is <c>$$ROOT.a.b</c>. Through an array it leads to the array of
/// what its elements have.
/// </summary>
internal sealed class PathExpression(string variable, string[] steps) : Expression
{
    private const string Root = "ROOT";
    private const string Current = "CURRENT";
    private const string Remove = "REMOVE";
    private const string Now = "NOW";

    /// <summary>Names that are always there.</summary>
    public static bool IsSystemVariable(string name) => name is Root or Current or Remove or Now;

    /// <exception cref="CommandException">40352, 40353, 15998, 16410: no path.</exception>
    public static void RequirePath(string path)
    {
        if (path.Length == 0)
            throw CommandException.Location(40352, "FieldPath cannot be constructed with empty string");
        if (path[^1] == '.')
            throw CommandException.Location(40353, "FieldPath must not end with a '.'.");
        foreach (string step in path.Split('.'))
        {
            if (step.Length == 0)
                throw CommandException.Location(15998, "FieldPath field names may not be empty strings.");
            if (step[0] == '$')
                throw CommandException.Location(
                    16410, "FieldPath field names may not start with '$'. Consider using $getField or $setField.");
        }
    }

    public override BsonValue? Evaluate(Scope scope)
    {
        ActiveOperation.Check();
        if (Variables.TryGet(scope.Variables, variable, out BsonValue? value))
            return Follow(value, 0);
        return variable switch
        {
            Remove => null,
            Now => Follow(Values.Date(DateTimeOffset.UtcNow.ToUnixTimeMilliseconds()), 0),
            _ => Follow(Values.Of(scope.Root), 0),
        };
    }

    private BsonValue? Follow(BsonValue? from, int step)
    {
        if (step == steps.Length || from is not { } value)
            return from;
        return value.Type switch
        {
            BsonType.Document => Follow(DirectFields.Find(value.ToDocument(), steps[step]), step + 1),
            BsonType.Array => FollowElements(value, step),
            _ => null,
        };
    }

    private BsonValue FollowElements(BsonValue array, int step)
    {
        var found = new List<BsonValue>();
        foreach (BsonValue element in Values.Items(array))
        {
            // An array inside the array is not looked into.
            if (element.Type == BsonType.Document && Follow(element, step) is { } known)
                found.Add(known);
        }

        return Values.Array(found);
    }
}

/// <summary>Looks up a field by its whole name, dots and dollars included.</summary>
internal static class DirectFields
{
    public static BsonValue? Find(BsonDocument document, string name)
    {
        var reader = new BsonReader(document.Bytes);
        return reader.Find(System.Text.Encoding.UTF8.GetBytes(name))
            ? new BsonValue(reader.Type, document.Memory.Slice(reader.ValueOffset, reader.Value.Length))
            : null;
    }
}

/// <summary>A document of expressions; what is missing is left out.</summary>
internal sealed class DocumentExpression((string Name, Expression Value)[] fields) : Expression
{
    public override BsonValue? Evaluate(Scope scope) => Values.Document(Fields(scope));

    /// <summary>Evaluates the _id of a $group: the field of a document that has only one is null there when it is missing.</summary>
    public BsonValue EvaluateAsGroup(Scope scope) => fields is [(string name, Expression expression)]
        ? Values.Document([(name, expression.Evaluate(scope) ?? Values.Null)])
        : Evaluate(scope)!.Value;

    private IEnumerable<(string, BsonValue)> Fields(Scope scope)
    {
        foreach ((string name, Expression expression) in fields)
        {
            if (expression.Evaluate(scope) is { } value)
                yield return (name, value);
        }
    }
}

/// <summary>An array of expressions; what is missing becomes null.</summary>
internal sealed class ArrayExpression(Expression[] items) : Expression
{
    public override BsonValue? Evaluate(Scope scope) => Values.Array(items.Select(item => item.Evaluate(scope) ?? Values.Null));
}

/// <summary>An operator that is a function of its operands' values.</summary>
internal sealed class FunctionExpression(Func<BsonValue?[], BsonValue?> function, Expression[] operands) : Expression
{
    public override BsonValue? Evaluate(Scope scope)
    {
        ActiveOperation.Check();
        long held = ActiveOperation.Held;
        var values = new BsonValue?[operands.Length];
        for (int i = 0; i < values.Length; i++)
            values[i] = operands[i].EvaluateAndHold(scope);
        BsonValue? result = function(values);
        ActiveOperation.Release(held);
        return result;
    }
}

/// <summary>An operator that decides which operands are evaluated, or over what.</summary>
internal sealed class ControlExpression(Func<Scope, BsonValue?> evaluate) : Expression
{
    public override BsonValue? Evaluate(Scope scope)
    {
        ActiveOperation.Check();
        long held = ActiveOperation.Held;
        BsonValue? result = evaluate(scope);
        ActiveOperation.Release(held);
        return result;
    }
}
