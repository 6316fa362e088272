using System.Text;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Traffic.Proxying;

/// <summary>Has a server record its own traffic: begins it, looks after it, and ends it. One thread.</summary>
/// <param name="connection">To that server, as a user with the right trafficRecord.</param>
public sealed class ServerRecordingControl(MongoConnection connection)
{
    private const int CommandNotFound = 59;
    private const string Folder = "trafficRecordingDirectory";

    /// <summary>Named, so that a replay leaves the request out.</summary>
    private static readonly string Section = Encoding.ASCII.GetString(LeftOutCommands.RecordingSection);

    private bool _isStarted;
    private bool _isBlind;

    /// <summary>Where the server writes, as it says; null where it does not.</summary>
    public string? File { get; private set; }

    /// <summary>The bytes of the file, when last looked at; null where this user may not look (serverStatus).</summary>
    public long? Bytes { get; private set; }

    /// <param name="name">Of the file, in the folder that the server's parameter names.</param>
    /// <exception cref="MongoPerfException">
    /// The file is there already, as far as this machine shows it (2). The server has no such command, or refuses it, mostly for want of
    /// its parameter (7).
    /// </exception>
    public void Start(string name)
    {
        if (connection.RunUnchecked("admin", BsonDocument.Of(("getParameter", 1), (Folder, 1))).FindString(Folder) is { Length: > 0 } folder
            && Path.Combine(folder, name) is var file && Path.Exists(file))
            throw new MongoPerfException(Fault.WrongUsage, $"{file} is there already", "name another file: the server would write over it");
        try
        {
            connection.RunCommand("admin", BsonDocument.Of(("startRecordingTraffic", 1), ("filename", name)));
        }
        catch (ServerCommandException e) when (e.Code == CommandNotFound)
        {
            throw new MongoPerfException(Fault.RejectedByServer, "this server can't record itself as 4.2 to 8.1 do: it has no "
                + "startRecordingTraffic", "record as a proxy: --listen 127.0.0.1:27018", e);
        }
        catch (ServerCommandException e) when (!e.Error.MeansForbidden)
        {
            throw new MongoPerfException(Fault.RejectedByServer, e.Message,
                e.Message.Contains("already active", StringComparison.Ordinal)
                    ? "whoever began it ends it, or in mongosh: db.adminCommand({stopRecordingTraffic: 1})"
                    : "is the server started with --setParameter trafficRecordingDirectory=DIR, and is DIR there?", e);
        }

        _isStarted = true;
    }

    /// <summary>Looks whether it still records.</summary>
    /// <returns>Why not; null when it does, or where this user may not look.</returns>
    public string? WhyEnded()
    {
        if (_isBlind)
            return null;
        BsonDocument? state;
        try
        {
            state = connection.RunCommand("admin", BsonDocument.Of(("serverStatus", 1), (Section, 1))).FindDocument(Section);
        }
        catch (ServerCommandException e) when (e.Error.MeansForbidden)
        {
            _isBlind = true;
            return null;
        }

        File = state?.FindString("recordingFile") ?? File;
        Bytes = state?.FindInt64("currentFileSize") ?? Bytes;
        return state is null || state.IsTrue("running") ? null : "it does not run any longer";
    }

    /// <summary>Ends it, if it was begun.</summary>
    /// <returns>The error that had ended it before; null for none.</returns>
    public string? Stop()
    {
        if (!_isStarted)
            return null;
        _isStarted = false;
        BsonDocument reply;
        try
        {
            WhyEnded();
        }
        finally
        {
            reply = connection.RunUnchecked("admin", BsonDocument.Of(("stopRecordingTraffic", 1)));
        }

        return reply.IsTrue("ok") ? null : ServerError.From(reply).Text;
    }
}
