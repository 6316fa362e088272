using MongoPerf.Load.Documents;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Documents;

/// <summary>Source: MongoDB's manual, "Comparison/Sort Order".</summary>
public sealed class ValueOrderTests
{
    [Fact]
    public void Kinds_come_one_after_the_other_and_values_within_them()
    {
        const string Ordered = """
            {"a": {"$minKey": 1}, "b": null, "c": {"$numberDecimal": "-1E+30"}, "d": -2.5, "e": 1, "f": {"$numberDecimal": "1.2"},
             "g": {"$numberDecimal": "1.9"}, "h": {"$numberLong": "2"}, "i": {"$numberLong": "9007199254740993"},
             "j": {"$numberDecimal": "9007199254740994"}, "k": "", "l": "A", "m": "a", "n": {"x": 1}, "o": [1],
             "p": {"$binary": {"base64": "AA==", "subType": "00"}}, "q": {"$oid": "000000000000000000000001"}, "r": false, "s": true,
             "t": {"$date": {"$numberLong": "-5"}}, "u": {"$date": {"$numberLong": "5"}}, "v": {"$timestamp": {"t": 1, "i": 1}},
             "w": {"$regularExpression": {"pattern": "a", "options": ""}}, "x": {"$maxKey": 1}}
            """;
        BsonValue[] values = [.. ExtendedJson.Parse(Ordered).Select(one => one.Value)];
        for (int i = 0; i < values.Length; i++)
        {
            for (int j = 0; j < values.Length; j++)
                Assert.Equal((i, j, i.CompareTo(j)), (i, j, Math.Sign(ValueOrder.Instance.Compare(values[i], values[j]))));
        }
    }
}
