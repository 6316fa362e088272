using MongoPerf.Load.Plans;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Groups that watch a collection as files write them, and what is said of those that can't.</summary>
public sealed class WatchTests
{
    private const string Writers = "{name: w, count: 5, operations: [{insert: users}, "
        + "{update: users, key: uniform, with: {$set: {at: ^write}}}]}";

    [Fact]
    public void A_watcher_knows_its_stages_and_where_updates_have_their_numbers()
    {
        Phase phase = ScenarioTexts.Plan(Text(
            $"[{Writers}, {{operations: [{{watch: users, pipeline: [{{$match: {{operationType: insert}}}}], "
            + "fullDocument: updateLookup}]}]"))
            .Phases.Last();
        WatchChanges watch = Assert.IsType<WatchChanges>(Assert.Single(phase.Groups[1].Operations).Operation);
        Assert.True(watch.MayLeaveOut);
        Assert.Equal(["at"], phase.Groups[0].Operations.SelectMany(item => NumberFields.Of(item.Operation)));
        BsonDocument command = watch.ToCommand().ToDocument(new(0, 0));
        Assert.Equal(("users", "updateLookup", "insert"), (command.FindString("aggregate"),
            command.FindString("pipeline.0.$changeStream.fullDocument"), command.FindString("pipeline.1.$match.operationType")));
        Assert.Equal(["aggregate", "pipeline", "cursor"], command.Select(element => element.Key));
    }

    [Theory]
    [InlineData("{operations: [{watch: users}, {find: users, key: uniform}]}",
        "phase 'p': operation 'watch' watches a collection, and needs a group of its own")]
    [InlineData("{operations: [{watch: log}]}", "phase 'p': operation 'watch' watches 'log', to which nothing in the phase writes")]
    [InlineData("{duration: 5s, operations: [{watch: users}]}",
        "phase 'p': duration is not allowed in a group that watches, which begins before the others and ends after them")]
    [InlineData("{after: 1s, operations: [{watch: users}]}", "phase 'p': after is not allowed in a group that watches")]
    [InlineData("{operations: [{watch: series}]}", "watch: MongoDB has no change streams of time series, and 'series' is one")]
    [InlineData("{operations: [{watch: users, pipeline: [{$match: {n: ^number}}]}]}",
        "p.group 2.watch.pipeline: generated values are not allowed here")]
    [InlineData("{operations: [{watch: users, fullDocument: updatelookup}]}",
        "fullDocument is 'updatelookup'; allowed: default, updateLookup")]
    [InlineData("{operations: [{update: users, key: uniform, with: {$inc: {n: ^write}}}]}",
        "p.group 2.update: ^write is allowed as a field of $set or of a replacement only")]
    [InlineData("{operations: [{update: users, filter: {}, many: true, with: {$set: {n: ^write}}}]}",
        "^write is allowed as a field of $set")]
    [InlineData("{operations: [{bulkWrite: [{update: users, key: uniform, with: {$set: {n: ^write}}}]}]}",
        "^write is allowed as a field")]
    [InlineData("{operations: [{steps: [{watch: users}]}]}", "watch is not allowed here; allowed: insert, ")]
    public void What_can_not_watch_is_refused_where_it_stands(string group, string message) => Assert.Contains(
        message, Assert.Throws<UserException>(() => ScenarioTexts.Plan(Text($"[{Writers}, {group}]"))).Message, StringComparison.Ordinal);

    [Fact]
    public void Several_clients_can_not_watch() => Assert.Equal(
        "phase 'p': operation 'watch' would see the writes of all clients, but know only when those of its own client were acknowledged",
        PlanDivision.FindFault(ScenarioTexts.Plan(Text($"[{Writers}, {{operations: [{{watch: users}}]}}]")), clients: 2));

    private static string Text(string groups) =>
        "data:\n  users: {count: 10, document: {n: ^number}}\n  log: {}\n  series: {document: {t: {^date: {start: 2026-01-01, step: 1s}}}, "
        + "options: {timeseries: {timeField: t}}}\n" + $"phases:\n  - {{name: p, groups: {groups}}}\n";
}
