namespace MongoPerf.Server.Commands;

/// <summary>Fields that may stand in any command and mean nothing here (one server, no sessions, no stable API).</summary>
internal static class GenericFields
{
    public static bool Contains(ReadOnlySpan<byte> name)
    {
        if (name.Length > 0 && name[0] == '$')
            return name.SequenceEqual("$db"u8) || name.SequenceEqual("$clusterTime"u8) || name.SequenceEqual("$readPreference"u8)
                || name.SequenceEqual("$configTime"u8) || name.SequenceEqual("$topologyTime"u8) || name.SequenceEqual("$audit"u8)
                || name.SequenceEqual("$client"u8);
        return name.SequenceEqual("lsid"u8) || name.SequenceEqual("comment"u8) || name.SequenceEqual("maxTimeMS"u8)
            || name.SequenceEqual("readConcern"u8) || name.SequenceEqual("writeConcern"u8)
            || name.SequenceEqual("apiVersion"u8) || name.SequenceEqual("apiStrict"u8) || name.SequenceEqual("apiDeprecationErrors"u8)
            || name.SequenceEqual("maxTimeMSOpOnly"u8);
    }
}
