using System.Collections.Frozen;
using System.Globalization;

namespace MongoPerf.Wire.Connections;

/// <summary>
/// Names of error codes, which write errors come without. Source: error_codes.yml of MongoDB's server, on the way to 8.0.
/// </summary>
public static class ErrorNames
{
    private static readonly Lazy<FrozenDictionary<int, string>> Known = new(() => Read().ToFrozenDictionary());

    /// <summary>By code.</summary>
    public static IReadOnlyDictionary<int, string> All => Known.Value;

    /// <summary>"DocumentValidationFailure"; "Location40353" for a code that has no name, as the server itself calls it.</summary>
    public static string Of(int code) => Known.Value.GetValueOrDefault(code) ?? $"Location{code}";

    private static IEnumerable<KeyValuePair<int, string>> Read()
    {
        const string Resource = "error-codes.txt";
        using Stream stream = typeof(ErrorNames).Assembly.GetManifestResourceStream(Resource)
            ?? throw new InvalidOperationException($"{Resource} is not built in");
        using var reader = new StreamReader(stream);
        while (reader.ReadLine() is { } line)
        {
            string[] parts = line.Split(' ', 2);
            yield return KeyValuePair.Create(int.Parse(parts[0], CultureInfo.InvariantCulture), parts[1]);
        }
    }
}
