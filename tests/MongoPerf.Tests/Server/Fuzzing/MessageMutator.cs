using System.Text;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Server.Fuzzing;

/// <summary>
/// Makes messages of the corpus: well-formed ones with mutated values and names, and others with mutated bytes. The same seed
/// makes the same messages.
/// </summary>
internal sealed class MessageMutator(int seed)
{
    private const int MostLevels = 260;
    private const int SlowShare = 50;
    private const int TimeLimitMilliseconds = 500;

    private readonly Random _random = new(seed);
    private readonly OpMsgWriter _writer = new();
    private readonly List<long> _cursors = [1];

    /// <summary>A cursor that is open, so that some getMores meet one.</summary>
    public void Remember(long cursor)
    {
        const int Kept = 8;
        if (_cursors.Count == Kept)
            _cursors.RemoveAt(0);
        _cursors.Add(cursor);
    }

    /// <summary>Whether the next messages shall be well-formed ones.</summary>
    public bool NextIsWellFormed() => _random.Next(2) == 0;

    /// <param name="requestId">For the header.</param>
    /// <param name="isWellFormed">Only values and names are mutated, and the server must answer.</param>
    public byte[] Next(int requestId, bool isWellFormed)
    {
        IReadOnlyList<BsonDocument> commands = _random.Next(SlowShare) == 0 ? CommandCorpus.SlowCommands : CommandCorpus.Commands;
        BsonDocument command = commands[_random.Next(commands.Count)];
        if (isWellFormed || _random.Next(4) == 0)
            command = MutateCommand(command);
        byte[] message = Message(command, requestId);
        if (!isWellFormed)
            MutateBytes(ref message);
        return message;
    }

    private byte[] Message(BsonDocument command, int requestId)
    {
        string database = _random.Next(40) == 0 ? "admin" : CommandCorpus.Database;
        string? first = command.FirstOrDefault().Key;
        string? list = first switch { "insert" => "documents", "update" => "updates", "delete" => "deletes", _ => null };
        if (list == null || _random.Next(2) == 0 || command.FindDocument(list) is not { } documents
            || documents.Any(item => item.Value.Type != BsonType.Document))
            return _writer.WriteCommand(database, command, requestId).ToArray();
        _writer.Begin(OpMsgFlags.None, requestId);
        foreach ((string name, BsonValue value) in command.Where(pair => pair.Key != list))
            _writer.Body.WriteValue(Encoding.UTF8.GetBytes(name), value.Type, value.Bytes.Span);
        _writer.EndBody(database);
        _writer.BeginSequence(Encoding.UTF8.GetBytes(list));
        foreach ((_, BsonValue document) in documents)
            _writer.Body.WriteRaw(document.Bytes.Span);
        _writer.EndSequence();
        return _writer.Finish().ToArray();
    }

    /// <summary>The command with some values and names changed; it may be as good as before.</summary>
    public BsonDocument MutateCommand(BsonDocument command)
    {
        for (int i = 1 + _random.Next(3); i > 0; i--)
            command = MutateOne(command);
        if (command.FirstOrDefault().Key == "getMore")
            return BsonDocument.Of([("getMore", _cursors[_random.Next(_cursors.Count)]), .. Fields(command.Skip(1))]);
        // Expressions over long ranges may take minutes, and that is no fault.
        return _random.Next(20) == 0 ? command : BsonDocument.Of([.. Fields(command), ("maxTimeMS", TimeLimitMilliseconds)]);
    }

    /// <summary>Changes one value or name somewhere below; the command's own name stays, mostly.</summary>
    private BsonDocument MutateOne(BsonDocument document)
    {
        KeyValuePair<string, BsonValue>[] fields = [.. document];
        if (fields.Length == 0)
            return BsonDocument.Of((Name(), Value()));
        int at = fields.Length > 1 && _random.Next(20) != 0 ? 1 + _random.Next(fields.Length - 1) : 0;
        List<(string, object?)> changed = [.. Fields(fields)];
        (string name, BsonValue value) = fields[at];
        switch (_random.Next(12))
        {
            case 0: changed[at] = (name, Value()); break;
            case 1: changed[at] = (Name(), value); break;
            case 2: changed.RemoveAt(at); break;
            case 3: changed.Insert(at, (_random.Next(2) == 0 ? name : Name(), value)); break;
            case 4: changed[at] = (name, Deep(value)); break;
            case 5: changed.Add((Name(), Value())); break;
            default: changed[at] = (name, Inside(value)); break;
        }

        return BsonDocument.Of([.. changed]);
    }

