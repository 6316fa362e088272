using System.Collections.Frozen;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Expressions;

/// <summary>Operators whose operands are named, evaluated in part only, or evaluated once for each element.</summary>
internal static class ControlOperators
{
    /// <returns>Null when the operator is none of these.</returns>
    public static Expression? TryParse(string name, BsonValue operand, Variables? variables) =>
        Parsers.TryGetValue(name, out Func<BsonValue, Variables?, Expression>? parse) ? parse(operand, variables) : null;

    public static bool IsOne(string name) => Parsers.ContainsKey(name);

    private static readonly FrozenDictionary<string, Func<BsonValue, Variables?, Expression>> Parsers =
        new Dictionary<string, Func<BsonValue, Variables?, Expression>>
        {
            ["$and"] = (operand, variables) => Conjunction(ExpressionParser.Operands(operand, variables), stopsAt: false),
            ["$or"] = (operand, variables) => Conjunction(ExpressionParser.Operands(operand, variables), stopsAt: true),
            ["$cond"] = Conditional,
            ["$ifNull"] = (operand, variables) => FirstThatIs(ExpressionParser.Operands(operand, variables)),
            ["$switch"] = Switch,
            ["$let"] = Let,
            ["$map"] = Map,
            ["$filter"] = Filter,
            ["$reduce"] = Reduce,
            ["$getField"] = GetField,
            ["$setField"] = (operand, variables) => SetField("$setField", operand, variables, "field", "input", "value"),
            ["$unsetField"] = (operand, variables) => SetField("$unsetField", operand, variables, "field", "input"),
            ["$convert"] = ConversionOperators.Parse,
            ["$toBool"] = static (operand, variables) => ConversionOperators.ParseShort("$toBool", BsonType.Boolean, operand, variables),
            ["$toDate"] = static (operand, variables) => ConversionOperators.ParseShort("$toDate", BsonType.DateTime, operand, variables),
            ["$toDecimal"] = static (operand, variables) =>
                ConversionOperators.ParseShort("$toDecimal", BsonType.Decimal128, operand, variables),
            ["$toDouble"] = static (operand, variables) => ConversionOperators.ParseShort("$toDouble", BsonType.Double, operand, variables),
            ["$toInt"] = static (operand, variables) => ConversionOperators.ParseShort("$toInt", BsonType.Int32, operand, variables),
            ["$toLong"] = static (operand, variables) => ConversionOperators.ParseShort("$toLong", BsonType.Int64, operand, variables),
            ["$toObjectId"] = static (operand, variables) =>
                ConversionOperators.ParseShort("$toObjectId", BsonType.ObjectId, operand, variables),
            ["$toString"] = static (operand, variables) => ConversionOperators.ParseShort("$toString", BsonType.String, operand, variables),
            ["$rand"] = static (_, _) => new ControlExpression(static _ => Values.Of(Random.Shared.NextDouble())),
        }.ToFrozenDictionary();

    private static Expression Conjunction(Expression[] operands, bool stopsAt)
    {
        // One operand that decides it is enough, wherever it stands; the others are not looked at.
        if (operands.Any(operand => operand is ConstantExpression constant && Values.IsTrue(constant.Value) == stopsAt))
            return new ConstantExpression(Values.Of(stopsAt));
        return new ControlExpression(scope => Decide(operands, stopsAt, scope));
    }

    private static BsonValue? Decide(Expression[] operands, bool stopsAt, Scope scope)
    {
        foreach (Expression operand in operands)
        {
            if (Values.IsTrue(operand.Evaluate(scope)) == stopsAt)
                return Values.Of(stopsAt);
        }

        return Values.Of(!stopsAt);
    }

    private static ControlExpression Conditional(BsonValue operand, Variables? variables)
    {
        Expression[] parts;
        if (operand.Type == BsonType.Document)
        {
            Dictionary<string, Expression> named = Named("$cond", operand, variables, 17083, ["if", "then", "else"]);
            parts = [Required(named, "if", 17080), Required(named, "then", 17081), Required(named, "else", 17082)];
        }
        else
        {
            parts = ExpressionParser.Operands(operand, variables);
            if (parts.Length != 3)
                throw CommandException.Location(16020, $"Expression $cond takes exactly 3 arguments. {parts.Length} were passed in.");
        }

        return new ControlExpression(scope => parts[Values.IsTrue(parts[0].Evaluate(scope)) ? 1 : 2].Evaluate(scope));
    }

