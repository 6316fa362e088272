using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Writing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Learning;

/// <summary>Conditions that only the application could know, and what updates set.</summary>
public sealed class ShapeWriterTests
{
    private static readonly ObservedValues Numbers = new(new Dictionary<BsonType, long> { [BsonType.Int32] = 1000 }, 1000, default);
    private static readonly DocumentShape AddsToN = Of(("$inc", Of(("n", new ConstantShape(One)))));

    /// <summary>
    /// A reader that has the newest version already asks in vain, and an update finds the version that it read before: documents as they
    /// are after the recording tell neither.
    /// </summary>
    [Theory]
    [InlineData(0.06, "{_id: ^key, n: {^choice: {of: [{$exists: true}, {$exists: false}], weights: [94, 6]}}}")]
    [InlineData(0.01, "{_id: ^key, n: {$exists: true}}")]
    [InlineData(0.99, "{_id: ^key, n: {$exists: false}}")]
    public void A_version_that_an_update_changes_is_found_as_often_as_it_was(double nothing, string filter) => Assert.Equal(
        filter, Filter(Update(nothing) with { Filter = Of(("_id", Equal("_id")), ("n", Equal("n"))) }));

    [Fact]
    public void A_document_that_is_to_differ_from_what_is_known_is_found_as_often_as_it_was() => Assert.Equal(
        "{_id: ^key, n: {^choice: {of: [{$exists: true}, {$exists: false}], weights: [40, 60]}}}",
        Filter(Update(0.6) with
        {
            Kind = "find", Update = null,
            Filter = Of(("_id", Equal("_id")), ("n", Of(("$ne", new ValueShape("n", ValueRole.NotEqual, Numbers))))),
        }));

    [Fact]
    public void What_nothing_changes_or_no_other_field_names_stays_the_documents_own()
    {
        Assert.Equal("{_id: ^key, n: {^field: n}}", Filter(Update(0) with
        {
            Update = Of(("$set", Of(("name", Equal("name"))))), Filter = Of(("_id", Equal("_id")), ("n", Equal("n"))),
        }));
        Assert.Equal("{n: {^field: n}}", Filter(Update(0) with { Filter = Of(("n", Equal("n"))) }));
    }

    /// <summary>Found on an application of drivers on a map: their type became a made-up word.</summary>
    [Fact]
    public void A_point_that_is_set_is_one_of_the_fields() => Assert.Equal(
        "{$set: {at: {^point: {}}, name: ^word}}",
        new ShapeWriter(new OrdersData(), Update(0)).Update(Of(("$set", Of(
            ("at", Of(("type", Equal("at.type")), ("coordinates", Of(("0", Equal("at.coordinates")))))), ("name", new ValueShape(
                "name", ValueRole.Written, Numbers)))))));

    /// <summary>Found on an outbox filled by unordered inserts of which one is always there: nothing was inserted in the copy.</summary>
    [Theory]
    [InlineData("insertMany", 20, 1000, "rate: 95.2")]
    [InlineData("insertMany", 0, 1000, "inserts that failed")]
    [InlineData("insert", 0.75, 250, "rate: 75")]
    [InlineData("insert", 0.01, 990, "inserts that failed")]
    public void Inserts_that_failed_in_part_insert_the_rest(string kind, double inserted, double failed, string written)
    {
        var operation = new LearnedOperation("shop", "orders", kind, 1000)
        {
            DocumentsPerOperation = kind == "insertMany" ? 21 : 1,
            Replies = new ObservedReplies(1000, inserted, 0, 0, null, new Dictionary<int, double> { [11000] = failed }),
        };
        var mix = new OperationMix("a recording", 10, [new ObservedPhase(10, [new PhaseOperation(operation, 1000, null)])], []);
        Assert.Contains(written, new PhaseWriter(mix, new OrdersData()).Text, StringComparison.Ordinal);
    }

    private static BsonValue One => BsonDocument.Of(("v", 1)).Find("v")!.Value;

    private static DocumentShape Of(params (string Name, Shape Value)[] fields) =>
        new([.. fields.Select(one => KeyValuePair.Create(one.Name, one.Value))], IsArray: false);

    private static ValueShape Equal(string field) => new(field, ValueRole.Equal, Numbers);

    private static string Filter(LearnedOperation operation) => new ShapeWriter(new OrdersData(), operation).Filter(operation.Filter!);

    private static LearnedOperation Update(double nothing) => new("shop", "orders", "update", 1000)
    {
        Update = AddsToN, Replies = new ObservedReplies(1000, 1 - nothing, 0, nothing, 1, new Dictionary<int, double>()),
    };
}
