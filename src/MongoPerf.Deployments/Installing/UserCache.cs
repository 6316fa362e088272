namespace MongoPerf.Deployments.Installing;

/// <summary>Where MongoPerf keeps what it can get again.</summary>
public static class UserCache
{
    /// <summary>mongoperf under XDG_CACHE_HOME, else under ~/.cache, else (Windows) under LOCALAPPDATA.</summary>
    /// <param name="variable">The variables of the environment, by name.</param>
    /// <returns>Null when the environment names none of them.</returns>
    public static string? Find(Func<string, string?> variable)
    {
        string? cache = Named("XDG_CACHE_HOME") ?? (Named("HOME") is { } home ? Path.Combine(home, ".cache") : Named("LOCALAPPDATA"));
        return cache is null ? null : Path.GetFullPath(Path.Combine(cache, "mongoperf"));

        string? Named(string name) => variable(name) is { Length: > 0 } value ? value : null;
    }
}
