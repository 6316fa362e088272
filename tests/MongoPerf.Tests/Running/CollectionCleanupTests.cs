using MongoPerf.Load.Collections;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Tests.Commands;
using MongoPerf.Tests.Server;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Running;

[Collection(ConsoleTests.Name)]
public sealed class CollectionCleanupTests : ServerTest
{
    private const string Id = "2026-11-21-c";

    /// <summary>A run of two clients, each of which made a collection.</summary>
    [Fact]
    public void Nothing_is_dropped_while_somebody_writes_one_of_the_collections()
    {
        using var runs = new TemporaryFolder();
        Succeed("{'insert': 'one', 'documents': [{'_id': 1}]}");
        Succeed("{'insert': 'two', 'documents': [{'_id': 1}]}");
        Succeed("""
            {'insert': 'mongoperf', 'documents': [
             {'_id': 'one', 'program': 'mongoperf', 'run': 'a', 'token': 'ta'},
             {'_id': 'two', 'program': 'mongoperf', 'run': 'b', 'token': 'tb'}]}
            """);
        using MongoConnection connection = MongoConnection.Open(new ServerAddress("127.0.0.1", Port), ConnectionSettings.Default);
        new WriterLeases("test", "other", null, TimeSpan.FromSeconds(30)).Take(connection, "two");
        RunSettings settings = RunParts.Settings();
        RunInfo merged = RunParts.Run(Id) with { Clients = [new("anna", "a", "finished"), new("ben", "b", "finished")] };
        using (RunStore store = RunStore.Create(runs.At(Id), merged, settings with
        {
            Deployment = new DeploymentSettings { Uri = $"mongodb://127.0.0.1:{Port}" }, Data = new DataSettings { Database = "test" },
        }))
        {
            store.SetNote(StoredRun.PartTokensNote, "ta tb");
        }

        using StoredRun run = StoredRun.Open(runs.At(Id));
        var e = Assert.Throws<CollectionBusyException>(() =>
            CollectionCleanup.Run(RunFolder.Find(runs.Path, Id), run, uri: null, passwordFile: null));
        Assert.StartsWith("test.two is being written by run other", e.Message, StringComparison.Ordinal);
        Assert.Equal(1, Succeed("{'count': 'one'}").FindInt64("n"));
    }
}
