using System.Globalization;
using System.Text;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Wire.Tyrant;

/// <summary>What a server says of itself (stat): lines of a name, a tab and a value.</summary>
/// <remarks>
/// Immutable. Names of 1.1.41, among others: version, type, path, pid, rnum, size, memrss (bytes), ru_user (s), cnt_put, cnt_misc.
/// </remarks>
public sealed class TyrantStatus
{
    /// <summary>What <c>type</c> says of a table database.</summary>
    public const string TableType = "table";

    private readonly Dictionary<string, string> _values;

    private TyrantStatus(Dictionary<string, string> values) => _values = values;

    public static TyrantStatus Empty { get; } = new([]);

    public string Version => Find("version") ?? "unknown";

    /// <summary>The type of the database: table, hash, B+ tree, fixed-length, on-memory hash …</summary>
    public string Type => Find("type") ?? "unknown";

    /// <summary>The database's file.</summary>
    public string? Path => Find("path");

    /// <summary>The last value under that name; null when there is none.</summary>
    public string? Find(string name) => _values.GetValueOrDefault(name);

    /// <summary>Null when there is none, or it is no whole number.</summary>
    public long? FindInt64(string name) =>
        long.TryParse(Find(name), NumberStyles.Integer, CultureInfo.InvariantCulture, out long value) ? value : null;

    /// <exception cref="TyrantServerException">The database is none with columns.</exception>
    public void RequireTable(ServerAddress address)
    {
        if (Type != TableType)
            throw new TyrantServerException(address, Type);
    }

    /// <summary>Lines without a tab say nothing and are passed over.</summary>
    internal static TyrantStatus Parse(ReadOnlySpan<byte> text)
    {
        var values = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (string line in Encoding.UTF8.GetString(text).Split('\n'))
        {
            int tab = line.IndexOf('\t', StringComparison.Ordinal);
            if (tab > 0)
                values[line[..tab]] = line[(tab + 1)..];
        }

        return new TyrantStatus(values);
    }
}

/// <summary>A Tokyo Tyrant server whose database has no columns. The user's to mend.</summary>
public sealed class TyrantServerException(ServerAddress server, string type)
    : MongoPerfException(Fault.WrongUsage, $"{server}: this Tokyo Tyrant server's database is of type '{type}', a table database is needed",
        "start it on the file of a table database: ttserver FILE.tct");
