using System.Buffers;
using System.Text;
using System.Text.Unicode;

namespace MongoPerf.Server.Commands;

/// <summary>Which names databases and collections may have. Source: manual, "Naming Restrictions".</summary>
internal static class Namespaces
{
    public const int MaximumNamespaceBytes = 255;
    private const int MaximumDatabaseBytes = 63;
    private static readonly SearchValues<char> Forbidden = SearchValues.Create("/\\. \"$\0");

    /// <param name="name">The name as text; two names that are not UTF-8 may have the same.</param>
    /// <param name="bytes">The bytes that the client sent.</param>
    public static void RequireDatabase(string name, ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length is 0 or > MaximumDatabaseBytes || name.AsSpan().ContainsAny(Forbidden) || !Utf8.IsValid(bytes))
            throw CommandException.InvalidNamespace($"Invalid database name: '{name}'");
    }

    /// <summary>Whether it is a database in which mongod keeps its own, and into which no pipeline writes.</summary>
    public static bool IsInternal(string database) => database is "admin" or "config" or "local";

    public static void RequireCollection(string database, ReadOnlySpan<byte> name)
    {
        bool isTooLong = Encoding.UTF8.GetByteCount(database) + 1 + name.Length > MaximumNamespaceBytes;
        if (name.Length == 0 || name[0] == '.' || isTooLong || name.IndexOfAny((byte)'$', (byte)0) >= 0 || !Utf8.IsValid(name))
            throw CommandException.InvalidNamespace($"Invalid collection name: {Encoding.UTF8.GetString(name)}");
    }
}
