using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>The index that a client insists on: by name, by key pattern, or {$natural: ±1}.</summary>
internal readonly struct IndexHint
{
    private readonly string? _name;
    private readonly BsonDocument? _key;

    private readonly bool _findsHidden;

    private IndexHint(string? name, BsonDocument? key, int natural, bool findsHidden = false)
    {
        _name = name;
        _key = key;
        _findsHidden = findsHidden;
        Natural = natural;
    }

    /// <summary>That of the server itself, which knows hidden ones too.</summary>
    public static IndexHint On(CollectionIndex index) => new(index.Spec.Name, null, 0, findsHidden: true);

    public bool IsGiven => _name != null || _key != null || Natural != 0;

    public int Natural { get; }

    public static IndexHint Parse(BsonReader reader) => Parse(new BsonValue(reader.Type, reader.Value.ToArray()));

    /// <exception cref="CommandException">Neither a string nor a document.</exception>
    public static IndexHint Parse(BsonValue value)
    {
        if (value.Type == BsonType.String)
            return new IndexHint(value.ToString(), null, 0);
        if (value.Type != BsonType.Document)
            throw CommandException.FailedToParse("Hint must be a string or an object");
        BsonDocument key = value.ToDocument();
        if (key.FindDouble("$natural") is { } natural)
            return new IndexHint(null, null, natural < 0 ? -1 : 1);
        return key.Any() ? new IndexHint(null, key, 0) : default;
    }

    /// <returns>Null where there is none, or where it is hidden.</returns>
    /// <exception cref="CommandException">There are several with this key.</exception>
    public CollectionIndex? Find(CollectionIndex[] indexes)
    {
        CollectionIndex? found = null;
        foreach (CollectionIndex index in indexes)
        {
            if ((index.Spec.IsHidden && !_findsHidden) || !(_name != null ? index.Spec.Name == _name : HasKey(index.Spec)))
                continue;
            if (found != null)
                throw new CommandException(27, "IndexNotFound", "error processing query: planner returned error :: caused by :: "
                    + $"Hint matched multiple indexes, must hint by index name. Matched: {found.Spec.Name} and {index.Spec.Name}");
            found = index;
        }

        return found;
    }

    private bool HasKey(IndexSpec spec) => spec.Fields.Select(field => (field.Path.Text, field.IsDescending))
        .SequenceEqual(_key!.Select(pair => (pair.Key, pair.Value.IsNumber && pair.Value.ToDouble() < 0)));
}
