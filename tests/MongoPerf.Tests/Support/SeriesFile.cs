using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Support;

/// <summary>scenarios/series.yaml as the program reads it: its documents, its ways of writing and its queries.</summary>
internal static class SeriesFile
{
    public const int DocumentLength = 1024;

    public static string Path { get; } = System.IO.Path.Combine(RepositoryPaths.Root, "scenarios", "series.yaml");

    private static readonly ScenarioFile File = new("series", "scenarios/series.yaml", System.IO.File.ReadAllText(Path));

    public static string[] Inserts { get; } = ["unack", "batch", "safe"];

    /// <param name="set">Parameters, such as target=24.</param>
    public static Plan Plan(params IEnumerable<(string Name, string Value)> set) => Plan(42, set);

    public static Plan Plan(ulong seed, params IEnumerable<(string Name, string Value)> set) =>
        PlanReader.Read(File, new PlanOverrides { Parameters = set.ToDictionary(s => s.Name, s => s.Value) }, seed).Plan;

    public static GrowthPlan Growth(Plan plan) => plan.Rounds[0].Phases.Single().Growth!;

    public static DocumentTemplate Documents(ulong seed = 42, int compressibility = 0) =>
        Plan(seed, ("compressibility", $"{compressibility}")).Rounds[0].Collections.Single().Documents;

    /// <param name="phase">q4 to q7.</param>
    public static FindDocuments Find(string phase) =>
        (FindDocuments)Growth(Plan()).Each.Single(each => each.Name == phase).Groups[0].Operations[0].Operation;

    /// <param name="write">unack, batch or safe.</param>
    /// <param name="batch">Documents per command of batch.</param>
    /// <param name="set">Other parameters.</param>
    public static InsertDocuments Insert(string write, int batch = 10, params IEnumerable<KeyValuePair<string, string>> set) =>
        (InsertDocuments)Growth(Plan([("batch", $"{batch}"), .. set.Select(s => (s.Key, s.Value))])).Writes
            .Single(w => w.Name == write).Groups["series"].Operations[0].Operation;

    /// <summary>One of either.</summary>
    public static Operation Operation(string name) => Inserts.Contains(name) ? Insert(name) : Find(name);
}
