using MongoPerf.Wire.Bson;

namespace MongoPerf.Wire.Connections;

/// <summary>Whether reads go to the primary of a replica set or to its secondaries.</summary>
public enum ReadMode
{
    Primary,

    /// <summary>A secondary only while there is no primary.</summary>
    PrimaryPreferred,
    Secondary,

    /// <summary>The primary only while no secondary fits.</summary>
    SecondaryPreferred,
    Nearest,
}

/// <summary>Which members of a replica set reads may go to. Immutable; two that say the same are equal.</summary>
/// <remarks>Source: specifications, server-selection.md.</remarks>
public sealed record ReadPreference(ReadMode Mode)
{
    /// <summary>The names of the modes as the wire spells them, in the order of <see cref="ReadMode"/>.</summary>
    public static IReadOnlyList<string> ModeNames { get; } = ["primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest"];

    public static ReadPreference Primary { get; } = new(ReadMode.Primary);

    /// <summary>
    /// Tried one after the other until a member has all tags of one; every member meets an empty set. Without any set all members do.
    /// </summary>
    public IReadOnlyList<IReadOnlyDictionary<string, string>> TagSets { get; init; } = [];

    /// <summary>How far behind the primary a secondary may be, by estimate; null: as far as it likes. At least 90 s.</summary>
    public int? MaxStalenessSeconds { get; init; }

    public bool IsPrimary => Mode == ReadMode.Primary;

    public string ModeName => ModeNames[(int)Mode];

    /// <summary>The document as the wire has it.</summary>
    public BsonDocument Document
    {
        get
        {
            var elements = new List<(string, object?)> { ("mode", ModeName) };
            if (TagSets.Count > 0)
                elements.Add(("tags", TagSets.Select(set => BsonDocument.Of([.. set.Select(tag => (tag.Key, (object?)tag.Value))]))));
            if (MaxStalenessSeconds is { } seconds)
                elements.Add(("maxStalenessSeconds", seconds));
            return BsonDocument.Of([.. elements]);
        }
    }

    /// <param name="mode">One of <see cref="ModeNames"/>.</param>
    public static ReadPreference Of(string mode) => new((ReadMode)Array.IndexOf([.. ModeNames], mode));

    public bool Equals(ReadPreference? other) => other is not null && ToString() == other.ToString();

    public override int GetHashCode() => ToString().GetHashCode(StringComparison.Ordinal);

    /// <summary>The preference as text, such as "secondary with tags dc:ny,rack:1; dc:sf, at most 120 s behind".</summary>
    public override string ToString()
    {
        string tags = TagSets.Count == 0 ? "" : " with tags " + string.Join("; ", TagSets.Select(TextOf));
        return ModeName + tags + (MaxStalenessSeconds is { } seconds ? $", at most {seconds} s behind" : "");
    }

    /// <summary>"dc:ny,rack:1"; of an empty set "(any)".</summary>
    internal static string TextOf(IReadOnlyDictionary<string, string> tags) =>
        tags.Count == 0 ? "(any)"
            : string.Join(',', tags.OrderBy(tag => tag.Key, StringComparer.Ordinal).Select(tag => $"{tag.Key}:{tag.Value}"));
}
