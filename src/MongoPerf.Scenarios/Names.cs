using System.Buffers;
using System.Text;
using MongoPerf.Load.Collections;
using MongoPerf.Texts.Input;

namespace MongoPerf.Scenarios;

/// <summary>Checks names before anything is sent: a server's refusal would come in the middle of a run.</summary>
public static class Names
{
    private static readonly SearchValues<char> ForbiddenInDatabase = SearchValues.Create("/\\. \"$*<>:|?\0");
    private static readonly string[] ServersOwn = ["admin", "local", "config"];

    /// <param name="name">As it was given.</param>
    /// <param name="option">Where it was given.</param>
    /// <exception cref="UserException">Not a name that MongoDB takes, or one that belongs to the server.</exception>
    public static string Database(string name, string option = "--db")
    {
        int bad = name.AsSpan().IndexOfAny(ForbiddenInDatabase);
        if (name.Length == 0 || Encoding.UTF8.GetByteCount(name) > 63)
            throw Wrong($"{option}: '{name}' has {Encoding.UTF8.GetByteCount(name)} bytes; allowed: 1 to 63");
        if (bad >= 0)
            throw Wrong($"{option}: '{name}' contains '{name[bad]}'; not allowed in a database name: / \\ . \" $ * < > : | ? and spaces");
        return ServersOwn.Contains(name.ToLowerInvariant())
            ? throw Wrong($"{option}: '{name}' is reserved for the server", "choose another name, such as mongoperf")
            : name;
    }

    /// <param name="name">As it was given.</param>
    /// <param name="database">The collection's.</param>
    /// <param name="option">Where the name was given.</param>
    /// <inheritdoc cref="Database"/>
    public static string Collection(string name, string database, string option = "--collection")
    {
        if (name.Length == 0 || Encoding.UTF8.GetByteCount(database) + Encoding.UTF8.GetByteCount(name) + 1 > 120)
            throw Wrong($"{option}: '{database}.{name}' is empty or too long; allowed: up to 120 bytes with the database");
        if (name.Contains('$', StringComparison.Ordinal) || name.Any(char.IsControl) || name[0] == '.'
            || name.StartsWith("system.", StringComparison.Ordinal))
        {
            string shown = string.Concat(name.Select(c => char.IsControl(c) ? '?' : c));
            throw Wrong($"{option}: '{shown}' is not allowed: it must not contain $ or start with system. or a point, "
                + "and has no control characters");
        }

        return name == WireCollection.MarkerCollection
            ? throw Wrong($"{option}: '{name}' is where MongoPerf keeps its markers", "choose another name, such as series")
            : name;
    }

    /// <summary>The database that a command names, which may be the server's own.</summary>
    /// <exception cref="FormatException">Not a name that MongoDB takes.</exception>
    public static string CommandDatabase(string name) =>
        name.Length > 0 && Encoding.UTF8.GetByteCount(name) <= 63 && name.AsSpan().IndexOfAny(ForbiddenInDatabase) < 0
            ? name
            : throw new FormatException(
                $"'{name}' is not a database name; allowed: 1 to 63 bytes without / \\ . \" $ * < > : | ? and spaces");

    private static UserException Wrong(string message, string? hint = null) => new(ExitCode.WrongUsage, message, hint);
}