    private static ControlExpression FirstThatIs(Expression[] operands)
    {
        if (operands.Length < 2)
            throw CommandException.Location(1257300, $"$ifNull needs at least two arguments, had: {operands.Length}");
        return new ControlExpression(scope =>
        {
            for (int i = 0; i < operands.Length - 1; i++)
            {
                BsonValue? value = operands[i].Evaluate(scope);
                if (!Values.IsNullish(value))
                    return value;
            }

            return operands[^1].Evaluate(scope);
        });
    }

    private static ControlExpression Switch(BsonValue operand, Variables? variables)
    {
        BsonDocument fields = Fields("$switch", operand, 40060);
        BsonValue list =
            DirectFields.Find(fields, "branches") ?? throw CommandException.Location(40068, "$switch requires at least one branch.");
        if (list.Type != BsonType.Array)
            throw CommandException.Location(40061, $"$switch expected an array for 'branches', found: {Values.TypeName(list)}");
        RequireOnly("$switch", fields, 40067, ["branches", "default"]);
        (Expression Case, Expression Then)[] branches = [.. Values.Items(list).Select(branch =>
        {
            Dictionary<string, Expression> named = Named("$switch", branch, variables, 40063, ["case", "then"]);
            return (Required(named, "case", 40064), Required(named, "then", 40065));
        })];
        if (branches.Length == 0)
            throw CommandException.Location(40068, "$switch requires at least one branch.");
        Expression? otherwise = DirectFields.Find(fields, "default") is { } value ? ExpressionParser.Parse(value, variables) : null;
        if (otherwise == null && branches.All(branch => branch.Case is ConstantExpression known && !Values.IsTrue(known.Value)))
            throw CommandException.Location(
                40069, "Cannot execute a switch statement where all the cases evaluate to false without a default");
        return new ControlExpression(scope =>
        {
            foreach ((Expression condition, Expression then) in branches)
            {
                if (Values.IsTrue(condition.Evaluate(scope)))
                    return then.Evaluate(scope);
            }

            if (otherwise == null)
                throw CommandException.Location(
                    40066, "$switch could not find a matching branch for an input, and no default was specified.");
            return otherwise.Evaluate(scope);
        });
    }

    private static ControlExpression Let(BsonValue operand, Variables? variables)
    {
        BsonDocument fields = Fields("$let", operand, 16874);
        RequireOnly("$let", fields, 16875, ["vars", "in"]);
        BsonValue vars = DirectFields.Find(fields, "vars") ?? throw CommandException.Location(16876, "Missing 'vars' parameter to $let");
        BsonValue inner = DirectFields.Find(fields, "in") ?? throw CommandException.Location(16877, "Missing 'in' parameter to $let");
        if (vars.Type is not (BsonType.Document or BsonType.Array))
            throw CommandException.Location(10065, "invalid parameter: expected an object (vars)");
        (string Name, Expression Value)[] values = [.. vars.ToDocument()
            .Select(pair => (pair.Key, ExpressionParser.Parse(pair.Value, variables)))];
        Variables? declared = variables;
        foreach ((string name, _) in values)
            declared = ExpressionParser.Declare(declared, name);
        Expression result = ExpressionParser.Parse(inner, declared);
        return new ControlExpression(scope =>
        {
            Scope with = scope;
            foreach ((string name, Expression value) in values)
                with = with.With(name, value.EvaluateAndHold(scope));
            return result.Evaluate(with);
        });
    }

    private static ControlExpression Map(BsonValue operand, Variables? variables)
    {
        (Expression input, string name, Expression inner) = OverElements("$map", operand, variables, "in", 16878, 16879, [16880, 16882]);
        return new ControlExpression(scope => OverArray(input.EvaluateAndHold(scope), 16883, "input to $map must be an array not {0}",
            items => items.Select(item => inner.Evaluate(scope.With(name, item)) ?? Values.Null)));
    }

    private static ControlExpression Filter(BsonValue operand, Variables? variables)
    {
        (Expression input, string name, Expression condition) = OverElements(
            "$filter", operand, variables, "cond", 28646, 28647, [28648, 28650], "limit");
        Expression? limit = DirectFields.Find(operand.ToDocument(), "limit") is { } given ? ExpressionParser.Parse(given, variables) : null;
        return new ControlExpression(scope => OverArray(input.EvaluateAndHold(scope), 28651, "input to $filter must be an array not {0}",
            items =>
                items.Where(item => Values.IsTrue(condition.Evaluate(scope.With(name, item)))).Take(FilterLimit(limit?.Evaluate(scope)))));
    }

