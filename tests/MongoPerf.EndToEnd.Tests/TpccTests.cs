using System.Text.RegularExpressions;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>The checks of scenarios/tpcc.yaml hold on the initial data, and each finds what breaks its condition.</summary>
[Collection(LightTests.Name)]
public sealed partial class TpccTests(TestServers servers)
{
    /// <summary>A document, what is done to it (nothing: it is deleted), and the conditions that this breaks.</summary>
    private static readonly (string Collection, string Filter, string Update, string Conditions)[] Broken =
    [
        ("warehouse", "{_id: 1}", "{$inc: {ytd: 1}}", "1 8"),
        ("district", "{w: 1, d: 4}", "{$inc: {next: 1}}", "2"),
        ("new_order", "{w: 1, d: 4, o: 25}", "", "3 5 11"),
        ("orders", "{w: 1, d: 4, o: 3}", "{$inc: {count: 1}}", "4 6"),
        ("orders", "{w: 1, d: 4, o: 25}", "{$set: {carrier: 3}}", "5 7"),
        ("orders", "{w: 1, d: 4, o: 3}", "{$set: {carrier: null}}", "5 7"),
        ("history", "{w: 1, d: 4, 'customer.c': 7}", "{$inc: {amount: 1}}", "8 9 10 12"),
        ("district", "{w: 1, d: 4}", "{$inc: {ytd: 1}}", "1 9"),
        ("customer", "{w: 1, d: 4, c: 7}", "{$inc: {balance: 1}}", "10 12"),
        ("customer", "{w: 1, d: 4, c: 7}", "{$inc: {balance: 1, ytd_payment: -1}}", "10 12"),
        ("customer", "{w: 1, d: 4, c: 7}", "{$inc: {deliveries: 1}}", "11"),
    ];

    private static readonly (string Collection, string Filter, string Update, string Conditions)[] BrokenLines =
    [
        ("order_line", "{w: 1, d: 4, o: 3, number: 2}", "", "4 6"),
        ("order_line", "{w: 1, d: 4, o: 25, number: 2}", "{$set: {delivered: {$date: '2026-11-01T00:00:00Z'}}}", "7 10 12"),
        ("order_line", "{w: 1, d: 4, o: 3, number: 2}", "{$set: {delivered: null}}", "7"),
        ("order_line", "{w: 1, d: 4, o: 3, number: 2}", "{$set: {amount: 1}}", "10 12"),
    ];

    private static readonly (string Collection, string Filter, string Update, string Conditions)[] BrokenEmbedded =
    [
        ("orders", "{w: 1, d: 4, o: 3}", "{$pop: {lines: 1}}", "4 6"),
        ("orders", "{w: 1, d: 4, o: 25}", "{$set: {'lines.2.delivered': {$date: '2026-11-01T00:00:00Z'}}}", "7 10 12"),
        ("orders", "{w: 1, d: 4, o: 3}", "{$set: {'lines.2.delivered': null}}", "7"),
        ("orders", "{w: 1, d: 4, o: 3}", "{$set: {'lines.2.amount': 1}}", "10 12"),
    ];

    [MongodTheory(From = "4.4")]
    [InlineData(false)]
    [InlineData(true)]
    public void A_check_finds_what_breaks_its_condition(bool isEmbedded)
    {
        Plan plan = PlanReader.Read(ScenarioFile.Find("tpcc"), new PlanOverrides
        {
            Parameters = new Dictionary<string, string>
            {
                ["customers"] = "30", ["undelivered"] = "9", ["names"] = "10", ["items"] = "20",
                ["embedded"] = isEmbedded ? "true" : "false",
            },
        }, 42).Plan;
        string database = servers.NewDatabase();
        using MongoConnection connection = servers["mongod"].Connect();
        foreach (PlanCollection collection in plan.Collections.Where(one => one.Count > 0))
        {
            BsonDocument[] documents = [.. Enumerable.Range(0, (int)collection.Count).Select(number => collection.Documents.Make(number))];
            Assert.Equal(
                documents.Length, Run(BsonDocument.Of(("insert", collection.Name), ("documents", documents))).FindInt64("n"));
        }

        Assert.Equal("", Violated());
        foreach ((string collection, string filter, string update, string conditions) in
            (IEnumerable<(string, string, string, string)>)[.. Broken, .. isEmbedded ? BrokenEmbedded : BrokenLines])
        {
            BsonDocument query = Json(filter);
            BsonDocument right = Assert.Single(All(BsonDocument.Of(("find", collection), ("filter", query))));
            BsonDocument byId = BsonDocument.Of(("_id", right.Find("_id")));
            if (update.Length > 0)
                Change(BsonDocument.Of(("update", collection), ("updates", new[] { BsonDocument.Of(("q", byId), ("u", Json(update))) })));
            else
                Change(BsonDocument.Of(("delete", collection), ("deletes", new[] { BsonDocument.Of(("q", byId), ("limit", 1)) })));
            Assert.Equal($"{update}: {conditions}", $"{update}: {Violated()}");
            Change(BsonDocument.Of(("update", collection),
                ("updates", new[] { BsonDocument.Of(("q", byId), ("u", right), ("upsert", true)) })));
        }

        Assert.Equal("", Violated());

        string Violated() => string.Join(' ', plan.Phases.Last().Conditions
            .Where(check => All(check.ToCommand().ToDocument(new(0, 0))).Any())
            .SelectMany(check => Numbers().Matches(check.Name)).Select(match => int.Parse(match.Value)).Order());

        void Change(BsonDocument command) => Assert.Equal(1, Run(command).FindInt64("n"));

        IEnumerable<BsonDocument> All(BsonDocument command) =>
            Run(command).FindDocument("cursor.firstBatch")!.Select(one => one.Value.ToDocument());

        BsonDocument Run(BsonDocument command) => connection.RunCommand(database, command);
    }

    private static BsonDocument Json(string text) =>
        ExtendedJson.Parse(BareName().Replace(text, "$1'$2':").Replace('\'', '"'));

    [GeneratedRegex(@"([{,]\s*)([\w$]+):")]
    private static partial Regex BareName();

    [GeneratedRegex(@"\d+(?=[,)])")]
    private static partial Regex Numbers();
}
