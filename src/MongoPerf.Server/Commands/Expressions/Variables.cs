using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Expressions;

/// <summary>
/// Named values of expressions: a command's <c>let</c>, and inside it those of $let, $map, $filter and $reduce. Immutable.
/// </summary>
internal sealed class Variables
{
    private readonly Variables? _outer;
    private readonly string _name;
    private readonly BsonValue? _value;

    private Variables(Variables? outer, string name, BsonValue? value) => (_outer, _name, _value) = (outer, name, value);

    /// <summary>Parses a command's <c>let</c>, whose values are expressions without fields.</summary>
    public static Variables? Parse(BsonDocument let)
    {
        Variables? variables = null;
        foreach ((string name, BsonValue expression) in let)
        {
            long held = ActiveOperation.Held;
            BsonValue? value = ExpressionParser.Parse(expression, variables).Evaluate(new Scope(BsonDocument.Empty, variables));
            ActiveOperation.Release(held);
            Values.Hold(value);
            variables = With(variables, RequireName(name), value);
        }

        return variables;
    }

    public static Variables With(Variables? outer, string name, BsonValue? value) => new(outer, name, value);

    public static bool TryGet(Variables? variables, string name, out BsonValue? value)
    {
        for (Variables? at = variables; at != null; at = at._outer)
        {
            if (at._name == name)
            {
                value = at._value;
                return true;
            }
        }

        value = null;
        return false;
    }

    /// <exception cref="CommandException">Not a lower-case letter first.</exception>
    public static string RequireName(string name) => name.Length > 0 && (char.IsAsciiLetterLower(name[0]) || name[0] > '\x7f')
        ? name
        : throw CommandException.FailedToParse($"'{name}' starts with an invalid character for a user variable name");
}

/// <summary>What an expression is evaluated over.</summary>
/// <param name="Root">The document that came into the stage.</param>
/// <param name="Variables">Null when there are none.</param>
internal sealed record Scope(BsonDocument Root, Variables? Variables)
{
    public Scope With(string name, BsonValue? value) => this with { Variables = Expressions.Variables.With(Variables, name, value) };
}
