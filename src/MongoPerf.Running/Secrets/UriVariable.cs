namespace MongoPerf.Running.Secrets;

/// <summary>The environment's MONGOPERF_URI. It may hold a password, so no process that this one starts inherits it.</summary>
public static class UriVariable
{
    public const string Name = "MONGOPERF_URI";

    /// <summary>Null when it is not set, or empty.</summary>
    public static string? Value { get; private set; }

    /// <summary>Before any process is started.</summary>
    public static void Take()
    {
        Value = Environment.GetEnvironmentVariable(Name) is { Length: > 0 } uri ? uri : null;
        Environment.SetEnvironmentVariable(Name, null);
    }
}
