using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Scenarios;

/// <summary>
/// The initial data of scenarios/tpcc.yaml meet TPC-C's twelve consistency conditions (3.3.2.1 to 3.3.2.12), counted here one by one.
/// </summary>
/// <remarks>scripts/tpcc-conditions counts them after runs; an end-to-end test looks at the file's own checks.</remarks>
public sealed class TpccDataTests
{
    [Theory]
    [InlineData(1, 300, 90, false)]
    [InlineData(2, 60, 18, true)]
    [InlineData(3, 41, 7, false)]
    [InlineData(1, 20, 20, false)]
    public void The_initial_data_meet_every_condition(int warehouses, int customers, int undelivered, bool isEmbedded)
    {
        ReadPlan plan = Read(warehouses, customers, undelivered, isEmbedded);
        var of = plan.Plan.Collections.ToDictionary(collection => collection.Name, collection => (IReadOnlyList<BsonDocument>)
            [.. Enumerable.Range(0, (int)collection.Count).Select(number => collection.Documents.Make(number))]);
        ILookup<(long W, long D), BsonDocument> districts = ByDistrict("district");
        Assert.Equal(10 * warehouses, districts.Count);
        var newOrders = of["new_order"].Select(one => (Of(one), one.FindInt64("o")!.Value)).ToHashSet();
        var lines = (isEmbedded
                ? of["orders"].SelectMany(order =>
                    order.FindDocument("lines")!.Select(line => (Order: KeyOf(order), Line: line.Value.ToDocument())))
                : of["order_line"].Select(line => (Order: KeyOf(line), Line: line)))
            .ToLookup(one => one.Order, one => one.Line);
        // (1), (8)
        foreach (BsonDocument warehouse in of["warehouse"])
        {
            long id = warehouse.FindInt64("_id")!.Value;
            long? paid = warehouse.FindInt64("ytd");
            Assert.Equal(paid, of["district"].Where(one => one.FindInt64("w") == id).Sum(one => one.FindInt64("ytd")));
            Assert.Equal(paid, of["history"].Where(one => one.FindInt64("w") == id).Sum(one => one.FindInt64("amount")));
        }

        ILookup<(long W, long D), BsonDocument> orders = ByDistrict("orders"), waiting = ByDistrict("new_order");
        ILookup<(long W, long D), BsonDocument> history = ByDistrict("history"), persons = ByDistrict("customer");
        foreach (IGrouping<(long W, long D), BsonDocument> district in districts)
        {
            BsonDocument one = Assert.Single(district);
            long[] numbers = [.. orders[district.Key].Select(NumberOf).Order()];
            // (2), (3), (9), (11)
            Assert.Equal(Enumerable.Range(1, customers).Select(i => (long)i), numbers);
            Assert.Equal(customers + 1, one.FindInt64("next"));
            Assert.Equal(
                Enumerable.Range(customers - undelivered + 1, undelivered).Select(i => (long)i), waiting[district.Key].Select(NumberOf));
            Assert.Equal(one.FindInt64("ytd"), history[district.Key].Sum(paid => paid.FindInt64("amount")));
            Assert.Equal(customers - undelivered, orders[district.Key].Count() - waiting[district.Key].Count());
            // Each customer has ordered once (4.3.3.1).
            Assert.Equal(numbers, orders[district.Key].Select(order => order.FindInt64("c")!.Value).Order());
            var delivered = orders[district.Key].ToDictionary(order => order.FindInt64("c")!.Value, order => lines[KeyOf(order)]
                .Where(line => line.Find("delivered")!.Value.Type != BsonType.Null).Sum(line => line.FindInt64("amount")));
            foreach (BsonDocument person in persons[district.Key])
            {
                long c = person.FindInt64("c")!.Value;
                long? paid = history[district.Key].Where(row => row.FindInt64("customer.c") == c).Sum(row => row.FindInt64("amount"));
                // (10), (12)
                Assert.Equal(delivered[c] - paid, person.FindInt64("balance"));
                Assert.Equal(delivered[c], person.FindInt64("balance") + person.FindInt64("ytd_payment"));
            }
        }

        foreach (BsonDocument order in of["orders"])
        {
            bool isWaiting = newOrders.Contains((Of(order), NumberOf(order)));
            // (4) to (7)
            Assert.Equal(isWaiting, order.Find("carrier")!.Value.Type == BsonType.Null);
            Assert.Equal(order.FindInt64("count"), lines[KeyOf(order)].Count());
            foreach (BsonDocument line in lines[KeyOf(order)])
            {
                // As 4.3.3.1 has it: what was delivered is free, and was delivered when it was ordered.
                Assert.Equal(isWaiting ? BsonType.Null : BsonType.DateTime, line.Find("delivered")!.Value.Type);
                Assert.True(isWaiting ? line.FindInt64("amount") is >= 1 and <= 999_999 : line.FindInt64("amount") == 0);
                if (!isWaiting)
                    Assert.Equal(order.Find("entry")!.Value.ToString(), line.Find("delivered")!.Value.ToString());
            }
        }

        Assert.Equal(10 * warehouses * customers, lines.Count);

        ILookup<(long W, long D), BsonDocument> ByDistrict(string collection) => of[collection].ToLookup(Of);

        static (long W, long D) Of(BsonDocument one) => (one.FindInt64("w")!.Value, one.FindInt64("d")!.Value);

        static long NumberOf(BsonDocument one) => one.FindInt64("o")!.Value;

        static (long W, long D, long O) KeyOf(BsonDocument one) => (Of(one).W, Of(one).D, NumberOf(one));
    }

    [Theory]
    [InlineData(3000, 1000)]
    [InlineData(60, 20)]
    public void Every_last_name_occurs_in_each_district(int customers, int names)
    {
        PlanCollection collection = Read(1, customers, 18, false, names).Plan.Collections.First(one => one.Name == "customer");
        foreach (IEnumerable<long> district in Enumerable.Range(0, 10 * customers).Select(i => (long)i).Chunk(customers))
        {
            string[] all = [.. district.Select(number => collection.Documents.Make(number).FindString("last")!)];
            Assert.Equal(names, all.Take(names).Distinct().Count());
            Assert.Subset(all.Take(names).ToHashSet(), all.Skip(names).ToHashSet());
        }
    }

    private static ReadPlan Read(int warehouses, int customers, int undelivered, bool isEmbedded, int names = 10) => PlanReader.Read(
        ScenarioFile.Find("tpcc"), new PlanOverrides
        {
            Parameters = new Dictionary<string, string>
            {
                ["warehouses"] = $"{warehouses}", ["customers"] = $"{customers}", ["undelivered"] = $"{undelivered}",
                ["embedded"] = isEmbedded ? "true" : "false", ["names"] = $"{names}", ["items"] = "20", ["transaction"] = "false",
            },
        }, 42);
}