    private static int FilterLimit(BsonValue? limit)
    {
        if (Values.IsNullish(limit))
            return int.MaxValue;
        BsonValue number = limit!.Value;
        if (!number.IsNumber || number.ToDouble() != Math.Floor(number.ToDouble())
            || number.ToDouble() is < int.MinValue or > int.MaxValue)
            throw CommandException.Location(
                327391, $"$filter: limit must be represented as a 32-bit integral value: {Values.Text(number)}");
        return number.ToDouble() >= 1
            ? (int)number.ToDouble()
            : throw CommandException.Location(327392, $"$filter: limit must be greater than 0: {Values.Text(number)}");
    }

    private static ControlExpression Reduce(BsonValue operand, Variables? variables)
    {
        BsonDocument fields = Fields("$reduce", operand, 40075);
        RequireOnly("$reduce", fields, 40076, ["input", "initialValue", "in"]);
        Expression input = Parse(fields, "input", variables, 40077, "$reduce requires 'input' to be specified");
        Expression initial = Parse(fields, "initialValue", variables, 40078, "$reduce requires 'initialValue' to be specified");
        Variables declared = ExpressionParser.Declare(ExpressionParser.Declare(variables, "this"), "value");
        Expression inner = Parse(fields, "in", declared, 40079, "$reduce requires 'in' to be specified");
        return new ControlExpression(scope =>
        {
            BsonValue? array = input.EvaluateAndHold(scope);
            if (Values.IsNullish(array))
                return Values.Null;
            RequireArray(array!.Value, 40080, "$reduce requires that 'input' be an array, found: {0}");
            long held = ActiveOperation.Held;
            BsonValue? result = initial.Evaluate(scope);
            foreach (BsonValue item in Values.Items(array.Value))
            {
                Values.Hold(result);
                result = inner.Evaluate(scope.With("value", result).With("this", item));
                ActiveOperation.Release(held);
            }

            return result;
        });
    }

    private static ControlExpression GetField(BsonValue operand, Variables? variables)
    {
        bool isNamed = operand.Type == BsonType.Document && operand.ToDocument().FirstOrDefault().Key is not ['$', ..];
        Dictionary<string, Expression> named = isNamed
            ? Named("$getField", operand, variables, 3041701, ["field", "input"])
            : new() { ["field"] = ExpressionParser.Parse(operand, variables) };
        Expression name = Required(named, "field", 3041702);
        string field = FieldText("$getField", isNamed ? Given(operand, "field") : operand, name);
        Expression? input = named.GetValueOrDefault("input");
        if (isNamed && input == null)
            throw CommandException.Location(3041703, "$getField requires 'input' to be specified");
        return new ControlExpression(scope =>
        {
            BsonValue? value = input == null ? Values.Of(scope.Root) : input.Evaluate(scope);
            if (value is { Type: BsonType.Document } document)
                return DirectFields.Find(document.ToDocument(), field);
            return value != null && Values.IsNullish(value) ? Values.Null : null;
        });
    }

    /// <summary>$setField; without a value, or with $$REMOVE, $unsetField.</summary>
    private static ControlExpression SetField(string name, BsonValue operand, Variables? variables, params string[] known)
    {
        Dictionary<string, Expression> named = Named(name, operand, variables, 4161102, known);
        Expression fieldName = Required(named, "field", 4161102);
        string field = FieldText(name, Given(operand, "field"), fieldName);
        ProtocolLimits.RequireName(field);
        Expression input = Required(named, "input", 4161109);
        Expression? value = named.GetValueOrDefault("value");
        return new ControlExpression(scope =>
        {
            BsonValue? from = input.EvaluateAndHold(scope);
            if (Values.IsNullish(from))
                return Values.Null;
            if (from!.Value.Type != BsonType.Document)
                throw CommandException.Location(4161105, "$setField requires 'input' to evaluate to type Object");
            BsonValue? now = value?.Evaluate(scope);
            List<(string Name, BsonValue Value)> fields = [.. from.Value.ToDocument().Select(pair => (pair.Key, pair.Value))];
            int at = fields.FindIndex(pair => pair.Name == field);
            if (now is not { } known)
                fields.RemoveAll(pair => pair.Name == field);
            else if (at >= 0)
                fields[at] = (field, known);
            else
                fields.Add((field, known));
            return Values.Document(fields);
        });
    }

