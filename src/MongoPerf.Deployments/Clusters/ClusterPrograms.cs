using System.Text.RegularExpressions;
using MongoPerf.Load.Sharding;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Clusters;

/// <summary>The programs that a cluster is made of.</summary>
/// <param name="Mongod">The mongod of shards and config server.</param>
/// <param name="Mongos">Full path of the router; null when a mongod routes.</param>
internal sealed partial record ClusterPrograms(MongodProgram Mongod, string? Mongos)
{
    public const string MongosVariable = "MONGOPERF_MONGOS";

    // The first whose routing code answers to a client; see docs/clusters.md.
    private static readonly Version FirstThatRoutes = new(6, 0);

    public RouterKind Router => Mongos is null ? RouterKind.RoutingMongod : RouterKind.Mongos;

    /// <summary>Finds mongod as always, and mongos where MONGOPERF_MONGOS says, beside the mongod, or in PATH.</summary>
    /// <param name="mongod">The value of <c>--mongod</c>, or null.</param>
    /// <param name="variable">Reads the environment.</param>
    /// <exception cref="DeploymentException">
    /// No mongod, or none that can do without a mongos; a mongos was named that is none, or of another version.
    /// </exception>
    public static ClusterPrograms Find(string? mongod, Func<string, string?> variable)
    {
        LinuxOnly.Require("starting a sharded cluster", LinuxOnly.StartItYourself);
        MongodProgram program = MongodProgram.Find(mongod, variable) ?? throw DeploymentException.WrongUsage(
            $"a sharded cluster needs a mongod, and none was found (--mongod, {MongodProgram.Variable}, PATH); "
            + "only within a run does the embedded server stand in for one",
            "'mongoperf server install 8.0' installs mongod and mongos; 'mongoperf serve --shards 3' plays them");
        if (variable(MongosVariable) is { Length: > 0 } named)
            return new(program, CheckNamed(named, program));
        if (Candidates(program.Path, variable)
            .FirstOrDefault(path => File.Exists(path) && IsOfSameSeries(ReadVersion(path), program)) is { } found)
            return new(program, found);
        return program.Version >= FirstThatRoutes
            ? new(program, null)
            : throw new DeploymentException(
                Fault.CannotConnect,
                $"{program.Path} is version {program.Version} and no mongos of that version was found (beside it, {MongosVariable}, PATH); "
                + $"only mongod {FirstThatRoutes} or later works without one\n"
                + "hint:  'mongoperf server install 8.0' installs mongod and mongos");
    }

    /// <summary>A replica set needs no router, and any mongod will do.</summary>
    /// <inheritdoc cref="Find"/>
    public static ClusterPrograms ForReplicaSet(string? mongod, Func<string, string?> variable)
    {
        LinuxOnly.Require("starting a replica set", LinuxOnly.StartItYourself);
        return new(
            MongodProgram.Find(mongod, variable) ?? throw DeploymentException.WrongUsage(
                $"a replica set needs a mongod, and none was found (--mongod, {MongodProgram.Variable}, PATH); "
                + "the embedded server can't replicate",
                "'mongoperf server install 8.0' installs one"),
            null);
    }

    /// <summary>
    /// Full paths of the routers that this machine starts without being told to, beside a mongod that it starts so. None is run.
    /// </summary>
    public static IEnumerable<string> Own(string mongod, Func<string, string?> variable) =>
        Candidates(mongod, variable).Concat(variable(MongosVariable) is { Length: > 0 } named ? [ProgramIn(named)] : []);

    private static IEnumerable<string> Candidates(string mongod, Func<string, string?> variable) =>
        (variable("PATH") ?? "").Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .Prepend(Path.GetDirectoryName(mongod)!)
            .Select(folder => Path.Combine(folder, "mongos"));

    private static string ProgramIn(string path) => Path.GetFullPath(Directory.Exists(path) ? Path.Combine(path, "mongos") : path);

    private static string CheckNamed(string named, MongodProgram mongod)
    {
        string full = ProgramIn(named);
        if (!File.Exists(full))
            throw DeploymentException.WrongUsage($"{MongosVariable}: {full} does not exist", "name a mongos, or unset the variable");
        if (ReadVersion(full) is not { } version)
            throw DeploymentException.WrongUsage($"{MongosVariable}: {full} --version does not report a mongos",
                "name a mongos for this system, or unset the variable");
        return IsOfSameSeries(version, mongod)
            ? full
            : throw DeploymentException.WrongUsage(
                $"{MongosVariable}: {full} is version {version}, {mongod.Path} is {mongod.Version}",
                "router and shards must be of the same series, such as 6.0");
    }

    private static bool IsOfSameSeries(Version? mongos, MongodProgram mongod) =>
        mongos is not null && (mongos.Major, mongos.Minor) == (mongod.Version.Major, mongod.Version.Minor);

    private static Version? ReadVersion(string mongos) =>
        VersionLine().Match(MongodProgram.RunForVersion(mongos, "mongos").Output) is { Success: true } match
            ? Version.Parse(match.Groups[1].Value)
            : null;

    [GeneratedRegex(@"mongos version v(\d+\.\d+\.\d+)")]
    private static partial Regex VersionLine();
}
