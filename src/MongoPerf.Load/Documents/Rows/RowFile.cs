using System.Collections.Concurrent;
using System.Numerics;
using System.Runtime.InteropServices;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;
using Microsoft.Win32.SafeHandles;

namespace MongoPerf.Load.Documents.Rows;

/// <summary>The rows of a CSV or JSON-lines file, any of which can be read by its number.</summary>
/// <remarks>
/// Opening reads all of it once, a piece at a time: every row is checked, and where rows begin is noted for some of them, at most
/// <see cref="MostMarks"/>, so that memory does not grow with the file. All threads; each has a cursor of its own.
/// </remarks>
public sealed class RowFile : IDisposable
{
    /// <summary>The longest row in bytes; the longest document that MongoDB stores has 16 MB, and its JSON can be longer.</summary>
    public const int MostRowBytes = 64 * 1024 * 1024;

    private const int MostDocumentBytes = 16 * 1024 * 1024;
    private const int MostMarks = 32 * 1024;

    private static readonly ConcurrentDictionary<(string Path, long Length, DateTime Changed, string Options), RowFile> Known = new();

    private readonly SafeFileHandle _handle;
    private readonly ThreadLocal<RowCursor> _cursors;
    private readonly List<RowMark> _marks = [];

    private RowFile(string name, SafeFileHandle handle, RowFormat format, string? weight)
    {
        _handle = handle;
        Name = name;
        Format = format;
        Weight = weight is null ? null : new RowField(weight);
        _cursors = new ThreadLocal<RowCursor>(() => new RowCursor(this));
    }

    /// <summary>As the scenario names it.</summary>
    public string Name { get; }

    /// <summary>1 or more.</summary>
    public long Rows { get; private set; }

    /// <summary>The fields that rows have.</summary>
    public RowFields Fields { get; } = new();

    /// <summary>Bytes of the longest row as a document.</summary>
    public int LongestDocument { get; private set; }

    /// <summary>Differs, as good as surely, between files with different contents.</summary>
    public string Checksum { get; private set; } = "";

    internal RowFormat Format { get; }

    /// <summary>The field that weighs rows; null for none.</summary>
    internal RowField? Weight { get; }

    internal double TotalWeight { get; private set; }

    /// <summary>Opens and checks a file, or finds it among those of this process if it has not changed since.</summary>
    /// <param name="name">As the scenario names it.</param>
    /// <param name="path">Where it is.</param>
    /// <param name="types">Types of a CSV file's columns by name.</param>
    /// <param name="weight">The field that weighs its rows; null for none.</param>
    /// <exception cref="RowFormatException">It can't be read, or a row is wrong: says which and why.</exception>
    public static RowFile Open(string name, string path, IReadOnlyDictionary<string, CellType> types, string? weight)
    {
        try
        {
            var info = new FileInfo(path);
            if (!info.Exists)
                throw new RowFormatException(Directory.Exists(path) ? $"{name} is a folder" : $"{name}: no such file");
            // A pipe has no length either, and opening it might wait for ever.
            if (info.Length == 0)
                throw new RowFormatException($"{name} is empty, or not a regular file");
            string options = string.Join('\0', types.Select(type => $"{type.Key}:{type.Value}").Append(weight));
            return Known.GetOrAdd((path, info.Length, info.LastWriteTimeUtc, options), _ => Read(name, path, types, weight));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new RowFormatException($"{name} can't be read: {e.Message}");
        }
    }

    public void Dispose()
    {
        _cursors.Dispose();
        _handle.Dispose();
    }

    /// <summary>The bytes of one row; valid until this thread asks for another.</summary>
    /// <param name="row">0-based, below <see cref="Rows"/>.</param>
    internal ReadOnlySpan<byte> RowAt(long row) => _cursors.Value!.Read(row);

    /// <summary>The row at which the sum of weights exceeds a number.</summary>
    /// <param name="sum">At least 0, below <see cref="TotalWeight"/>.</param>
    internal long RowOf(double sum)
    {
        RowMark mark = _marks[LastMark(sum, static (m, at) => m.WeightBefore <= at)];
        double before = mark.WeightBefore;
        for (long row = mark.Row; row < Rows; row++)
        {
            try
            {
                before += Weight!.NumberIn(Format, RowAt(row));
            }
            catch (RowFormatException)
            {
                throw Changed();
            }

            if (sum < before)
                return row;
        }

        return Rows - 1;
    }

