using System.Diagnostics;
using System.Globalization;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server.Fuzzing;

/// <summary>
/// Mutated messages, bytewise and as well-formed commands, from several clients at once. The unit suite sends a share with a fixed
/// seed; MONGOPERF_FUZZ=10000000 sends that many, MONGOPERF_FUZZ_SEED takes another seed (docs/reliability.md).
/// </summary>
[Collection(nameof(MeasuredAlone))]
public sealed class FuzzTests(ITestOutputHelper output) : ServerTest
{
    private const int Clients = 3;
    private const long UsualMessages = 9_000;
    private const long MemoryLimit = 512L << 20;
    private const int Documents = 1000;
    private const int SecondsBetweenDrops = 20;

    [Fact]
    public async Task No_mutated_message_ends_the_server_or_touches_other_data()
    {
        long messages = Number("MONGOPERF_FUZZ", UsualMessages);
        int seed = (int)Number("MONGOPERF_FUZZ_SEED", 20_260_105);
        PrepareCanary();
        PrepareTarget();
        long before = ResidentBytes();
        long peak = before;
        var time = Stopwatch.StartNew();
        MessageFuzzer[] fuzzers = [.. Enumerable.Range(0, Clients).Select(i => new MessageFuzzer(Port, seed + i))];
        Task all = Task.WhenAll(
            fuzzers.Select(fuzzer => Task.Factory.StartNew(() => fuzzer.Run(messages / Clients), TaskCreationOptions.LongRunning)));
        for (int second = 1; !all.IsCompleted; second++)
        {
            await Task.WhenAny(all, Task.Delay(1000));
            peak = Math.Max(peak, ResidentBytes());
            if (second % SecondsBetweenDrops == 0)
                DropWhatWasMade();
            PrepareTarget();
            Report(fuzzers, time.Elapsed, before, peak);
        }

        await all;
        output.WriteLine(Report(fuzzers, time.Elapsed, before, peak));
        Assert.Empty(fuzzers.SelectMany(fuzzer => fuzzer.Unexpected));
        Assert.Equal(0, Server.Defects);
        Assert.True(fuzzers.Sum(fuzzer => fuzzer.Succeeded) > messages / 20,
            "hardly any command succeeded: the corpus does not reach the server's inside");
        Restart();
        RequireCanary();
        RequireValid();
        Assert.InRange(peak - before, long.MinValue, MemoryLimit);
    }

    private string Report(MessageFuzzer[] fuzzers, TimeSpan elapsed, long before, long peak)
    {
        string codes = string.Join(", ",
            fuzzers.SelectMany(fuzzer => fuzzer.Codes).GroupBy(pair => pair.Key).OrderByDescending(group => group.Sum(pair => pair.Value))
                .Take(12).Select(group => $"{group.Key}: {group.Sum(pair => pair.Value)}"));
        string line = string.Create(CultureInfo.InvariantCulture,
            $"{fuzzers.Sum(fuzzer => fuzzer.Sent)} messages ({fuzzers.Sum(fuzzer => fuzzer.Bytewise)} bytewise) in "
            + $"{elapsed.TotalSeconds:F0} s, {fuzzers.Sum(fuzzer => fuzzer.Succeeded)} succeeded, {fuzzers.Sum(fuzzer => fuzzer.Closed)} "
            + $"connections closed, {Server.Defects} defects, resident {before >> 20} MB, at most {peak >> 20} MB; codes {codes}");
        if (Environment.GetEnvironmentVariable("MONGOPERF_FUZZ_LOG") is { } log)
            File.WriteAllLines(log, [line, .. fuzzers.SelectMany(fuzzer => fuzzer.Unexpected).Select(pair => $"{pair.Key}: {pair.Value}")]);
        return line;
    }

    private void PrepareCanary()
    {
        Client.RunWithSequence("{'insert': 'bird'}", "documents", Canary(), "canary");
        Succeed("{'createIndexes': 'bird', 'indexes': [{'key': {'n': 1}, 'name': 'n_1'}, {'key': {'a': -1}, 'name': 'a_-1'}]}", "canary");
    }

    private static IEnumerable<BsonDocument> Canary() =>
        Enumerable.Range(0, Documents)
            .Select(i => BsonDocument.Of(("_id", i), ("n", i % 17), ("a", new object?[] { i, i + 1 }), ("t", $"bird {i}")));

    /// <summary>
    /// What the commands work on. They change, empty and drop it, and would make it grow without bounds: it is made anew now and then.
    /// </summary>
    private void PrepareTarget()
    {
        using var client = new TestClient(Port);
        client.Run("{'delete': 'c', 'deletes': [{'q': {}, 'limit': 0}]}", CommandCorpus.Database);
        client.RunWithSequence("{'insert': 'c', 'ordered': false}", "documents", Enumerable.Range(0, 20).Select(i => BsonDocument.Of(
            ("_id", i),
            ("n", i % 10),
            ("t", $"text {i}"),
            ("a", new object?[] { BsonDocument.Of(("x", i % 3)), BsonDocument.Of(("x", 2)) }),
            ("d", BsonDocument.Of(("k", i))))), CommandCorpus.Database);
        client.Run("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n_1'}, {'key': {'a.x': 1, 't': -1}, 'name': 'ax_t'}]}",
            CommandCorpus.Database);
    }

    /// <summary>Mutated names make new collections, and each holds memory for as long as it is there.</summary>
    private void DropWhatWasMade()
    {
        using var client = new TestClient(Port);
        foreach ((_, BsonValue database) in client.Run("{'listDatabases': 1, 'nameOnly': true}", "admin").FindDocument("databases")!)
        {
            if (database.ToDocument().FindString("name") is { } name and not ("canary" or "admin" or "local" or "config"))
                client.Run("{'dropDatabase': 1}", name);
        }
    }

    private void RequireCanary()
    {
        using var client = new TestClient(Port);
        BsonDocument reply = client.Run("{'find': 'bird', 'sort': {'_id': 1}, 'batchSize': 2000}", "canary");
        Assert.Equal(Canary().Select(document => ExtendedJson.Write(document.Bytes)),
            TestClient.Batch(reply, "firstBatch").Select(document => ExtendedJson.Write(document.Bytes)));
    }

    private void RequireValid()
    {
        foreach ((_, BsonValue database) in Succeed("{'listDatabases': 1}", "admin").FindDocument("databases")!)
        {
            string name = database.ToDocument().FindString("name")!;
            foreach (BsonDocument collection in TestClient.Batch(Succeed("{'listCollections': 1, 'nameOnly': true}", name), "firstBatch"))
            {
                BsonDocument report = Client.Run(BsonDocument.Of(("validate", collection.FindString("name"))), name);
                Assert.True(report.IsTrue("valid"), $"{name}: {ExtendedJson.Write(report.Bytes)}");
            }
        }
    }

    private static long ResidentBytes()
    {
        using var process = Process.GetCurrentProcess();
        return process.WorkingSet64;
    }

    private static long Number(string variable, long otherwise) =>
        Environment.GetEnvironmentVariable(variable) is { Length: > 0 } text ? long.Parse(text, CultureInfo.InvariantCulture) : otherwise;
}
