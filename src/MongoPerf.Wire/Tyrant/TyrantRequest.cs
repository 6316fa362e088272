using System.Buffers.Binary;
using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Wire.Tyrant;

/// <summary>Writes one request of Tokyo Tyrant's binary protocol into a buffer that is used again for the next one.</summary>
/// <remarks>
/// One thread; integers are big-endian. A function's arguments are counted as they are added: what is written is a whole
/// request at any time.
/// </remarks>
public sealed class TyrantRequest
{
    private const byte Magic = 0xC8;

    /// <summary>Leaves the update log out, among a function's options. It is for functions that change nothing.</summary>
    private const int WithoutUpdateLog = 1;

    /// <summary>Where the number of arguments stands in a function's request: magic, command, length of the name, options.</summary>
    private const int ArgumentCountOffset = 10;

    private readonly BsonWriter _bytes = new();
    private int _arguments;
    private int _argumentStart;

    public ReadOnlySpan<byte> Written => _bytes.Written;

    /// <summary>A request that is its command alone: sync, vanish, rnum, size, stat.</summary>
    public static byte[] Plain(TyrantCommand command) => [Magic, (byte)command];

    /// <summary>Starts anew with a command on a key and a value: put and its kin.</summary>
    /// <param name="command">Put, PutKeep, PutCat or PutUnacknowledged.</param>
    /// <param name="key">1 byte or more.</param>
    /// <param name="value">Names and values for a table database, each parted from the next by a zero byte.</param>
    public void StartRecord(TyrantCommand command, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        Start(command);
        WriteInt32(key.Length);
        WriteInt32(value.Length);
        _bytes.WriteRaw(key);
        _bytes.WriteRaw(value);
    }

    /// <summary>Starts anew with a call of a function; its arguments follow.</summary>
    /// <param name="name">The name, such as put, search, setindex; at most 1,023 bytes.</param>
    /// <param name="changes">False for a function that only reads.</param>
    public void StartFunction(ReadOnlySpan<byte> name, bool changes)
    {
        Start(TyrantCommand.Function);
        WriteInt32(name.Length);
        WriteInt32(changes ? 0 : WithoutUpdateLog);
        WriteInt32(0);
        _bytes.WriteRaw(name);
        _arguments = 0;
    }

    public void AddArgument(ReadOnlySpan<byte> text) => StartArgument(text).EndArgument();

    public void AddArgument(string text) => AddArgument(Encoding.UTF8.GetBytes(text));

    /// <summary>Starts an argument of several words, which zero bytes part.</summary>
    public TyrantRequest StartArgument(ReadOnlySpan<byte> firstWord)
    {
        _argumentStart = _bytes.Length;
        WriteInt32(0);
        _bytes.WriteRaw(firstWord);
        return this;
    }

    public TyrantRequest AddWord(ReadOnlySpan<byte> word)
    {
        StartWord().WriteRaw(word);
        return this;
    }

    /// <summary>Starts another word; what the caller writes until the next call is its text.</summary>
    public BsonWriter StartWord()
    {
        _bytes.WriteRawByte(0);
        return _bytes;
    }

    public void EndArgument()
    {
        Span<byte> bytes = _bytes.WrittenForPatching;
        BinaryPrimitives.WriteInt32BigEndian(bytes[_argumentStart..], bytes.Length - _argumentStart - sizeof(int));
        BinaryPrimitives.WriteInt32BigEndian(bytes[ArgumentCountOffset..], ++_arguments);
    }

    private void Start(TyrantCommand command)
    {
        _bytes.Clear();
        _bytes.WriteRawByte(Magic);
        _bytes.WriteRawByte((byte)command);
    }

    private void WriteInt32(int value) => BinaryPrimitives.WriteInt32BigEndian(_bytes.Grow(sizeof(int)), value);
}
