namespace MongoPerf.Wire.Tyrant;

/// <summary>The byte after 0xC8 that says what a request asks for (Tokyo Tyrant 1.1.41, protocol 0.91).</summary>
public enum TyrantCommand : byte
{
    Put = 0x10,
    PutKeep = 0x11,
    PutCat = 0x12,

    /// <summary>A put without any response.</summary>
    PutUnacknowledged = 0x18,
    Out = 0x20,
    Get = 0x30,
    Sync = 0x70,

    /// <summary>Removes every record of the database.</summary>
    Vanish = 0x72,
    RecordCount = 0x80,
    Size = 0x81,
    Status = 0x88,

    /// <summary>Calls a function of the database by name: what a table database is driven by.</summary>
    Function = 0x90,
}
