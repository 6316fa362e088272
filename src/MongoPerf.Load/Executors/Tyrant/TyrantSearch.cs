using System.Globalization;
using System.Text;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Load.Executors.Tyrant;

/// <summary>A find of MongoDB's as a table database's search.</summary>
/// <remarks>
/// One thread. Order, limit and columns are made once; conditions are written for each operation, and nothing is allocated then.
/// </remarks>
internal sealed class TyrantSearch
{
    private readonly TyrantRequest _request = new();
    private readonly TyrantConditions _conditions;
    private readonly byte[][][] _fixedArguments;

    private TyrantSearch(TyrantColumns columns, params byte[][][] fixedArguments)
    {
        _conditions = new TyrantConditions(_request, columns);
        _fixedArguments = fixedArguments;
    }

    public ReadOnlySpan<byte> Request => _request.Written;

    /// <summary>What is wrong with the last search that was refused.</summary>
    public ServerError? LastError { get; private set; }

    /// <summary>One that fetches the records it finds.</summary>
    /// <exception cref="OperationLimitException">The find asks for what a search can't do.</exception>
    public static TyrantSearch Fetching(FindDocuments find, TyrantColumns columns)
    {
        int count = Number("limit", find.Limit);
        byte[][] limit = ["setlimit"u8.ToArray(), Number(count > 0 ? count : -1), Number(Number("skip", find.Skip))];
        byte[][] fetched = ["get"u8.ToArray(), .. Literal("projection", find.Projection) is { } projection ? FetchedBy(projection) : []];
        TyrantSearch search = Literal("sort", find.Sort) is { } sort
            ? new TyrantSearch(columns, OrderOf(sort, columns), limit, fetched)
            : new TyrantSearch(columns, limit, fetched);
        search.Write(find.Filter.ToDocument(default).Bytes);
        return search;
    }

    /// <summary>Writes the request anew for a filter with other values.</summary>
    /// <exception cref="OperationLimitException">The filter asks for what a search can't do.</exception>
    public void Write(ReadOnlySpan<byte> filter)
    {
        _request.StartFunction("search"u8, changes: false);
        _conditions.Write(filter);
        foreach (byte[][] argument in _fixedArguments)
            AddArgument(argument);
    }

    /// <summary>Sends the request and counts what it found.</summary>
    public OperationOutcome Execute(TyrantConnection connection)
    {
        TyrantReply reply = connection.Call(Request);
        if (reply.Succeeded)
            return new OperationOutcome(true, reply.Count, reply.ElementBytes);
        LastError = TyrantExecutor.Refusal(reply.Code);
        return default;
    }

    private void AddArgument(byte[][] words)
    {
        _request.StartArgument(words[0]);
        foreach (byte[] word in words.AsSpan(1))
            _request.AddWord(word);
        _request.EndArgument();
    }

    private static byte[][] OrderOf(BsonDocument sort, TyrantColumns columns)
    {
        (string field, BsonValue direction) = sort.Count() == 1
            ? sort.First()
            : throw new OperationLimitException($"a sort by {sort.Count()} fields is not possible with Tokyo Tyrant; allowed: one field");
        byte[] column = TyrantColumns.NameOf(Encoding.UTF8.GetBytes(field)).ToArray();
        int type = (columns.KindOf(column) == TyrantColumnKind.Number ? 2 : 0) + (direction.ToDouble() < 0 ? 1 : 0);
        return ["setorder"u8.ToArray(), column, Number(type)];
    }

    /// <summary>The key comes along unless the projection says otherwise, as with MongoDB.</summary>
    private static IEnumerable<byte[]> FetchedBy(BsonDocument projection)
    {
        bool withKey = projection.Find("_id")?.ToBoolean() ?? true;
        string[] names = [.. projection.Where(field => field.Key != "_id").Select(field => field.Value.ToBoolean()
            ? field.Key
            : throw new OperationLimitException($"a projection that excludes '{field.Key}' is not possible with Tokyo Tyrant; allowed: "
                + "no projection, or included fields"))];
        return names.Prepend("").Skip(withKey ? 0 : 1).Select(Encoding.UTF8.GetBytes);
    }

    private static BsonDocument? Literal(string name, TemplateValue? value) => value switch
    {
        null => null,
        DocumentValue { IsConstant: true } document => document.ToDocument(default),
        LiteralValue literal => literal.Value.ToDocument(),
        _ => throw NotDrawn(name),
    };

    private static int Number(string name, TemplateValue? value) => value switch
    {
        null => 0,
        LiteralValue literal => (int)Math.Clamp(literal.Value.ToInt64(), 0, int.MaxValue),
        _ => throw NotDrawn(name),
    };

    private static OperationLimitException NotDrawn(string name) =>
        new($"a {name} drawn for each operation is not possible with Tokyo Tyrant; allowed: a fixed {name}");

    private static byte[] Number(int value) => Encoding.UTF8.GetBytes(value.ToString(CultureInfo.InvariantCulture));
}
