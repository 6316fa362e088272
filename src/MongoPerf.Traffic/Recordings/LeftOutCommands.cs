using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Recordings;

/// <summary>Requests that belong to a connection, a login or a server, not to the application: they are not replayed.</summary>
public static class LeftOutCommands
{
    private static readonly Dictionary<string, string> Reasons = new(StringComparer.OrdinalIgnoreCase)
    {
        ["hello"] = Handshake, ["isMaster"] = Handshake, ["endSessions"] = Handshake, ["refreshSessions"] = Handshake,
        ["startSession"] = Handshake,
        ["saslStart"] = Login, ["saslContinue"] = Login, ["authenticate"] = Login, ["getnonce"] = Login, ["logout"] = Login,
        ["createUser"] = Secret, ["updateUser"] = Secret, ["setParameter"] = Secret, ["copydb"] = Secret,
        ["copydbsaslstart"] = Secret, ["copydbgetnonce"] = Secret,
        ["startRecordingTraffic"] = Recording, ["stopRecordingTraffic"] = Recording, ["startTrafficRecording"] = Recording,
        ["stopTrafficRecording"] = Recording, ["getTrafficRecordingStatus"] = Recording,
        ["replSetHeartbeat"] = Internal, ["replSetUpdatePosition"] = Internal, ["replSetRequestVotes"] = Internal,
        ["voteCommitIndexBuild"] = Internal, ["voteAbortIndexBuild"] = Internal,
    };

    public const string Unanswerable = "reads of cursors that were opened before the recording, or by a request that is left out";
    public const string TransactionNotBegun = "in transactions that began before the recording, or with a request that is left out";
    public const string NotChosen = "not chosen by --only";
    public const string Internal = "the cluster's own";
    public const string Legacy = "in a protocol before OP_MSG";
    public const string Unreadable = "not in MongoDB's protocol";
    public const string Recording = "of the recording itself";

    private const string Handshake = "handshakes and sessions of connections";
    private const string Login = "logins";
    private const string Secret = "that may hold passwords";

    /// <summary>The section of serverStatus that only those ask for by name who look after a recording.</summary>
    public static ReadOnlySpan<byte> RecordingSection => "trafficRecording"u8;

    /// <returns>Why a command is not replayed; null for one that is.</returns>
    public static string? WhyNot(string command) =>
        Reasons.GetValueOrDefault(command) ?? (command.StartsWith('_') ? Internal : null);

    /// <summary>For messages that are no OP_MSG. Drivers of today, too, may begin with a handshake that is none.</summary>
    /// <exception cref="BsonFormatException">It is no BSON.</exception>
    /// <exception cref="WireProtocolException">It is damaged.</exception>
    public static string WhyNot(OpCode code, ReadOnlySpan<byte> message)
    {
        if (code != OpCode.Query)
            return IsLegacy(code) ? Legacy : Unreadable;
        OpQuery query = OpQuery.Parse(message);
        var command = new BsonReader(query.Command);
        return (query.IsCommand && command.Read() ? WhyNot(command.NameText) : null) ?? Legacy;
    }

    /// <summary>Whether messages of before OP_MSG have this code: 1000 and 2001 to 2011.</summary>
    public static bool IsLegacy(OpCode code) => code is (OpCode)1000 or (> (OpCode)2000 and < OpCode.Compressed);

    /// <summary>Whether only members of a cluster send this field to one another, beside the command.</summary>
    public static bool IsInternal(ReadOnlySpan<byte> field) => field.SequenceEqual("shardVersion"u8)
        || field.SequenceEqual("databaseVersion"u8) || field.SequenceEqual("$replData"u8) || field.SequenceEqual("$oplogQueryData"u8);
}