    /// <summary>What stands in an operand that <see cref="Named"/> has read.</summary>
    private static BsonValue Given(BsonValue operand, string field) => operand.ToDocument().Last(pair => pair.Key == field).Value;

    /// <param name="name">The operator.</param>
    /// <param name="given">As the client gave it: unlike other operators these take nothing that has to be worked out.</param>
    /// <param name="expression">The same, parsed.</param>
    private static string FieldText(string name, BsonValue given, Expression expression)
    {
        bool isConstant = given.Type != BsonType.Document || given.ToDocument().FirstOrDefault().Key is "$literal" or "$const";
        (int path, int notConstant, int notText) = name == "$getField" ? (5654600, 5654601, 5654602) : (4161108, 4161106, 4161107);
        return expression switch
        {
            ConstantExpression { Value: { Type: BsonType.String } text } when isConstant => text.ToString(),
            PathExpression =>
                throw CommandException.Location(path, $"{name} takes no path as its 'field'. Did you mean {{$literal: ...}}?"),
            // An array or a document is not a constant here, whatever is in it.
            ConstantExpression { Value.Type: not (BsonType.Array or BsonType.Document) } when isConstant =>
                throw CommandException.Location(notText, $"{name} requires 'field' to evaluate to a string"),
            _ => throw CommandException.Location(
                notConstant, $"{name} requires 'field' to evaluate to a constant, but got a non-constant argument"),
        };
    }

    private static (Expression Input, string Name, Expression Inner) OverElements(
        string name, BsonValue operand, Variables? variables, string inside, int notAnObject, int unknown,
        int[] missing, params string[] optional)
    {
        BsonDocument fields = Fields(name, operand, notAnObject);
        RequireOnly(name, fields, unknown, ["input", "as", inside, .. optional]);
        Expression input = Parse(fields, "input", variables, missing[0], $"Missing 'input' parameter to {name}");
        string variable = DirectFields.Find(fields, "as") is { } given ? given.ToString() : "this";
        Expression inner = Parse(
            fields, inside, ExpressionParser.Declare(variables, variable), missing[1], $"Missing '{inside}' parameter to {name}");
        return (input, variable, inner);
    }

    private static BsonValue OverArray(BsonValue? value, int code, string text, Func<IEnumerable<BsonValue>, IEnumerable<BsonValue>> change)
    {
        if (Values.IsNullish(value))
            return Values.Null;
        RequireArray(value!.Value, code, text);
        return Values.Array(change(Values.Items(value.Value)));
    }

    private static void RequireArray(BsonValue value, int code, string text)
    {
        if (value.Type != BsonType.Array)
            throw CommandException.Location(code, string.Format(null, text, Values.TypeName(value)));
    }

    private static BsonDocument Fields(string name, BsonValue operand, int code) => operand.Type == BsonType.Document
        ? operand.ToDocument()
        : throw CommandException.Location(code, $"{name} only supports an object as its argument");

    private static void RequireOnly(string name, BsonDocument fields, int code, string[] known)
    {
        foreach ((string field, _) in fields)
        {
            if (!known.Contains(field))
                throw CommandException.Location(code, $"Unrecognized parameter to {name}: {field}");
        }
    }

    private static Expression Parse(BsonDocument fields, string field, Variables? variables, int code, string text) =>
        DirectFields.Find(fields, field) is { } value
            ? ExpressionParser.Parse(value, variables)
            : throw CommandException.Location(code, text);

    private static Dictionary<string, Expression> Named(string name, BsonValue operand, Variables? variables, int unknown, string[] known)
    {
        BsonDocument fields = Fields(name, operand, unknown);
        RequireOnly(name, fields, unknown, known);
        var parsed = new Dictionary<string, Expression>();
        // Of one that is given twice the last counts.
        foreach ((string field, BsonValue value) in fields)
            parsed[field] = ExpressionParser.Parse(value, variables);
        return parsed;
    }

    private static Expression Required(Dictionary<string, Expression> named, string field, int code) =>
        named.GetValueOrDefault(field) ?? throw CommandException.Location(code, $"the parameter '{field}' is missing");
}
