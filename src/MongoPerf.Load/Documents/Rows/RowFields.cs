using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents.Rows;

/// <summary>The fields that the rows of a file have, nested ones too; those of documents in arrays count as the array's.</summary>
public sealed class RowFields
{
    private const int MostListed = 20;

    private readonly Field _root = new([]);
    private int _count;

    /// <summary>Of the documents that were added, nested ones too.</summary>
    private long _documents;

    /// <summary>The most fields that are kept; the _id is kept all the same.</summary>
    internal int Most { get; set; } = 10_000;

    /// <summary>There are more than could be kept: rows may have others.</summary>
    public bool AreTooMany { get; private set; }

    /// <summary>Dotted, without the indexes of arrays.</summary>
    public IEnumerable<string> Paths => PathsOf(_root, "");

    /// <summary>The first of some names, for messages, and how many more there are.</summary>
    public static string Listed(IReadOnlyCollection<string> names) => names.Count <= MostListed ? string.Join(", ", names)
        : $"{string.Join(", ", names.Take(MostListed))} and {names.Count - MostListed:N0} more";

    /// <summary>Whether no row has a field, some have it, or all.</summary>
    public RowShare ShareOf(string path)
    {
        Field? at = _root;
        foreach (string step in path.Split('.'))
            at = at?.Find(Encoding.UTF8.GetBytes(step));
        if (at is null)
            return AreTooMany && path != "_id" ? RowShare.Some : RowShare.None;
        return at.Rows == _root.Rows ? RowShare.All : RowShare.Some;
    }

    /// <exception cref="RowFormatException">A field appears twice.</exception>
    internal void Add(ReadOnlySpan<byte> document) => Add(_root, document, isInArray: false);

    private void Add(Field parent, ReadOnlySpan<byte> document, bool isInArray)
    {
        if (!isInArray)
            parent.Rows++;
        long number = ++_documents;
        HashSet<byte[]>? others = null;
        var reader = new BsonReader(document);
        // Rows mostly have the same fields in the same order.
        for (int at = 0; reader.Read(); at++)
        {
            if (FindOrAdd(parent, reader.Name, at) is not { } field)
            {
                if (!(others ??= new(NameComparer.Instance)).GetAlternateLookup<ReadOnlySpan<byte>>().Add(reader.Name))
                    throw Twice(reader.Name);
                continue;
            }

            if (field.LastIn == number)
                throw Twice(reader.Name);
            field.LastIn = number;
            if (reader.Type == BsonType.Document)
                Add(field, reader.Value, isInArray);
            else if (!isInArray)
                field.Rows++;
            if (reader.Type == BsonType.Array)
                AddItems(field, reader.Value);
        }
    }

    private static RowFormatException Twice(ReadOnlySpan<byte> name) =>
        new($"the field '{Encoding.UTF8.GetString(name.Length > 40 ? name[..40] : name)}' appears twice");

    private void AddItems(Field parent, ReadOnlySpan<byte> array)
    {
        var items = new BsonReader(array);
        while (items.Read())
        {
            if (items.Type == BsonType.Document)
                Add(parent, items.Value, isInArray: true);
            else if (items.Type == BsonType.Array)
                AddItems(parent, items.Value);
        }
    }

    private Field? FindOrAdd(Field parent, ReadOnlySpan<byte> name, int guess)
    {
        if (guess < parent.Children.Count && name.SequenceEqual(parent.Children[guess].Name))
            return parent.Children[guess];
        if (parent.Find(name) is { } known)
            return known;
        if (_count >= Most && !(parent == _root && name.SequenceEqual("_id"u8)))
        {
            AreTooMany = true;
            return null;
        }

        _count++;
        return parent.Add(name.ToArray());
    }

    private static IEnumerable<string> PathsOf(Field parent, string before) => parent.Children.SelectMany(child =>
    {
        string path = before + Encoding.UTF8.GetString(child.Name);
        return PathsOf(child, path + ".").Prepend(path);
    });

    private sealed class Field(byte[] name)
    {
        /// <summary>Names may be data, such as ids, and a row may have very many.</summary>
        private readonly Dictionary<byte[], Field> _byName = new(NameComparer.Instance);

        public byte[] Name => name;

        public List<Field> Children { get; } = [];

        public long Rows { get; set; }

        /// <summary>The last document that it was met in.</summary>
        public long LastIn { get; set; }

        public Field? Find(ReadOnlySpan<byte> child) =>
            _byName.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(child, out Field? field) ? field : null;

        public Field Add(byte[] child)
        {
            var added = new Field(child);
            Children.Add(added);
            _byName.Add(child, added);
            return added;
        }
    }

    /// <remarks>HashCode begins with a number of the process's own: a file can't choose names that collide.</remarks>
    private sealed class NameComparer : IEqualityComparer<byte[]>, IAlternateEqualityComparer<ReadOnlySpan<byte>, byte[]>
    {
        public static NameComparer Instance { get; } = new();

        public bool Equals(byte[]? x, byte[]? y) => x.AsSpan().SequenceEqual(y);

        public bool Equals(ReadOnlySpan<byte> alternate, byte[] other) => alternate.SequenceEqual(other);

        public int GetHashCode(byte[] obj) => GetHashCode(obj.AsSpan());

        public int GetHashCode(ReadOnlySpan<byte> alternate)
        {
            var hash = new HashCode();
            hash.AddBytes(alternate);
            return hash.ToHashCode();
        }

        public byte[] Create(ReadOnlySpan<byte> alternate) => alternate.ToArray();
    }
}

/// <summary>How many rows have a field.</summary>
public enum RowShare
{
    None,
    Some,
    All,
}
