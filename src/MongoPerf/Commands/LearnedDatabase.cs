using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Measurement;
using MongoPerf.Running.Systems;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Discovery;

namespace MongoPerf.Commands;

/// <summary>Reads the database that <c>learn</c> is about.</summary>
internal static class LearnedDatabase
{
    /// <summary>Documents, bytes and time, in any order, each once at most.</summary>
    /// <exception cref="FormatException">It is none of them.</exception>
    public static SamplingBudget ParseBudget(string text)
    {
        var budget = new SamplingBudget();
        var named = new HashSet<string>(StringComparer.Ordinal);
        foreach (string part in text.Split(',', StringSplitOptions.TrimEntries))
        {
            (budget, string what) = part.ToLowerInvariant() switch
            {
                [.., 'b'] => (budget with { Bytes = Quantities.ParseRoom(part) }, "sizes"),
                [.., 's' or 'm' or 'h' or 'd'] => (budget with { Seconds = Seconds(part) }, "durations"),
                _ => (budget with { Documents = Quantities.ParseCount(part, 100, 10_000_000) }, "counts"),
            };
            if (!named.Add(what))
                throw new FormatException($"'{text}' has two {what}; allowed: one of each");
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
        settings = settings with { ApplicationName = ObservationSource.OwnApplication };
        var servers = new ServerDirectory(hosts, settings);
        servers.Look();
        using MongoConnection connection = MongoConnection.Open(servers.Select(preference, 0), settings);
        var reader = new DatabaseReader(connection, budget, preference, SystemClock.Instance);
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

    /// <exception cref="UserException">A path names no field that is there (2).</exception>
    public static void RequireKnown(IEnumerable<string> kept, DatabaseSample sample)
    {
        foreach (string path in kept)
        {
            string[] collections = [.. sample.Collections.Select(one => one.Name)];
            CollectionSample? collection =
                sample.Collections.FirstOrDefault(one => path.StartsWith($"{one.Name}.", StringComparison.Ordinal));
            if (collection is null)
                throw new UserException(ExitCode.WrongUsage,
                    $"--values: '{path}' is in no collection; there are {string.Join(", ", collections)}",
                    "such as --values orders.state");
            string field = path[(collection.Name.Length + 1)..];
            FieldStatistics root = FieldStatistics.Of(collection);
            if (root.Find(field) is null)
                throw new UserException(
                    ExitCode.WrongUsage, $"--values: no document of {collection.Name} that was read has a field '{field}'",
                    NearestName.Hint(field, root.All().Select(one => one.Path).Where(one => one.Length > 0)));
        }
    }

    /// <summary>In less nothing is read, and a file would say nothing.</summary>
    private static double Seconds(string text) => Quantities.ParseDuration(text) is >= 1 and var seconds ? seconds
        : throw new FormatException($"'{text}' is out of range; allowed: 1s to 8760h");

    /// <summary>MongoPerf's own is meant only where there is no other.</summary>
    private static string OnlyDatabase(DatabaseReader reader) => reader.Databases().Where(name => name != PlanRequests.DefaultDatabase)
        .DefaultIfEmpty(PlanRequests.DefaultDatabase).Intersect(reader.Databases()).ToArray() switch
    {
        [var only] => only,
        [] => throw new UserException(ExitCode.WrongUsage, "the deployment has no databases that this user may see", "--db names one"),
        var several => throw new UserException(ExitCode.WrongUsage,
            $"the deployment has several databases: {string.Join(", ", several.Take(20).Select(Masking.Shown))}", "--db names one"),
    };
}
