namespace MongoPerf.Wire.Bson;

/// <summary>Text that is not Extended JSON: says at which element, what was found and what is allowed.</summary>
public sealed class ExtendedJsonException(string path, string what)
    : FormatException(path.Length == 0 ? $"Extended JSON: {what}" : $"Extended JSON, '{path}': {what}")
{
    /// <summary>The element's names from the outside in, parted by dots; empty for the whole text.</summary>
    public string Path { get; } = path;
}
