using MongoPerf.Learning.Sampling;
using MongoPerf.Running.Systems;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Discovery;

namespace MongoPerf.Commands;

/// <summary>Reads the database that <c>learn</c> is about.</summary>
internal static class LearnedDatabase
{
    /// <summary>Documents, bytes and time, in any order.</summary>
    /// <exception cref="FormatException">It is none of them.</exception>
    public static SamplingBudget ParseBudget(string text)
    {
        var budget = new SamplingBudget();
        foreach (string part in text.Split(',', StringSplitOptions.TrimEntries))
        {
            budget = part switch
            {
                _ when part.EndsWith('B') => budget with { Bytes = Quantities.ParseSize(part) },
                [.., 's' or 'm' or 'h'] => budget with { Seconds = Quantities.ParseDuration(part) },
                _ => budget with { Documents = Quantities.ParseCount(part, 100, 10_000_000) },
            };
        }

        return budget;
    }

    /// <summary>Looks first at what is done: what is read here must not be learned.</summary>
    public static (DatabaseSample Sample, Observation? Seen) Read(
        string uri, string? database, SamplingBudget budget, string[]? from)
    {
        var preference = new ReadPreference(ReadMode.SecondaryPreferred);
        (IReadOnlyList<ServerAddress> hosts, ConnectionSettings settings) =
            DatabaseSystems.MongoDb.Read(uri, EngineKind.Wire, CancellationToken.None);
        var servers = new ServerDirectory(hosts, settings);
        servers.Look();
        using MongoConnection connection = MongoConnection.Open(servers.Select(preference, 0), settings);
        var reader = new DatabaseReader(connection, budget, preference);
        string name = database ?? OnlyDatabase(reader);
        Observation? seen = from is null ? null
            : Observation.Read(from, name, () => MongoConnection.Open(servers.Select(ReadPreference.Primary, 0), settings));
        if (seen is not null)
            Console.Error.WriteLine(seen.Describe());
        DatabaseSample sample = reader.Read(name);
        return sample.Collections.Count > 0 ? (sample, seen)
            : throw new UserException(ExitCode.WrongUsage, $"the database '{name}' has no collections that can be read",
                "--db names another one");
    }

    private static string OnlyDatabase(DatabaseReader reader) => reader.Databases() switch
    {
        [var only] => only,
        [] => throw new UserException(ExitCode.WrongUsage, "the deployment has no databases that this user may see", "--db names one"),
        var several => throw new UserException(ExitCode.WrongUsage,
            $"the deployment has several databases: {string.Join(", ", several.Take(20).Select(Masking.Shown))}", "--db names one"),
    };
}
