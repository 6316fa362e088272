using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>
/// Which fields of a document are returned. Compiled again and again, without new memory where only top-level fields are named. One thread.
/// </summary>
/// <param name="filter">What the documents meet; its matches are what the positional <c>$</c> asks for.</param>
internal sealed class Projection(Filter filter)
{
    private readonly List<(int Start, int Length)> _names = [];
    private byte[] _source = new byte[128];
    private bool _includesId;
    private bool _isInclusion;
    private ProjectionTree? _tree;
    private Variables? _variables;

    /// <summary>False: documents are returned as they are.</summary>
    public bool IsGiven { get; private set; }

    /// <summary>Whether it asks which element met the query.</summary>
    public bool IsPositional => IsGiven && _tree?.Positional != null;

    /// <summary>It has operators, which may compare values.</summary>
    public bool HasOperators { get; private set; }

    public void Clear() => (IsGiven, HasOperators) = (false, false);

    /// <exception cref="CommandException">Inclusion and exclusion mixed, or a form that is not known here.</exception>
    public void Compile(ReadOnlySpan<byte> document, Variables? variables)
    {
        _tree = null;
        HasOperators = false;
        if (!IsSimple(document))
        {
            HasOperators = CollationLimits.HasOperators(new BsonDocument(document.ToArray()));
            _tree = ProjectionTree.Parse(new BsonDocument(document.ToArray()), variables, isFind: true);
            _variables = variables;
            IsGiven = true;
            return;
        }

        if (_source.Length < document.Length)
            _source = new byte[2 * document.Length];
        document.CopyTo(_source);
        _names.Clear();
        _includesId = true;
        bool? isInclusion = null;
        bool? idAlone = null;
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            ActiveOperation.Check();
            bool included = reader.ToBoolean();
            bool isId = reader.NameIs("_id"u8);
            if (isId ? idAlone.HasValue : Holds(reader.Name))
                throw Collision(reader.NameText);
            if (isId)
            {
                _includesId = included;
                idAlone = included;
                continue;
            }

            if (isInclusion.HasValue && isInclusion != included)
                throw Mixed(reader.NameText, included);
            isInclusion = included;
            // A BSON element's name starts behind its type byte.
            _names.Add((reader.ElementOffset + 1, reader.Name.Length));
        }

        IsGiven = isInclusion.HasValue || idAlone.HasValue;
        _isInclusion = isInclusion ?? idAlone ?? false;
    }

    /// <summary>Writes the document's chosen elements as a document of that name.</summary>
    public void Write(BsonWriter writer, ReadOnlySpan<byte> name, ReadOnlySpan<byte> document)
    {
        if (_tree != null)
        {
            BsonDocument made = _tree.Apply(new BsonDocument(document.ToArray()), _variables);
            if (_tree.Positional is { } path)
                made = PositionalOperand.Cut(made, path.Split('.'), MatchPosition.Of(filter, document));
            ProtocolLimits.RequireReturnable(made);
            writer.WriteDocument(name, made.Bytes);
            return;
        }

        writer.StartDocument(name);
        int missing = _names.Count + (_includesId ? 1 : 0);
        var reader = new BsonReader(document);
        while ((!_isInclusion || missing > 0) && reader.Read())
        {
            bool isId = reader.NameIs("_id"u8);
            if (isId ? !_includesId : Holds(reader.Name) != _isInclusion)
                continue;
            writer.WriteValue(reader.Name, reader.Type, reader.Value);
            missing--;
        }

        writer.End();
    }

    private bool Holds(ReadOnlySpan<byte> name)
    {
        foreach ((int start, int length) in _names)
        {
            if (name.SequenceEqual(_source.AsSpan(start, length)))
                return true;
        }

        return false;
    }

    /// <summary>Top-level names with flags: what the measured queries ask for, done without a tree.</summary>
    private static bool IsSimple(ReadOnlySpan<byte> document)
    {
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            if (reader.Name.IndexOfAny((byte)'.', (byte)'$') >= 0 || reader.Name.Length == 0
                || (!reader.IsNumber && reader.Type != BsonType.Boolean))
                return false;
        }

        return true;
    }

    public static CommandException Collision(string path) => CommandException.Location(31250, $"Path collision at {path}");

    public static CommandException Mixed(string field, bool included) => included
        ? CommandException.Location(31253, $"Cannot do inclusion on field {field} in exclusion projection")
        : CommandException.Location(31254, $"Cannot do exclusion on field {field} in inclusion projection");
}
