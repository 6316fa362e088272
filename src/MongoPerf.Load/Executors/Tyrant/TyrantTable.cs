using System.Globalization;
using System.Net;
using System.Text;
using MongoPerf.Load.Collections;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Load.Executors.Tyrant;

/// <summary>A server's table, seen from the side that prepares and looks at it; nothing here is measured.</summary>
/// <remarks>
/// One thread, except <see cref="Abort"/>. A record under the key <c>mongoperf</c> says that MongoPerf made the table, as the marker
/// collection does in MongoDB: clearing removes every record of the server, so whoever calls it looks first. The marker is in no count, but
/// a search without conditions finds it too.
/// </remarks>
public sealed class TyrantTable : IDisposable
{
    /// <summary>The marker's key; no generated document has it.</summary>
    public static ReadOnlySpan<byte> MarkerKey => "mongoperf"u8;

    private readonly TyrantConnection _connection;
    private readonly TyrantRequest _request = new();

    private TyrantTable(TyrantConnection connection) => _connection = connection;

    /// <exception cref="ConnectionFailedException">Not reachable.</exception>
    /// <exception cref="TyrantServerException">Its database is no table database.</exception>
    public static TyrantTable Open(ServerAddress address, ConnectionSettings settings) => new(TyrantConnection.Open(address, settings));

    public TyrantStatus ReadStatus() => _connection.ReadStatus();

    /// <summary>Whether there is anything in the table, and whether MongoPerf made it.</summary>
    public CollectionState Inspect()
    {
        CollectionMarker? marker = ReadMarker();
        return new CollectionState(marker is not null || CountAll() > 0, marker);
    }

    /// <summary>Records, without the marker.</summary>
    public long Count() => CountAll() - (ReadMarker() is null ? 0 : 1);

    /// <summary>Removes every record of the server, whoever wrote it.</summary>
    public void Clear() => RunPlain(TyrantCommand.Vanish, "vanish");

    /// <summary>Writes, or writes again, who made the table.</summary>
    public void Mark(CollectionMarker marker)
    {
        _request.StartFunction("put"u8, changes: true);
        _request.AddArgument(MarkerKey);
        foreach (string text in (string[])[
            "program", "mongoperf", "template", marker.Template, "seed", Text(marker.Seed), "run", marker.RunId,
            "documents", Text(marker.Documents)])
            _request.AddArgument(text);
        Run("put");
    }

    /// <summary>Builds an index on each column, of the type that suits its kind; one that is there is built again.</summary>
    /// <param name="fields">The fields as documents name them. Without an index on _id a search by it looks at every record.</param>
    /// <param name="columns">Their kinds; a column that is not among them is indexed as text.</param>
    public void CreateIndexes(IEnumerable<string> fields, TyrantColumns columns)
    {
        foreach (string field in fields)
        {
            ReadOnlySpan<byte> column = TyrantColumns.NameOf(Encoding.UTF8.GetBytes(field));
            TyrantColumnKind kind = columns.KindOf(column) ?? TyrantColumnKind.Text;
            _request.StartFunction("setindex"u8, changes: true);
            _request.AddArgument(column);
            _request.AddArgument(Text((int)kind));
            Run("setindex");
        }
    }

    /// <summary>Returns when everything is on disk.</summary>
    public void Sync() => RunPlain(TyrantCommand.Sync, "sync");

    /// <summary>
    /// Bytes of each index's file, which lies beside the database's; empty when that is not on this machine, or not known.
    /// </summary>
    public Dictionary<string, long> ReadIndexSizes()
    {
        // The name of the file is the database's, .idx., the column's and what the index is of.
        if (ReadStatus().Path is not { } path || !Path.IsPathRooted(path) || !File.Exists(path) || !IsOnThisMachine)
            return [];
        string prefix = Path.GetFileName(path) + ".idx.";
        return Directory.GetFiles(Path.GetDirectoryName(path)!, prefix + "*")
            .ToDictionary(file => Path.GetFileNameWithoutExtension(file)[prefix.Length..], file => new FileInfo(file).Length);
    }

    /// <summary>Bytes of the database's file and its indexes' files.</summary>
    public long ReadSize() => _connection.CallForNumber(TyrantRequest.Plain(TyrantCommand.Size));

    /// <summary>Ends a call that waits. From any thread.</summary>
    public void Abort() => _connection.Abort();

    public void Dispose() => _connection.Dispose();

    private bool IsOnThisMachine => _connection.Address.Host == "localhost"
        || (IPAddress.TryParse(_connection.Address.Host, out IPAddress? address) && IPAddress.IsLoopback(address));

    private long CountAll() => _connection.CallForNumber(TyrantRequest.Plain(TyrantCommand.RecordCount));

    private CollectionMarker? ReadMarker()
    {
        _request.StartFunction("get"u8, changes: false);
        _request.AddArgument(MarkerKey);
        TyrantReply reply = _connection.Call(_request.Written);
        if (!reply.Succeeded)
            return null;
        Dictionary<string, string> columns = ReadColumns(reply);
        return columns.GetValueOrDefault("program") != "mongoperf" ? null : new CollectionMarker(
            ulong.TryParse(columns.GetValueOrDefault("seed"), out ulong seed) ? seed : 0,
            columns.GetValueOrDefault("template") ?? "",
            columns.GetValueOrDefault("run") ?? "",
            Number(columns, "documents"),
            IsGrown: false);
    }

    private static Dictionary<string, string> ReadColumns(TyrantReply reply)
    {
        var columns = new Dictionary<string, string>(StringComparer.Ordinal);
        string? name = null;
        foreach (ReadOnlySpan<byte> element in reply)
        {
            string text = Encoding.UTF8.GetString(element);
            if (name is not null)
                columns[name] = text;
            name = name is null ? text : null;
        }

        return columns;
    }

    private static long Number(Dictionary<string, string> columns, string name) =>
        long.TryParse(columns.GetValueOrDefault(name), NumberStyles.Integer, CultureInfo.InvariantCulture, out long value) ? value : 0;

    private void Run(string function) =>
        RequireSuccess(function, _connection.WithoutTimeout(connection => connection.Call(_request.Written).Code));

    private void RunPlain(TyrantCommand command, string name) =>
        RequireSuccess(name, _connection.WithoutTimeout(connection => connection.CallForCode(TyrantRequest.Plain(command))));

    private static void RequireSuccess(string function, int code)
    {
        if (code != 0)
            throw new ServerCommandException(function, TyrantExecutor.Refusal(code));
    }

    private static string Text<T>(T value)
        where T : IFormattable => value.ToString(null, CultureInfo.InvariantCulture);
}
