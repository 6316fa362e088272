using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>The operand of $type: one or more of the types of BSON, by their numbers or their aliases. Source: manual, "$type".</summary>
internal readonly record struct TypeSet
{
    private static readonly (string Alias, BsonType Type)[] Aliases =
    [
        ("double", BsonType.Double), ("string", BsonType.String), ("object", BsonType.Document), ("array", BsonType.Array),
        ("binData", BsonType.Binary), ("undefined", BsonType.Undefined), ("objectId", BsonType.ObjectId), ("bool", BsonType.Boolean),
        ("date", BsonType.DateTime), ("null", BsonType.Null), ("regex", BsonType.Regex), ("dbPointer", BsonType.DbPointer),
        ("javascript", BsonType.JavaScript), ("symbol", BsonType.Symbol), ("javascriptWithScope", BsonType.JavaScriptWithScope),
        ("int", BsonType.Int32), ("timestamp", BsonType.Timestamp), ("long", BsonType.Int64), ("decimal", BsonType.Decimal128),
        ("minKey", BsonType.MinKey), ("maxKey", BsonType.MaxKey),
    ];

    private static readonly TypeSet Numbers = Of(BsonType.Double) | Of(BsonType.Int32) | Of(BsonType.Int64) | Of(BsonType.Decimal128);

    private readonly uint _bits;

    private TypeSet(uint bits) => _bits = bits;

    public static TypeSet operator |(TypeSet left, TypeSet right) => new(left._bits | right._bits);

    public bool Contains(BsonType type) => (_bits & Bit(type)) != 0;

    /// <summary>The alias that MongoDB has for a type, such as <c>int</c>; also the result of the expression $type.</summary>
    public static string AliasOf(BsonType type) => Array.Find(Aliases, pair => pair.Type == type).Alias;

    /// <exception cref="CommandException">No type has that number or alias.</exception>
    public static TypeSet Parse(BsonType type, ReadOnlySpan<byte> operand)
    {
        var value = new BsonValue(type, operand.ToArray());
        if (type != BsonType.Array)
            return ParseOne(value);
        TypeSet types = default;
        foreach ((_, BsonValue item) in value.ToDocument())
            types |= ParseOne(item);
        return types._bits != 0 ? types : throw CommandException.FailedToParse("$type must match at least one type");
    }

    /// <returns>The type of an alias; null when there is none.</returns>
    public static BsonType? Find(string alias) => Array.Find(Aliases, pair => pair.Alias == alias) is { Alias: not null } found
        ? found.Type : null;

    /// <returns>The type of a number; null when there is none.</returns>
    public static BsonType? Find(double code) =>
        Array.Find(Aliases, pair => code == (pair.Type == BsonType.MinKey ? -1 : (int)pair.Type)) is { Alias: not null } found
            ? found.Type : null;

    private static TypeSet ParseOne(BsonValue value)
    {
        if (value.Type == BsonType.String)
        {
            string alias = value.ToString();
            if (alias == "number")
                return Numbers;
            return Find(alias) is { } known ? Of(known) : throw CommandException.BadValue($"Unknown type name alias: {alias}");
        }

        if (!value.IsNumber)
            throw CommandException.TypeMismatch("type must be represented as a number or a string");
        return Find(value.ToDouble()) is { } found ? Of(found) : throw CommandException.BadValue($"Invalid numerical type code: {value}");
    }

    private static TypeSet Of(BsonType type) => new(Bit(type));

    private static uint Bit(BsonType type) => type switch
    {
        BsonType.MinKey => 1u << 30,
        BsonType.MaxKey => 1u << 31,
        _ => 1u << (int)type,
    };
}
