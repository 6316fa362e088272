using System.Globalization;
using System.Security.Cryptography;
using System.Text.RegularExpressions;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Load.Collections;
using MongoPerf.Server;
using MongoPerf.Server.Users;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>
/// What was promised to be durable is there after a power cut, whenever that comes, and nothing is damaged: what was written but not
/// synced is taken away. MONGOPERF_POWER_CUTS asks for more cuts than usual, MONGOPERF_POWER_CUT_SEED for others.
/// </summary>
[Collection(KillingTests.Name)]
public sealed class PowerCutTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("mongoperf-power-").FullName;

    private static int Cuts { get; } = int.TryParse(Environment.GetEnvironmentVariable("MONGOPERF_POWER_CUTS"), out int asked) ? asked : 40;

    private static int Seed { get; } =
        int.TryParse(Environment.GetEnvironmentVariable("MONGOPERF_POWER_CUT_SEED"), out int asked) ? asked : 1;

    private string Recorded => Path.Combine(_folder, "recorded");

    private string Log => Path.Combine(_folder, "log");

    private long LogLength => File.Exists(Log) ? new FileInfo(Log).Length : 0;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    /// <summary>Writes are lost in the reverse of their order, so that what is left is what once was, and each promise holds.</summary>
    [PowerCutFact]
    public void The_embedded_server_keeps_what_it_acknowledged_as_journaled()
    {
        Directory.CreateDirectory(Recorded);
        var random = new Random(Seed);
        // What the server held after each command, and where the log was when the command was sent.
        var states = new List<(string Held, long Sent)>();
        // From where in the log on which of these is promised.
        var promises = new List<(long From, int State)>();
        int port = FreePort.Find();
        using (ProgramRun serve = ProgramRun.Start(new ProgramOptions { Environment = PowerCut.Environment(Recorded, Log) },
            "serve", "--port", $"{port}", "--data", Path.Combine(Recorded, "data"), "--cache", "64MB"))
        {
            MongoConnection? opened = null;
            Assert.True(serve.WaitUntil(() => (opened = TryOpen(port)) is not null, "the server"), serve.Errors);
            using MongoConnection connection = opened!;
            states.Add((Held(connection), LogLength));
            for (int i = 0; i < 150; i++)
            {
                (string database, string command, bool isPromise) = Draw(random, i);
                long sent = LogLength;
                connection.RunUnchecked(database, ExtendedJson.Parse(command.Replace('\'', '"')));
                long acknowledged = LogLength;
                states.Add((Held(connection), sent));
                if (isPromise)
                    promises.Add((acknowledged, states.Count - 1));
            }

            serve.Kill();
        }

        AtCuts(random, (length, folder) =>
        {
            if (!Directory.Exists(Path.Combine(folder, "data")))
            {
                Assert.True(promises[0].From > length, "the data folder is gone");
                return;
            }

            using EmbeddedServer server =
                EmbeddedServer.Start(new EmbeddedServerOptions { DataPath = Path.Combine(folder, "data"), CacheBytes = 64L << 20 });
            using MongoConnection connection = TryOpen(server.Port)!;
            RequireKept(states, promises, length, Held(connection));
        }, promises);
    }

    /// <summary>A user with a new password has that one, and one who was removed does not come back.</summary>
    [PowerCutFact]
    public void The_embedded_server_keeps_its_users()
    {
        Directory.CreateDirectory(Recorded);
        string data = Path.Combine(Recorded, "data");
        string password = Path.Combine(_folder, "password");
        var states = new List<(string Held, long Sent)> { ("", 0) };
        var promises = new List<(long From, int State)> { (0, 0) };
        (string Option, string Name)[] changes =
            [("--add-user", "ann"), ("--add-user", "bob"), ("--add-user", "ann"), ("--remove-user", "bob")];
        foreach ((string option, string name) in changes)
        {
            File.WriteAllText(password, $"{states.Count}\n");
            long sent = LogLength;
            ProgramRun.Run(new ProgramOptions { Environment = PowerCut.Environment(Recorded, Log) },
                ["serve", "--data", data, option, name, .. option == "--add-user" ? ["--password-file", password] : (string[])[]])
                .Expect(0);
            states.Add((Users(data), sent));
            promises.Add((LogLength, states.Count - 1));
        }

        AtCuts(new Random(Seed), (length, folder) => RequireKept(states, promises, length, Users(Path.Combine(folder, "data"))),
            promises);

        static string Users(string data) => !Directory.Exists(Path.Combine(data, UserStore.FolderName)) ? "" : string.Join('\n',
            Directory.GetFiles(Path.Combine(data, UserStore.FolderName), "*.user").Order()
                .Select(file => $"{Path.GetFileName(file)} {Convert.ToHexString(SHA256.HashData(File.ReadAllBytes(file)))}"));
    }

    /// <summary>Traffic does not come again.</summary>
    [PowerCutFact]
    public void A_recording_that_has_ended_is_on_the_disk()
    {
        string file = Path.Combine(Directory.CreateDirectory(Recorded).FullName, "shop.rec");
        using EmbeddedServer server = EmbeddedServer.Start(new EmbeddedServerOptions { CacheBytes = 64L << 20 });
        using (ProgramRun record = ProgramRun.Start(new ProgramOptions { Environment = PowerCut.Environment(Recorded, Log) },
            "record", "--uri", $"mongodb://127.0.0.1:{server.Port}", "--listen", "127.0.0.1:0", "-o", file))
        {
            Assert.True(record.WaitForLine("recording what goes through"), record.Errors);
            int port = int.Parse(
                Regex.Match(record.Errors, @"goes through 127\.0\.0\.1:(\d+)").Groups[1].Value, CultureInfo.InvariantCulture);
            using (MongoConnection through = TryOpen(port)!)
                through.RunCommand("test", ExtendedJson.Parse("{\"insert\": \"c\", \"documents\": [{\"_id\": 1}]}"));
            record.SendInterrupt();
            record.WaitForEnd().Expect(0);
        }

        var cut = PowerCut.Read(Recorded, Log);
        string after = Path.Combine(_folder, "after");
        cut.Restore(cut.Moments, PowerLoss.Everything, new Random(Seed), after);
        Assert.Equal(File.ReadAllBytes(file), File.ReadAllBytes(Path.Combine(after, "shop.rec")));
    }

    /// <summary>
    /// A step's documents are durable before the marker says so, that before the checkpoint, and that before the next step; so whatever a
    /// power cut leaves fits together, and the run can be resumed to its end.
    /// </summary>
    [PowerCutFact]
    public void A_run_and_its_data_fit_together_and_can_be_resumed()
    {
        const int Step = 50;
        const int Target = 500;
        Directory.CreateDirectory(Recorded);
        string runs = Path.Combine(Recorded, "runs");
        string[] series = ["series", "--target", $"{Target}", "--step", $"{Step}", "--tests", "safe", "--shares", "0/0/100", "--quiet"];
        ProgramRun.Run(
            new ProgramOptions { Environment = PowerCut.Environment(Recorded, Log) }, [.. series, "--out", runs]).Expect(0);
        string id = Path.GetFileName(Assert.Single(Directory.GetDirectories(runs)));
        int resumed = 0;
        AtCuts(new Random(Seed), (_, folder) =>
        {
            string cutRuns = Path.Combine(folder, "runs");
            string run = Path.Combine(cutRuns, id);
            (long checkpoint, bool isFinished) = (0, false);
            if (TryRead(run) is { } read)
            {
                using (read)
                    (checkpoint, isFinished) =
                        (read.Checkpoints.Select(one => one.Documents).LastOrDefault(), read.Run.State == RunState.Finished);
                Assert.NotEqual(DataFolderState.Foreign, new RunDataFolder(run, read.Token).Look(out string _));
            }

            (long stored, long marked) = (0, 0);
            if (Directory.Exists(Path.Combine(run, "data")))
            {
                using EmbeddedServer server =
                    EmbeddedServer.Start(new EmbeddedServerOptions { DataPath = Path.Combine(run, "data"), CacheBytes = 64L << 20 });
                using MongoConnection connection = TryOpen(server.Port)!;
                stored = connection.RunCursor("mongoperf", BsonDocument.Of(("find", "series"))).Count();
                marked = connection.RunCursor("mongoperf", BsonDocument.Of(("find", WireCollection.MarkerCollection)))
                    .Select(marker => marker.FindInt64("documents") ?? 0).SingleOrDefault();
            }

            Assert.True(checkpoint <= marked && marked <= stored && marked <= checkpoint + Step,
                $"checkpoint {checkpoint}, marker {marked}, documents {stored}");
            if (checkpoint > 0 && !isFinished && resumed++ < 3)
            {
                ProgramRun.Run("resume", id, "--out", cutRuns).Expect(0);
                using StoredRun ended = StoredRun.Open(run);
                Assert.Equal((RunState.Finished, Target), (ended.Run.State, ended.DocumentsReached));
            }
        }, last: folder =>
        {
            using StoredRun run = StoredRun.Open(Path.Combine(folder, "runs", id));
            Assert.Equal(Target, run.Checkpoints[^1].Documents);
        });
        Assert.InRange(resumed, 3, Cuts);
    }

    /// <param name="states">What was held after each change, and where the log was before it.</param>
    /// <param name="promises">From where in the log on which of them is promised.</param>
    /// <param name="length">The log's when the power was cut.</param>
    /// <param name="held">What is held after the cut.</param>
    private static void RequireKept(
        List<(string Held, long Sent)> states, List<(long From, int State)> promises, long length, string held)
    {
        int least = promises.Where(promise => promise.From <= length).Select(promise => promise.State).LastOrDefault();
        int most = states.FindLastIndex(state => state.Sent <= length);
        Assert.True(Enumerable.Range(least, Math.Max(0, most - least) + 1).Any(state => states[state].Held == held),
            $"promised:\n{states[least].Held}\nat most:\n{states[Math.Max(most, 0)].Held}\nfound:\n{held}");
    }

    /// <returns>Null where the run had not begun.</returns>
    private static StoredRun? TryRead(string run)
    {
        try
        {
            return StoredRun.Open(run);
        }
        catch (RunStoreException e)
        {
            // A journal of this kind is there only while the file is made.
            Assert.True(File.Exists(Path.Combine(run, "run.db-journal"))
                || Regex.IsMatch(e.Message, "no such folder|has no run.db|is incomplete|is empty"), e.Message);
            return null;
        }
    }

    /// <param name="random">Chooses moments and what is lost.</param>
    /// <param name="check">Gets the length that the log had at the moment, and the folder as it is after the cut.</param>
    /// <param name="promises">From where in the log on something is promised: there most is at stake.</param>
    /// <param name="last">Looks at the folder after a cut at the end that took everything that was not synced.</param>
    private void AtCuts(
        Random random, Action<long, string> check, List<(long From, int State)>? promises = null, Action<string>? last = null)
    {
        PowerCut cut = PowerCut.Read(Recorded, Log);
        int[] syncs = [.. cut.AtSyncs];
        var failures = new List<string>();
        for (int i = 0; i < Cuts; i++)
        {
            int moment = i == 0 ? cut.Moments
                : i % 4 == 0 && promises is not null ? cut.MomentAt(promises[random.Next(promises.Count)].From)
                : random.Next(2) == 0 ? syncs[random.Next(syncs.Length)] : random.Next(cut.Moments + 1);
            var loss = (PowerLoss)(i % 4);
            string folder = Path.Combine(_folder, $"cut {i}");
            cut.Restore(moment, loss, random, folder);
            try
            {
                if (i == 0)
                    last?.Invoke(folder);
                check(cut.LengthAt(moment), folder);
            }
            catch (Exception e)
            {
                failures.Add($"seed {Seed}, cut {i}: {loss} lost {cut.Describe(moment)}:\n{e.GetType().Name}: {e.Message}");
            }

            Directory.Delete(folder, recursive: true);
        }

        Assert.True(failures.Count == 0, $"{failures.Count} of {Cuts} cuts\n{string.Join('\n', failures.Take(8))}");
    }

    private static (string Database, string Command, bool IsPromise) Draw(Random random, int number)
    {
        string name = $"c{random.Next(3)}";
        bool isJournaled = random.Next(3) == 0;
        string concern = isJournaled ? ", 'writeConcern': {'j': true}" : "";
        // Now and then a log's block is passed.
        string text = new('x', random.Next(6) == 0 ? random.Next(40_000) : random.Next(200));
        return random.Next(26) switch
        {
            0 => ("test", $"{{'drop': '{name}'}}", false),
            1 => ("test", $"{{'createIndexes': '{name}', 'indexes': [{{'key': {{'n': 1}}, 'name': 'n_1'}}]}}", false),
            2 => ("test", $"{{'dropIndexes': '{name}', 'index': 'n_1'}}", false),
            3 => ("test", $"{{'compact': '{name}'}}", false),
            4 => ("admin", $"{{'renameCollection': 'test.{name}', 'to': 'test.c{random.Next(3)}', 'dropTarget': true}}", false),
            5 or 6 => ("admin", "{'fsync': 1}", true),
            7 => ("test", $"{{'findAndModify': '{name}', 'query': {{'n': {random.Next(5)}}}, 'update': {{'$inc': {{'n': 1}}}}{concern}}}",
                isJournaled),
            8 => ("test", $"{{'aggregate': '{name}', 'pipeline': [{{'$match': {{'n': {random.Next(5)}}}}}, {{'$set': {{'n': 9}}}}, "
                + $"{{'$merge': 'c{random.Next(3)}'}}], 'cursor': {{}}{concern}}}", isJournaled),
            < 13 => ("test", $"{{'update': '{name}', 'updates': [{{'q': {{'n': {random.Next(5)}}}, "
                + $"'u': {{'$set': {{'t': '{text}'}}, '$inc': {{'n': 1}}}}}}]{concern}}}", isJournaled),
            < 16 => ("test", $"{{'delete': '{name}', 'deletes': [{{'q': {{'n': {random.Next(5)}}}, 'limit': 1}}]{concern}}}", isJournaled),
            _ => ("test", $"{{'insert': '{name}', 'documents': [{{'_id': {number}, 'n': {random.Next(5)}, 't': '{text}'}}]{concern}}}",
                isJournaled),
        };
    }

    /// <summary>Everything that a server holds, and that it finds nothing damaged.</summary>
    private static string Held(MongoConnection connection)
    {
        var held = new List<string>();
        foreach (BsonDocument collection in Batch(connection, "{'listCollections': 1}"))
        {
            // A first document makes its collection in a write of its own.
            string name = collection.FindString("name")!;
            BsonDocument checkup = connection.RunCommand("test", BsonDocument.Of(("validate", name)));
            Assert.True(checkup.IsTrue("valid"), ExtendedJson.Write(checkup.Bytes));
            string[] documents =
            [
                .. Batch(connection, $"{{'find': '{name}', 'sort': {{'_id': 1}}}}").Select(one => string.Create(
                    CultureInfo.InvariantCulture, $"  {one.FindInt64("_id")} {one.FindInt64("n")} {one.FindString("t")!.Length}")),
            ];
            if (documents.Length > 0)
            {
                IEnumerable<string?> indexes = Batch(connection, $"{{'listIndexes': '{name}'}}").Select(index => index.FindString("name"));
                held.Add($"{name}: {string.Join(", ", indexes)}");
            }

            held.AddRange(documents);
        }

        return string.Join('\n', held);
    }

    private static IEnumerable<BsonDocument> Batch(MongoConnection connection, string command)
    {
        BsonDocument reply = connection.RunCommand("test", ExtendedJson.Parse(command.Replace('\'', '"')));
        Assert.Equal(0, reply.FindInt64("cursor.id"));
        return reply.FindDocument("cursor.firstBatch")!.Select(one => one.Value.ToDocument()).OrderBy(one => one.FindString("name"));
    }

    private static MongoConnection? TryOpen(int port)
    {
        try
        {
            return MongoConnection.Open(new ServerAddress("127.0.0.1", port), ConnectionSettings.Default);
        }
        catch (IOException)
        {
            return null;
        }
    }
}
