using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Measurement;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Learning;

/// <summary>Whatever a broken server or file says, the scenario is one that can be run.</summary>
public sealed class HostileStreamTests
{
    private static readonly string[] Collections = ["orders", "größe", "a b", "size orders", "total", "mix", "-x", "empty", "Orders"];

    private static readonly double[] Odd = [double.NaN, double.PositiveInfinity, double.NegativeInfinity, -1, 0, 1e300, 1e-300, 1e39, 1e16];

    private static readonly string[] Commands =
    [
        "{'find': 'C', 'filter': {'_id': ID}}", "{'find': 'C', 'filter': {'n': {'$gte': ID}}, 'limit': 5}",
        "{'find': 'C', 'filter': {'x': {'$lt': ID.5}}}", "{'find': 'C', 'filter': {'x': {'$lt': ID.5e-30}}}",
        "{'find': 'C', 'filter': {'x': {'$gt': ID.5e300}, 'n': {'$in': [1, ID]}}}",
        "{'count': 'C', 'query': {'n': {'$numberDouble': 'NaN'}}}",
        "{'insert': 'C', 'documents': [{}]}", "{'insert': 'C', 'documents': [{}, {}, {}]}",
        "{'update': 'C', 'updates': [{'q': {'_id': ID}, 'u': {'$inc': {'n': 1}}}]}",
        "{'delete': 'C', 'deletes': [{'q': {'_id': ID}, 'limit': 1}]}", "{'delete': 'C', 'deletes': [{'q': {'_id': ID}, 'limit': 0}]}",
        "{'findAndModify': 'C', 'query': {'_id': ID}, 'remove': true}",
        "{'aggregate': 'C', 'pipeline': [{'$match': {'n': ID}}], 'cursor': {}}",
        "{'bulkWrite': 1, 'ops': [{'insert': 0, 'document': {}}, {'delete': 0, 'filter': {'_id': ID}}], 'nsInfo': [{'ns': 'shop.C'}]}",
    ];

    [Theory]
    [InlineData(1, false)]
    [InlineData(2, false)]
    [InlineData(3, false)]
    [InlineData(4, false)]
    [InlineData(5, true)]
    [InlineData(6, true)]
    public void What_is_learned_of_anything_can_be_read(ulong seed, bool isPrecise)
    {
        var random = new RandomStream(seed);
        var operations = new List<ObservedOperation>();
        double now = 1e9;
        for (int part = 0; part < 12; part++)
        {
            string[] some = [.. Enumerable.Range(0, 1 + random.Next(3)).Select(_ => Commands[random.Next(Commands.Length)])];
            string collection = Collections[random.Next(Collections.Length)];
            double apart = Math.Pow(10, (random.NextDouble() * 6) - 5);
            for (int i = random.Next(400); i >= 0; i--)
            {
                now += random.Next(50) == 0 ? -apart * 100 : apart;
                string json = some[random.Next(some.Length)].Replace("ID", $"{random.Next(1000)}", StringComparison.Ordinal)
                    .Replace("'C'", $"'{collection}'", StringComparison.Ordinal)
                    .Replace("shop.C", $"shop.{collection}", StringComparison.Ordinal).Replace('\'', '"');
                operations.Add(new ObservedOperation(OddOr(now), "shop", collection, ExtendedJson.Parse(json), OddOr(apart * 5e5), OddOr(1))
                {
                    Connection = random.Next(3) == 0 ? null : $"{random.Next(30)}",
                });
            }
        }

        CollectionSample[] samples =
        [
            .. Collections.Select(name => new CollectionSample(name, name == "empty" ? 0 : 1 + random.Next(2000),
                [.. Enumerable.Range(0, name == "empty" ? 0 : 9).Select(i => BsonDocument.Of(("_id", i), ("n", i * 7), ("x", i + 0.5)))],
                AreInOrder: true)),
        ];
        var database = new DatabaseSample("shop", samples, new SamplingCost(0, 0, 0, 0), "", "", []);
        foreach (string? key in (string?[])[null, "secret"])
        {
            var data = new DataWriter(database, new WrittenNames(key), new HashSet<string>());
            var source = new ListSource(operations, isPrecise);
            var phases = new PhaseWriter(MixBuilder.Of(source).Finish(source, "shop", (_, _) => new FieldPopulation(1000, 1000)), data);
            Assert.NotEmpty(ScenarioTexts.Plan(ScenarioText.Of(database, data, phases)).Rounds.Single().Phases);
        }

        double OddOr(double usual) => random.Next(200) == 0 ? Odd[random.Next(Odd.Length)] : usual;
    }
}
