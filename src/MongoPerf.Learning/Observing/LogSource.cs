using System.IO.Compression;
using System.Text;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Learning.Observing;

/// <summary>The operations in the log of a mongod or mongos (4.4 and later, JSON): those that were slower than its slowms.</summary>
/// <param name="path">The file, as it is or packed with gzip.</param>
/// <param name="database">Only of this database; null for all.</param>
public sealed class LogSource(string path, string? database) : ObservationSource
{
    /// <summary>"Slow query", also of what is not slow.</summary>
    private static readonly byte[] SlowQuery = "\"id\":51803,"u8.ToArray();

    /// <summary>A server cuts its attributes at 10 kB unless maxLogSizeKB says otherwise.</summary>
    private const int LongestLine = 1 << 20;

    private readonly ServerEntries _entries = new();
    private readonly HashSet<string> _statements = [];
    private long _lines;
    private long _unreadable;
    private long _cut;
    private long _withoutStatements;
    private double _least = double.MaxValue;

    public override string Name => $"the log {Path.GetFileName(path)}";

    public override IEnumerable<ObservedOperation> Read()
    {
        bool any = false;
        using Stream file = Open();
        foreach (string line in Lines(file))
        {
            if (Parse(line) is not { } operation || (database is not null && operation.Database != database))
                continue;
            any = true;
            yield return operation;
        }

        foreach (ObservedOperation operation in _entries.Open)
        {
            any = true;
            yield return operation;
        }

        if (!any)
            throw new MongoPerfException(Fault.WrongUsage,
                $"{path}: none of its {_lines:N0} lines tells of an operation" + (database is null ? "" : $" of {database}"),
                "MongoDB 4.4 and later log what takes longer than slowms (100): db.setProfilingLevel(0, {slowms: 0}) logs every operation, "
                + "at the cost of a line each; {slowms: 0, sampleRate: 0.1} a tenth");
        if (_least > 0)
            Note(FormattableString.Invariant($"operations of less than {_least:0} ms: the log has none (slowms)"));
        Note("times of less than a millisecond: the log has whole ones, as the server sees them, without the network; and what slowms and "
            + "sampleRate left out of the log");
        if (_cut > 0)
            Note($"{_cut:N0} commands that the server cut off in its log (parameter maxLogSizeKB)");
        if (_withoutStatements > 0)
            Note($"{_withoutStatements:N0} updates and deletes whose statements are not in the log");
        if (_unreadable > 0)
            Note($"{_unreadable:N0} lines of the log that could not be read");
    }

    private Stream Open()
    {
        FileStream? file = null;
        try
        {
            file = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete, 1 << 16,
                FileOptions.SequentialScan);
            bool isPacked = file.ReadByte() == 0x1F && file.ReadByte() == 0x8B;
            file.Position = 0;
            return isPacked ? new GZipStream(file, CompressionMode.Decompress) : file;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or NotSupportedException)
        {
            file?.Dispose();
            throw Wrong(e);
        }
    }

    private MongoPerfException Wrong(Exception e) => new(Fault.WrongUsage,
        e is FileNotFoundException or DirectoryNotFoundException ? $"{path} does not exist" : $"{path}: {e.Message}", null, e);

    /// <summary>The lines that tell of an operation; what is no line of a log is skipped, however long.</summary>
    private IEnumerable<string> Lines(Stream file)
    {
        byte[] buffer = new byte[LongestLine];
        int filled = 0;
        bool isTooLong = false;
        while (true)
        {
            int count;
            try
            {
                count = file.Read(buffer, filled, buffer.Length - filled);
            }
            catch (Exception e) when (e is IOException or InvalidDataException)
            {
                throw Wrong(e);
            }

            filled += count;
            int start = 0;
            while (EndOfLine(buffer, start, filled, isLast: count == 0) is { } end)
            {
                _lines++;
                if (!isTooLong && buffer.AsSpan(start, end - start).IndexOf(SlowQuery) >= 0)
                    yield return Encoding.UTF8.GetString(buffer, start, end - start);
                isTooLong = false;
                start = Math.Min(end + 1, filled);
            }

            if (count == 0)
                yield break;
            if (start == 0 && filled == buffer.Length)
                (isTooLong, filled) = (true, 0);
            else
                Buffer.BlockCopy(buffer, start, buffer, 0, filled -= start);
        }
    }

    private static int? EndOfLine(byte[] buffer, int start, int filled, bool isLast) =>
        buffer.AsSpan(start, filled - start).IndexOf((byte)'\n') is >= 0 and var length ? start + length
            : isLast && start < filled ? filled : null;

    private ObservedOperation? Parse(string line)
    {
        try
        {
            BsonDocument entry = ExtendedJson.Parse(line);
            if (entry.FindDocument("attr") is not { } attributes || entry.Find("t") is not { Type: BsonType.DateTime } ended
                || attributes.FindString("ns") is null)
            {
                _unreadable++;
                return null;
            }

            if (entry.FindDocument("truncated.command") is not null)
            {
                _cut++;
                return null;
            }

            double took = attributes.FindDouble("durationMillis") ?? 0;
            string connection = entry.FindString("ctx") ?? "";
            string? type = attributes.FindString("type");
            if (!IsStatement(attributes, type, connection))
                return null;
            _least = Math.Min(_least, took);
            return _entries.Add(attributes, type, ended.ToInt64() / 1e3, took, connection, 1);
        }
        catch (Exception e) when (e is ExtendedJsonException or BsonFormatException)
        {
            _unreadable++;
            return null;
        }
    }

    /// <summary>
    /// A mongod logs each statement of an update or delete, and then the command around them, mostly without its statements; a mongos only
    /// the command.
    /// </summary>
    private bool IsStatement(BsonDocument attributes, string? type, string connection)
    {
        if (type is "update" or "remove")
        {
            _statements.Add(connection);
            return true;
        }

        if (attributes.FindDocument("command")?.FirstOrDefault().Key is not ("update" or "delete"))
            return true;
        if (_statements.Remove(connection))
            return false;
        if (attributes.FindDocument("command.updates") is not null || attributes.FindDocument("command.deletes") is not null)
            return true;
        _withoutStatements++;
        return false;
    }
}
