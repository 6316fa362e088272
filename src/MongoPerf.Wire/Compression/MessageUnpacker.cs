using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Compression;

/// <summary>Unpacks messages of others, by whichever compressor each names. One thread.</summary>
public sealed class MessageUnpacker : IDisposable
{
    private const int PrefixBytes = 9;

    private readonly MessageCompression?[] _byId = new MessageCompression?[4];

    /// <summary>Unpacks an OP_COMPRESSED; any other message is handed back as it is.</summary>
    /// <param name="message">Header included, exactly as long as the header says.</param>
    /// <returns>Valid until the next call.</returns>
    /// <exception cref="WireProtocolException">Damaged, or by a compressor that does not exist.</exception>
    public ReadOnlySpan<byte> Unpack(ReadOnlySpan<byte> message)
    {
        if (message.Length < MessageHeader.Size + PrefixBytes || !MessageCompression.IsCompressed(message))
            return message;
        byte id = message[MessageHeader.Size + PrefixBytes - 1];
        // Source: OP_COMPRESSED.md, "compressor ids"; 0 compresses nothing, and no driver sends it.
        if (id is 0 or > 3)
            throw new WireProtocolException($"OP_COMPRESSED by compressor {id}; allowed: 1 (snappy), 2 (zlib), 3 (zstd)");
        return (_byId[id] ??= new MessageCompression(Compressors.Create(Compressors.Known[id - 1], zlibLevel: -1))).Unpack(message);
    }

    public void Dispose()
    {
        foreach (MessageCompression? compression in _byId)
            compression?.Dispose();
    }
}