    private static IEnumerable<(string, object?)> Fields(IEnumerable<KeyValuePair<string, BsonValue>> fields) =>
        fields.Select(pair => (pair.Key, (object?)pair.Value));

    private BsonValue Inside(BsonValue value)
    {
        if (value.Type is not (BsonType.Document or BsonType.Array))
            return Value();
        BsonDocument changed = MutateOne(BsonDocument.Of([("", null), .. Fields(value.ToDocument())]));
        return new BsonValue(value.Type, BsonDocument.Of([.. Fields(changed.Where(pair => pair.Key.Length > 0))]).Memory);
    }

    /// <summary>Wraps a value again and again: in the names of operators that nest, in documents or in arrays.</summary>
    private BsonValue Deep(BsonValue value)
    {
        string name = new[] { "a", "$not", "$and", "$or", "$abs", "$elemMatch", "$concat", "$add", "0" }[_random.Next(9)];
        byte[][] names = name is "$and" or "$or" or "$concat" or "$add"
            ? [Encoding.UTF8.GetBytes(name), [(byte)'0']]
            : [Encoding.UTF8.GetBytes(name)];
        int levels = _random.Next(MostLevels);
        if (levels == 0)
            return value;
        // Written at once: a document made for each level would take most of a run's time.
        const int Frame = 7;
        byte[] bytes = new byte[value.Bytes.Length + (levels * names.Sum(one => one.Length + Frame))];
        int at = 0;
        int layers = levels * names.Length;
        for (int i = 0; i < layers; i++)
        {
            byte[] field = names[i % names.Length];
            BsonType type = i == layers - 1 ? value.Type : i % names.Length < names.Length - 1 ? BsonType.Array : BsonType.Document;
            // Each ends one byte before the one around it.
            BitConverter.TryWriteBytes(bytes.AsSpan(at), bytes.Length - at - i);
            bytes[at + 4] = (byte)type;
            field.CopyTo(bytes, at + 5);
            at += field.Length + Frame - 1;
        }

        value.Bytes.Span.CopyTo(bytes.AsSpan(at));
        return new BsonValue(BsonType.Document, bytes);
    }

    private BsonValue Value() => CommandCorpus.Values[_random.Next(CommandCorpus.Values.Count)];

    private string Name() => _random.Next(8) == 0
        ? string.Join('.', Enumerable.Repeat("a", _random.Next(1, 300)))
        : CommandCorpus.Names[_random.Next(CommandCorpus.Names.Count)];

    private void MutateBytes(ref byte[] message)
    {
        for (int i = 1 + _random.Next(4); i > 0; i--)
        {
            // Rarely header and flags, which end the connection and little else.
            int from = _random.Next(50) == 0 ? 0 : Math.Min(MessageHeader.Size + 5, message.Length - 1);
            int at = _random.Next(from, message.Length);
            switch (_random.Next(6))
            {
                case 0: message[at] ^= (byte)(1 << _random.Next(8)); break;
                case 1: message[at] = (byte)_random.Next(256); break;
                case 2: message[at] = new byte[] { 0, 1, 3, 4, 5, 0x7F, 0x80, 0xFF }[_random.Next(8)]; break;
                case 3 when at + 4 <= message.Length: BitConverter.TryWriteBytes(message.AsSpan(at),
                    new[] { 0, 1, -1, int.MaxValue, int.MinValue, 5, message.Length }[_random.Next(7)]); break;
                case 4: message = [.. message[..at], .. message[(at + Math.Min(_random.Next(1, 9), message.Length - at))..]]; break;
                default: message = [.. message[..at], .. message[at..Math.Min(message.Length, at + _random.Next(1, 17))], .. message[at..]];
                    break;
            }
        }

        // The frame stays whole, so that what is inside is looked at and the next message is met.
        if (message.Length >= MessageHeader.Size && _random.Next(50) != 0)
            BitConverter.TryWriteBytes(message, message.Length);
    }
}
