using MongoPerf.Wire.Bson;

namespace MongoPerf.Wire.Connections;

/// <summary>The versioned API of MongoDB 5.0 and later. Source: specifications, versioned-api/versioned-api.md.</summary>
/// <param name="Version">The version; so far there is "1".</param>
/// <param name="IsStrict">The server refuses what is not in that version (code 323).</param>
/// <param name="RefusesDeprecated">The server refuses what is deprecated in it.</param>
public sealed record ServerApi(string Version, bool IsStrict = false, bool RefusesDeprecated = false)
{
    private const string Strict = "strict";
    private const string DeprecationErrors = "deprecationErrors";

    /// <param name="text">The version, and the names of what is asked for beside it: <c>1</c>, <c>1,strict,deprecationErrors</c>.</param>
    /// <exception cref="FormatException">Another version, or an unknown name. One line.</exception>
    public static ServerApi Parse(string text)
    {
        string[] parts = text.Split(',');
        return parts[0] == "1" && parts.Skip(1).All(part => part is Strict or DeprecationErrors)
            ? new ServerApi(parts[0], parts.Contains(Strict), parts.Contains(DeprecationErrors))
            : throw new FormatException($"'{text}' is not a server API; allowed: 1, 1,{Strict}, 1,{DeprecationErrors}, "
                + $"1,{Strict},{DeprecationErrors}");
    }

    /// <summary>What a measured operation says.</summary>
    public BsonDocument ForLoad
    {
        get
        {
            List<(string, object?)> elements = [("apiVersion", Version)];
            if (IsStrict)
                elements.Add(("apiStrict", true));
            if (RefusesDeprecated)
                elements.Add(("apiDeprecationErrors", true));
            return BsonDocument.Of([.. elements]);
        }
    }

    /// <summary>
    /// What a command around the load says: it looks at the server as no application does (collStats, serverStatus), which a strict API
    /// would refuse.
    /// </summary>
    public BsonDocument ForHousekeeping => BsonDocument.Of(("apiVersion", Version));

    /// <summary>What <see cref="Parse"/> reads.</summary>
    public override string ToString() =>
        Version + (IsStrict ? $",{Strict}" : "") + (RefusesDeprecated ? $",{DeprecationErrors}" : "");
}
