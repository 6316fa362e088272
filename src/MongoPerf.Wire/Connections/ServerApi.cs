using MongoPerf.Wire.Bson;

namespace MongoPerf.Wire.Connections;

/// <summary>The versioned API of MongoDB 5.0 and later. Source: specifications, versioned-api/versioned-api.md.</summary>
/// <param name="Version">The version; so far there is "1".</param>
/// <param name="IsStrict">The server refuses what is not in that version (code 323).</param>
/// <param name="RefusesDeprecated">The server refuses what is deprecated in it.</param>
public sealed record ServerApi(string Version, bool IsStrict = false, bool RefusesDeprecated = false)
{
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
}
