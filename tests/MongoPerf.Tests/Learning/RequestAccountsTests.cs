using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Learning;

/// <summary>Each request that was seen is learned, or left out for a reason that is told with its number.</summary>
public sealed class RequestAccountsTests
{
    private static readonly CollectionSample Rooms = new("rooms", 100, [.. Enumerable.Range(0, 100).Select(i => BsonDocument.Of(
        [("_id", i), ("n", i), ("unread", BsonDocument.Of([.. Enumerable.Range(0, 6).Select(
            j => ($"gast{((i * 6) + j) * 7 % 600}", (object?)j))]))]))], AreInOrder: true);

    [Fact]
    public void Names_that_are_data_are_one_shape_which_is_learned()
    {
        (PhaseWriter phases, string text) = Learn([
            .. ListSource.Of(400, i => $"{{'update': 'rooms', 'updates': [{{'q': {{'_id': {i % 100}}}, 'u': {{'$inc': "
                + $"{{'unread.gast{i * 7 % 600}': 1}}}}}}]}}"),
            .. ListSource.Of(50, i => $"{{'find': 'rooms', 'filter': {{'unread.gast{i}': {{'$gt': 5}}}}, "
                + $"'projection': {{'unread.gast{i}': 1}}}}")]);
        Assert.Contains("with: {$inc: {^fields: {count: 6, prefix: \"unread.k\", value: 1, pick: one}}}", text, StringComparison.Ordinal);
        Assert.Contains("filter: {unread.k0: {$gt: ", text, StringComparison.Ordinal);
        Assert.Contains("projection: {unread.k0: 1}", text, StringComparison.Ordinal);
        Assert.DoesNotContain("gast", text, StringComparison.Ordinal);
        Assert.Equal(2, phases.Phases.SelectMany(phase => phase.Operations).DistinctBy(one => one.Name).Count());
        Assert.StartsWith("450 requests = 450 learned (100 % of their time) + 0 left out", phases.Accounting, StringComparison.Ordinal);
    }

    /// <summary>Few of them, in a collection whose documents have many.</summary>
    [Fact]
    public void Few_names_that_are_data_are_known_by_the_documents() => Assert.Contains("pick: one", Learn(ListSource.Of(10, i =>
        $"{{'update': 'rooms', 'updates': [{{'q': {{'_id': 1}}, 'u': {{'$set': {{'unread.gast{i % 3}': 0}}}}}}]}}")).Text,
        StringComparison.Ordinal);

    [Fact]
    public void A_collection_of_too_many_shapes_does_not_hide_another_one_or_another_database()
    {
        (PhaseWriter phases, string text) = Learn([
            .. ListSource.Of(3000, i => $"{{'update': 'logs', 'updates': [{{'q': {{'_id': 1}}, 'u': {{'$inc': {{'f{i}': 1}}}}}}]}}"),
            .. ListSource.Of(3000, i => $"{{'count': 'other', 'query': {{'f{i}': 1}}}}").Select(one => one with { Database = "else" }),
            .. ListSource.Of(100, i => $"{{'find': 'rooms', 'filter': {{'_id': {i}}}}}")]);
        Assert.Equal(["find rooms _id"], phases.Phases.SelectMany(phase => phase.Operations).Select(one => one.Name).Distinct());
        Assert.Contains("# not learned: operations of more than 1,000 shapes of a collection (2000 times)", text, StringComparison.Ordinal);
        Assert.Contains("# not learned: operations (update): the file has no such collection (1000 times)", text, StringComparison.Ordinal);
        Assert.StartsWith("6,100 requests = 100 learned (3.2 % of their time) + 3,000 left out (96.8 %) + 3,000 on other databases",
            phases.Accounting, StringComparison.Ordinal);
        Assert.InRange(phases.LeftOutShare, 0.96, 0.97);
    }

