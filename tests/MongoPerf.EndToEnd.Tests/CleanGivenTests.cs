using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary><c>clean</c> on a deployment that its runs were given.</summary>
[Collection(LightTests.Name)]
public sealed class CleanGivenTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void Each_runs_collections_are_dropped_and_with_the_last_every_trace(string kind)
    {
        string database = servers.NewDatabase();
        using MongoConnection connection = servers[kind].Connect();
        Documents.Insert(connection, database, "precious", BsonDocument.Of(("_id", 1)));
        string left = $"left       the run's collections in {database} at {servers[kind].Address}; to drop them: mongoperf clean ";
        (string first, ProgramResult ended) = Run(kind, database, "run", "ycsb/c", "--records", "100", "--operations", "50");
        Assert.Contains($"{left}{first} --out", ended.Output, StringComparison.Ordinal);
        (string second, _) = Run(kind, database, "series", "--target", "1k", "--step", "1k", "--tests", "batch");
        // Whoever continues a collection has it from then on.
        (string third, _) = Run(kind, database, "series", "--target", "2k", "--step", "1k", "--tests", "batch");
        (_, ended) = Run(kind, database, "run", "q4", "--operations", "10");
        Assert.DoesNotContain("left ", ended.Output, StringComparison.Ordinal);

        Assert.Equal($"{database} at {servers[kind].Address} holds no collection of run {second}\n", Clean(second));
        Assert.Equal($"{database}.usertable dropped\n{database} still holds other collections of MongoPerf\n", Clean(first));
        Assert.Equal(["mongoperf", "precious", "series"], Documents.CollectionNames(connection, database).Order(StringComparer.Ordinal));
        Assert.Equal($"{database}.series dropped\n", Clean(third));
        Assert.Equal(["precious"], Documents.CollectionNames(connection, database));
        Assert.DoesNotContain("left ", ProgramRun.Run("report", first, "--out", _runs.Path).Expect(0).Output, StringComparison.Ordinal);
    }

    /// <summary>A time series that is gone leaves an empty system.views, which keeps the database; others keep their views.</summary>
    [MongodTheory(From = "5.0")]
    [InlineData(false)]
    [InlineData(true)]
    public void A_time_series_leaves_no_database_behind_unless_somebody_has_a_view_there(bool hasView)
    {
        string database = servers.NewDatabase();
        using MongoConnection connection = servers["mongod"].Connect();
        if (hasView)
            connection.RunCommand(database, ExtendedJson.Parse("""{"create": "mine", "viewOn": "precious", "pipeline": []}"""));
        string file = _runs.Path + ".yaml";
        File.WriteAllText(file, "data:\n  m: {count: 10, document: {at: {^date: {start: 2026-01-01T00:00:00Z, step: 1s}}, v: ^number}, "
            + "options: {timeseries: {timeField: at}}}\nphases: [{load: m}]\n");
        (string run, _) = Run("mongod", database, "run", file);
        File.Delete(file);
        Assert.Equal($"{database}.m dropped\n", Clean(run));
        Assert.Equal(hasView ? ["mine", "system.views"] : [],
            Documents.CollectionNames(connection, database).Order(StringComparer.Ordinal));
    }

    private (string Id, ProgramResult Ended) Run(string kind, string database, params string[] arguments)
    {
        ProgramResult ended = ProgramRun.Run([.. arguments, "--uri", servers[kind].Uri, "--db", database, "--out", _runs.Path]).Expect(0);
        return (_runs.Ids[^1], ended);
    }

    private string Clean(string run) => ProgramRun.Run("clean", run, "--out", _runs.Path).Expect(0).Output;
}
