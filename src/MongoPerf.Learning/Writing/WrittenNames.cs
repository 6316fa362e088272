using System.Security.Cryptography;
using System.Text;

namespace MongoPerf.Learning.Writing;

/// <summary>
/// What the file calls collections and fields: as the deployment does, or by names of that length that a key makes of them.
/// </summary>
/// <remarks>Without the key nobody finds out a name by trying likely ones; the same key gives the same names in another file.</remarks>
/// <param name="key">Null leaves names as they are.</param>
public sealed class WrittenNames(string? key)
{
    private readonly Dictionary<string, string> _names = new(StringComparer.Ordinal);
    private readonly HashSet<string> _taken = new(StringComparer.Ordinal);

    /// <summary>A key that nobody knows, not even later.</summary>
    public static string NewKey() => Convert.ToHexString(RandomNumberGenerator.GetBytes(16));

    /// <summary>Names are hashed.</summary>
    public bool AreHashed => key is not null;

    public string Collection(string name) => key is null ? name : Made($"collection {name}", Encoding.UTF8.GetByteCount(name));

    /// <summary>A path, step by step; <c>_id</c>, places in arrays and <c>$**</c> stay.</summary>
    public string Path(string path) => key is null ? path : string.Join('.', path.Split('.').Select(Field));

    private string Field(string name) => name is "_id" or "*" || name.StartsWith('$') || name.All(char.IsAsciiDigit) ? name
        : Made($"field {name}", Encoding.UTF8.GetByteCount(name));

    private string Made(string what, int length)
    {
        if (_names.TryGetValue(what, out string? known))
            return known;
        string made;
        int attempt = 0;
        do
        {
            byte[] hash = HMACSHA256.HashData(Encoding.UTF8.GetBytes(key!), Encoding.UTF8.GetBytes($"{what}\n{attempt}"));
            // Short names may be all taken: then one gets longer.
            int letters = Math.Max(1, length) + (attempt / 100);
            made = string.Concat(Enumerable.Range(0, letters).Select(i => (char)('a' + (hash[i % hash.Length] % 26))));
            attempt++;
        }
        while (!_taken.Add(made));

        return _names[what] = made;
    }
}