    /// <summary>As many as a driver puts into one command, and more shapes of them than a scenario would have.</summary>
    [Fact]
    public void All_statements_of_a_command_are_learned_or_it_is_left_out()
    {
        string Statements(int count, Func<int, string> field) => string.Join(", ", Enumerable.Range(0, count).Select(i =>
            $"{{'q': {{'_id': {i}, 'n': {{'$gte': 3, '$lt': 9}}}}, 'u': {{'$set': {{'{field(i)}': 7}}}}}}"));
        (PhaseWriter phases, string text) = Learn([
            .. ListSource.Of(3, _ => $"{{'update': 'rooms', 'updates': [{Statements(1500, _ => "n")}]}}"),
            .. ListSource.Of(2, _ => $"{{'update': 'rooms', 'updates': [{Statements(1200, i => $"f{i}")}]}}")]);
        Assert.Contains("times: 1500}", text, StringComparison.Ordinal);
        Assert.Contains("# not learned: commands of more than 1,000 different statements (2 times)", text, StringComparison.Ordinal);
        Assert.StartsWith("5 requests = 3 learned", phases.Accounting, StringComparison.Ordinal);
    }

    /// <summary>Aborted transactions, drivers' own commands, damaged ones, and what can't be said.</summary>
    [Fact]
    public void Everything_is_accounted_for()
    {
        const string Session = "'lsid': {'id': {'$uuid': '00000000-0000-4000-8000-0000000000ID'}}, 'txnNumber': {'$numberLong': 'ID'}, "
            + "'autocommit': false";
        IEnumerable<ObservedOperation> Transactions(string end, int first) => Enumerable.Range(0, 30).SelectMany(i =>
            ListSource.Of(3, step => (step == 0 ? "{'insert': 'rooms', 'documents': [{'_id': 1}], SESSION}"
                : step == 1 ? "{'delete': 'rooms', 'deletes': [{'q': {'_id': 1}, 'limit': 1}], SESSION}" : $"{{'{end}': 1, SESSION}}")
                .Replace("SESSION", Session, StringComparison.Ordinal)
                .Replace("ID", $"{first + i}", StringComparison.Ordinal)));
        (PhaseWriter phases, string text) = Learn([
            .. Transactions("commitTransaction", 10), .. Transactions("abortTransaction", 50), .. Transactions("ping", 80).Take(5),
            .. ListSource.Of(20, _ => "{'ping': 1}"), .. ListSource.Of(20, _ => "{'createIndexes': 'rooms', 'indexes': []}"),
            .. ListSource.Of(20, _ => "{'find': 'rooms', 'filter': {'$where': 'x'}}"),
            .. ListSource.Of(20, _ => "{'find': 'rooms', 'filter': {}, 'sort': {'s': {'$meta': 'textScore'}}, 'min': {'n': 1}}"),
            .. ListSource.Of(3, _ => "{'ping': 1}").Select(one => one with { Count = -1 })]);
        Assert.Contains("# not learned: statements of transactions that were aborted (90 times)", text, StringComparison.Ordinal);
        Assert.Contains("# not learned: of 20 operations (find): a sort by $meta", text, StringComparison.Ordinal);
        Assert.Contains("# not learned: of 20 operations (find): min", text, StringComparison.Ordinal);
        Assert.Contains("# not learned: the operator $where (20 times)", text, StringComparison.Ordinal);
        const int Open = 5;
        Assert.StartsWith($"{90 + 90 + 5 + 80 + 3} requests = 110 learned ", phases.Accounting, StringComparison.Ordinal);
        Assert.Contains($"+ {90 + 40 + Open} left out", phases.Accounting, StringComparison.Ordinal);
        Assert.EndsWith("+ 0 on other databases + 20 of drivers and monitoring + 3 not understood", phases.Accounting,
            StringComparison.Ordinal);
    }

    private static (PhaseWriter Phases, string Text) Learn(IEnumerable<ObservedOperation> operations)
    {
        var source = new ListSource(operations);
        OperationMix mix = MixBuilder.Of(source).Finish(source, "shop", (_, _) => new FieldPopulation(1000, 1000),
            (collection, path) => collection == "rooms" && path == "unread");
        var database = new DatabaseSample("shop", [Rooms], new SamplingCost(0, 0, 0, 0), "", "", []);
        var data = new DataWriter(database, new WrittenNames(null), new HashSet<string>(), mix);
        var phases = new PhaseWriter(mix, data);
        string text = ScenarioText.Of(database, data, phases);
        Assert.Contains($"# {phases.Accounting}\n", text, StringComparison.Ordinal);
        ScenarioTexts.Plan(text);
        return (phases, text);
    }
}
