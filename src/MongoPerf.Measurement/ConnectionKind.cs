using System.Text.Json.Serialization;

namespace MongoPerf.Measurement;

/// <summary>How the threads of a group come by connections. Stored by name: never rename a value.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<ConnectionKind>))]
public enum ConnectionKind
{
    /// <summary>They share some, and wait for one.</summary>
    Pool,

    /// <summary>Each operation has one of its own, which is opened for it and closed after it.</summary>
    Churn,

    /// <summary>Each thread opens its own, all at the same moment.</summary>
    Storm,
}
