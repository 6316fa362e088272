using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>Hashes of shard keys, as a mongod 6.0.5 has them in a hashed index.</summary>
public sealed class ShardHashTests
{
    [Theory]
    [InlineData("1", 5902408780260971510)]
    [InlineData("2.0", 848411777775835583)]
    [InlineData("{'$numberLong': '3'}", -1529429926180645992)]
    [InlineData("-7", -8381112229427193224)]
    [InlineData("2.5", 848411777775835583)]
    [InlineData("-2.5", 4563317049361071164)]
    [InlineData("'abc'", 8478485326885698097)]
    [InlineData("''", 2049396243249673340)]
    [InlineData("null", 2338878944348059895)]
    [InlineData("true", 6405873908747105701)]
    [InlineData("false", 6289544573401934092)]
    [InlineData("{'$date': {'$numberLong': '1767225600000'}}", 989355370899029002)]
    [InlineData("{'$oid': '0123456789abcdef01234567'}", 2741278085215419733)]
    [InlineData("{'a': 1, 'b': 'x'}", -9120163015462966597)]
    [InlineData("{}", 7980500913326740417)]
    [InlineData("{'x': {'y': [1, 2]}}", 9089156931640571782)]
    [InlineData("{'$minKey': 1}", 7961148599568647290)]
    [InlineData("{'$maxKey': 1}", 5504842513779440750)]
    [InlineData("{'$timestamp': {'t': 1, 'i': 2}}", 6130793394493442031)]
    [InlineData("{'$numberDecimal': '1.5'}", 848411777775835583)]
    [InlineData("{'$numberDecimal': '3'}", -1529429926180645992)]
    [InlineData("{'$binary': {'base64': 'eHk=', 'subType': '00'}}", 7410979188797808217)]
    [InlineData("1e300", 921523596458303250)]
    [InlineData("{'$numberDouble': 'NaN'}", 4854801880128277513)]
    [InlineData("{'$regularExpression': {'pattern': 'a', 'options': 'i'}}", -1736204118293582337)]
    [InlineData("{'$numberLong': '9007199254740993'}", -4223421864049415010)]
    public void Values_hash_as_on_mongod(string json, long hash)
    {
        BsonValue value = ExtendedJson.Parse($"{{'v': {json}}}".Replace('\'', '"')).First().Value;
        Assert.Equal(hash, ShardHash.Of(value.Type, value.Bytes.Span));
    }
}
