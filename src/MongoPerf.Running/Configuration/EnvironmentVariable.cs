namespace MongoPerf.Running.Configuration;

/// <summary>A variable of the environment that the program reads.</summary>
/// <param name="Name">As it is set.</param>
/// <param name="Description">A sentence.</param>
public sealed record EnvironmentVariable(string Name, string Description)
{
    /// <summary>All of the program's own; docs/configuration.md and the manual list them.</summary>
    public static IReadOnlyList<EnvironmentVariable> All { get; } =
    [
        .. SettingRule.All.Select(rule => new EnvironmentVariable(rule.Variable, rule.Description)),
        new("MONGOPERF_MONGOD", "The mongod that runs start, or its folder."),
        new("MONGOPERF_MONGOS", "The mongos of clusters that are started, or its folder; otherwise one beside the mongod or in PATH."),
        new("MONGOPERF_SERVERS", "The folder into which 'server install' installs servers."),
        new("MONGOPERF_CHARTS", "'none' leaves the pictures of charts out; their data are written."),
        new("MONGOPERF_FONT", "A font file with Chinese characters for charts."),
        new("MONGOPERF_LIVE_KEY", "A key of your own for the live page's address: 16 or more letters, digits, '-' and '_'."),
        new("MONGOPERF_RECONNECT", "How long a run waits for a lost server, such as 30s."),
        new("MONGOPERF_LEASE", "How long a run's lease of a collection holds, such as 3s; for tests."),
        new("MONGOPERF_LINGER", "How long a server outlives a client that was killed, such as 2s; for tests."),
        new("MONGOPERF_PLATFORM", "'plain' makes the program do without what only Linux has, as elsewhere; for tests."),
        new("MONGOPERF_PROGRAM", "How messages call the program, such as ./mongoperf; set by that script."),
        new("MONGOPERF_CHILD", "Set by MongoPerf for programs of its own that it starts."),
        new("MONGOPERF_CHECK", "Set by MongoPerf where it asks a server program for its version."),
    ];
}