    /// <summary>The last mark at or before a row.</summary>
    internal RowMark MarkOf(long row) => _marks[LastMark(row, static (m, at) => m.Row <= at)];

    /// <summary>Reads at a place, as far as the file goes.</summary>
    internal int ReadAt(Span<byte> buffer, long offset)
    {
        try
        {
            return RandomAccess.Read(_handle, buffer, offset);
        }
        catch (IOException e)
        {
            throw new MongoPerfException(Fault.WrongUsage, $"{Name} can't be read: {e.Message}");
        }
    }

    internal MongoPerfException Changed() => new(Fault.WrongUsage, $"{Name} has changed since it was opened");

    private static RowFile Read(string name, string path, IReadOnlyDictionary<string, CellType> types, string? weight)
    {
        SafeFileHandle handle = File.OpenHandle(path, options: FileOptions.SequentialScan);
        try
        {
            var file = new RowFile(name, handle, RowFormat.Of(name, types), weight);
            file.Check();
            return file;
        }
        catch
        {
            handle.Dispose();
            throw;
        }
    }

    private int LastMark<T>(T at, Func<RowMark, T, bool> isBefore)
    {
        int low = 0;
        for (int high = _marks.Count; high - low > 1;)
        {
            int middle = (low + high) / 2;
            (low, high) = isBefore(_marks[middle], at) ? (middle, high) : (low, middle);
        }

        return low;
    }

    private void Check()
    {
        long step = RandomAccess.GetLength(_handle) / MostMarks;
        var reader = new RowReader(this);
        var document = new BsonWriter(64 * 1024);
        uint checksum = 0;
        double weights = 0;
        long nextMark = 0;
        bool hasRows = reader.Start(0, isFirst: true);
        Fields.Most = Math.Max(Fields.Most, Format.Columns);
        for (; hasRows && reader.MoveNext(); Rows++)
        {
            if (reader.Offset >= nextMark)
            {
                _marks.Add(new RowMark(Rows, reader.Offset, weights));
                nextMark = reader.Offset + step;
            }

            ReadOnlySpan<byte> row = reader.Row;
            checksum = Add(checksum, row);
            try
            {
                document.Clear();
                Format.WriteDocument(document, row);
                Fields.Add(document.Written);
            }
            catch (RowFormatException e)
            {
                throw Wrong(reader, e.Message);
            }

            if (document.Length > MostDocumentBytes)
                throw Wrong(reader, $"a document of {document.Length:N0} bytes; MongoDB stores at most {MostDocumentBytes:N0}");
            LongestDocument = Math.Max(LongestDocument, document.Length);
            if (Weight is null)
                continue;
            double one = Weight.NumberIn(Format, row);
            if (!(one >= 0 && double.IsFinite(one)))
                throw Wrong(reader, $"{Weight.Path} is not a number of 0 or more, as a weight must be");
            weights += one;
            if (double.IsInfinity(weights))
                throw Wrong(reader, $"{Weight.Path} adds up to more than a number holds");
        }

        if (Rows == 0)
            throw new RowFormatException($"{Name} has no rows");
        if (Weight is not null && weights == 0)
            throw new RowFormatException($"{Name}: {Weight.Path} is 0 in every row; a weight must be above 0");
        TotalWeight = weights;
        Checksum = $"{Rows}-{checksum:x8}-{RandomAccess.GetLength(_handle)}";
    }

    private RowFormatException Wrong(RowReader at, string why) => new($"{Name}, line {at.Line}: {why}");

    private static uint Add(uint checksum, ReadOnlySpan<byte> bytes)
    {
        foreach (ulong word in MemoryMarshal.Cast<byte, ulong>(bytes))
            checksum = BitOperations.Crc32C(checksum, word);
        foreach (byte one in bytes[(bytes.Length & ~7)..])
            checksum = BitOperations.Crc32C(checksum, one);
        return checksum;
    }
}

/// <summary>Where a row begins.</summary>
/// <param name="Row">Its number.</param>
/// <param name="Offset">Of its first byte in the file.</param>
/// <param name="WeightBefore">The weights of all rows before it.</param>
internal readonly record struct RowMark(long Row, long Offset, double WeightBefore);

/// <summary>A file of rows that can't be used: one line says where and why.</summary>
public sealed class RowFormatException(string message) : FormatException(message);
