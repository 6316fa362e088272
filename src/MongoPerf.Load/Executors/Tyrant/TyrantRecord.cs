using MongoPerf.Load.Collections;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Load.Executors.Tyrant;

/// <summary>A document as a table database holds it: a key, and columns of text.</summary>
/// <remarks>
/// <para><c>_id</c> is the key. Each other field is a column of its name; a field of a nested document is one of both names with a dot
/// between them, which is how MongoDB's queries name it too. Null is no column at all. See <see cref="TyrantText"/> for the values.</para>
/// <para>One thread; used again and again, it allocates nothing once its buffers have grown.</para>
/// </remarks>
public sealed class TyrantRecord
{
    private readonly BsonWriter _key = new(64);
    private readonly BsonWriter _columns = new(1024);
    private readonly BsonWriter _prefix = new(64);
    private TyrantColumnKind[] _kinds = new TyrantColumnKind[16];
    private TyrantColumnKind _keyKind;

    /// <summary>The document's <c>_id</c>.</summary>
    public ReadOnlySpan<byte> Key => _key.Written;

    /// <summary>Name, zero byte, value, zero byte, name …: how put, putlist and a search that fetches records write it.</summary>
    public ReadOnlySpan<byte> Columns => _columns.Written;

    public int ColumnCount { get; private set; }

    /// <summary>Takes over a document.</summary>
    /// <exception cref="OperationLimitException">It has no <c>_id</c>, no other field, or one that no column can hold.</exception>
    public void Read(ReadOnlySpan<byte> document)
    {
        _key.Clear();
        _columns.Clear();
        _prefix.Clear();
        ColumnCount = 0;
        ReadFields(document);
        if (_key.Length == 0)
            throw new OperationLimitException("the document has no '_id'; Tokyo Tyrant needs a non-empty one as its key");
        if (ColumnCount == 0)
            throw new OperationLimitException("the document has no field besides '_id'; Tokyo Tyrant needs at least one");
    }

    /// <summary>Takes a fetched record apart.</summary>
    /// <param name="element">Zero byte, key, zero byte, then the columns: the key stands under the empty name.</param>
    /// <param name="key">Empty when the element is no such thing.</param>
    /// <param name="columns">What follows.</param>
    public static void Split(ReadOnlySpan<byte> element, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> columns)
    {
        key = columns = [];
        if (element.Length < 2 || element[0] != 0 || element[1..].IndexOf((byte)0) is not (>= 0 and var length))
            return;
        key = element.Slice(1, length);
        columns = element[(length + 2)..];
    }

    /// <summary>Adds key, name, value, name … to a call of put, putkeep or putcat.</summary>
    public void AddTo(TyrantRequest request)
    {
        request.AddArgument(Key);
        foreach (Range text in Columns.Split((byte)0))
            request.AddArgument(Columns[text]);
    }

    /// <summary>Adds key and columns, as one argument each, to a call of putlist.</summary>
    public void AddAsPairTo(TyrantRequest request)
    {
        request.AddArgument(Key);
        request.AddArgument(Columns);
    }

    /// <summary>The kinds of the key and of each column. Allocates.</summary>
    public IReadOnlyList<(byte[] Name, TyrantColumnKind Kind)> DescribeColumns()
    {
        var columns = new List<(byte[], TyrantColumnKind)> { (TyrantColumns.KeyName.ToArray(), _keyKind) };
        bool isName = true;
        foreach (Range text in Columns.Split((byte)0))
        {
            if (isName)
                columns.Add((Columns[text].ToArray(), _kinds[columns.Count - 1]));
            isName = !isName;
        }

        return columns;
    }

    private void ReadFields(ReadOnlySpan<byte> document)
    {
        bool isOutermost = _prefix.Length == 0;
        var field = new BsonReader(document);
        while (field.Read())
        {
            if (isOutermost && field.NameIs("_id"u8))
                WriteKey(field);
            else if (field.Type == BsonType.Document)
                ReadNested(field);
            else if (field.Type is not (BsonType.Null or BsonType.Undefined))
                WriteColumn(field);
        }
    }

    private void WriteKey(in BsonReader field)
    {
        if (field.Type == BsonType.Array)
            throw new OperationLimitException(
                "'_id' is an array; allowed as a Tokyo Tyrant key: numbers, dates, strings, booleans, ObjectIds");
        TyrantText.Write(_key, field, field.Name);
        _keyKind = KindOf(field.Type);
    }

    private void ReadNested(in BsonReader field)
    {
        int length = _prefix.Length;
        _prefix.WriteRaw(field.Name);
        _prefix.WriteRawByte((byte)'.');
        ReadFields(field.DocumentBytes);
        _prefix.Truncate(length);
    }

    private void WriteColumn(in BsonReader field)
    {
        if (ColumnCount > 0)
            _columns.WriteRawByte(0);
        if (_prefix.Length == 0 && field.Name.IsEmpty)
            throw new OperationLimitException("a field has no name; a Tokyo Tyrant column needs one");
        _columns.WriteRaw(_prefix.Written);
        _columns.WriteRaw(field.Name);
        _columns.WriteRawByte(0);
        TyrantText.Write(_columns, field, field.Name);
        if (ColumnCount == _kinds.Length)
            Array.Resize(ref _kinds, 2 * ColumnCount);
        _kinds[ColumnCount++] = KindOf(field.Type);
    }

    private static TyrantColumnKind KindOf(BsonType type) =>
        TyrantText.IsNumber(type) ? TyrantColumnKind.Number : type == BsonType.Array ? TyrantColumnKind.Words : TyrantColumnKind.Text;
}
