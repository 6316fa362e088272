using MongoPerf.Running.Configuration;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Secrets;

/// <summary>
/// The environment's MONGOPERF_URI, or what the configuration has in its place. It may hold a password, so no process that this one
/// starts inherits it.
/// </summary>
public static class UriVariable
{
    public const string Name = "MONGOPERF_URI";

    /// <summary>The variable's text; null when it is not set, or empty.</summary>
    public static string? Taken { get; private set; }

    /// <summary>The connection string, also of a configured name; null where neither names one.</summary>
    /// <exception cref="UserException">A configuration file is wrong, or has no such name.</exception>
    public static string? Value => Settings.Current.Uri;

    /// <summary>Takes the variable out of the environment before any process is started.</summary>
    public static void Take()
    {
        Taken = Environment.GetEnvironmentVariable(Name) is { Length: > 0 } uri ? uri : null;
        Environment.SetEnvironmentVariable(Name, null);
    }
}
