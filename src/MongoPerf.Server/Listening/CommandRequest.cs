using System.Text;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Server.Listening;

/// <summary>One command as it came in: views of the receive buffer, nothing copied.</summary>
public readonly ref struct CommandRequest
{
    internal CommandRequest(ReadOnlySpan<byte> body, OpMsg.SequenceEnumerator sequences, bool wantsReply, bool isLegacyQuery,
        ReadOnlySpan<byte> legacyDatabase = default)
    {
        Body = body;
        Sequences = sequences;
        WantsReply = wantsReply;
        IsLegacyQuery = isLegacyQuery;
        LegacyDatabase = legacyDatabase;
        var reader = new BsonReader(body);
        if (reader.Read())
            Name = reader.Name;
    }

    /// <summary>The command document.</summary>
    public ReadOnlySpan<byte> Body { get; }

    /// <summary>The name of the body's first element; empty when the body is empty.</summary>
    public ReadOnlySpan<byte> Name { get; }

    public string NameText => Encoding.UTF8.GetString(Name);

    /// <summary>Sections of kind 1; none for a legacy query.</summary>
    public OpMsg.SequenceEnumerator Sequences { get; }

    /// <summary>False when the client set moreToCome.</summary>
    public bool WantsReply { get; }

    /// <summary>Came as OP_QUERY, which is allowed for handshakes only.</summary>
    public bool IsLegacyQuery { get; }

    /// <summary>The database of a legacy query, which names it outside of the command.</summary>
    public ReadOnlySpan<byte> LegacyDatabase { get; }

    /// <summary>The documents of the section of that name, back to back.</summary>
    public bool TryGetSequence(ReadOnlySpan<byte> name, out ReadOnlySpan<byte> documents)
    {
        foreach (DocumentSequence sequence in Sequences)
        {
            if (!sequence.Name.SequenceEqual(name))
                continue;
            documents = sequence.Documents;
            return true;
        }

        documents = default;
        return false;
    }
}
