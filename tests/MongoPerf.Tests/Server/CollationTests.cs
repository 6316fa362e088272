using System.Text;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>Strings under a collation. That the order is mongod's is shown by the comparison with a real one.</summary>
public sealed class CollationTests : ServerTest
{
    [Theory]
    [InlineData(1, "ab", "AB", 0)]
    [InlineData(1, "résumé", "RESUME", 0)]
    [InlineData(2, "ab", "AB", 0)]
    [InlineData(2, "a", "á", -1)]
    [InlineData(3, "a", "A", -1)]
    [InlineData(3, "A", "b", -1)]
    [InlineData(3, "a\u0308", "ä", 0)]
    [InlineData(1, "ß", "ss", 0)]
    [InlineData(1, "æon", "aeon", 0)]
    [InlineData(3, "ab", "abc", -1)]
    [InlineData(3, "", "a", -1)]
    [InlineData(3, "z", "α", -1)]
    [InlineData(3, "가", "一", -1)]
    [InlineData(3, "一", "\U0002F800", -1)]
    [InlineData(3, "9", "10", 1)]
    public void Strength_says_what_counts(int strength, string left, string right, int order) =>
        Assert.Equal(order, Sign(Collation.Of("en", strength, isNumeric: false, isShifted: false), left, right));

    [Theory]
    [InlineData("9", "10", -1)]
    [InlineData("x09", "x9", 0)]
    [InlineData("٣", "4", -1)]
    [InlineData("99999999999999999999", "123456789012345678901", -1)]
    public void Numbers_are_compared_by_their_value(string left, string right, int order) =>
        Assert.Equal(order, Sign(Collation.Of("en", 3, isNumeric: true, isShifted: false), left, right));

    [Fact]
    public void Spaces_and_punctuation_count_nothing_when_shifted()
    {
        Assert.Equal(0, Sign(Collation.Of("en", 3, isNumeric: false, isShifted: true), "co-op", "co op"));
        Assert.NotEqual(0, Sign(Collation.Of("en", 3, isNumeric: false, isShifted: false), "co-op", "co op"));
    }

    /// <summary>Keys stand one behind the other in an index of several fields, so none may be the beginning of another.</summary>
    [Fact]
    public void Keys_sort_as_texts_compare_and_none_begins_another()
    {
        var random = new Random(3);
        string letters = "aAäb -1290\u0308é一가\uFFFE";
        Collation collation = Collation.Of("en", 3, isNumeric: true, isShifted: false);
        byte[][] keys = [.. Enumerable.Range(0, 3000)
            .Select(_ => string.Concat(Enumerable.Range(0, random.Next(6)).Select(_ => letters[random.Next(letters.Length)])))
            .Distinct().Select(text => Key(collation, text)).OrderBy(key => Convert.ToHexString(key), StringComparer.Ordinal)];
        foreach ((byte[] first, byte[] second) in keys.Zip(keys.Skip(1)))
            Assert.True(first.AsSpan().SequenceEqual(second) || !second.AsSpan().StartsWith(first), Convert.ToHexString(first));
    }

    [Fact]
    public void Unique_index_refuses_what_its_collation_says_is_there_already_also_after_a_restart()
    {
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'mail': 1}, 'name': 'm', 'unique': true, 'collation': {'locale': 'en', "
            + "'strength': 2}}]}");
        Succeed("{'insert': 'c', 'documents': [{'_id': 1, 'mail': 'Ann@example.org'}]}");
        Restart();
        BsonDocument reply = Succeed("{'insert': 'c', 'documents': [{'_id': 2, 'mail': 'ANN@example.org'}]}");
        Assert.Equal((11000, 2L), ((int)reply.FindInt64("writeErrors.0.code")!, reply.FindInt64("writeErrors.0.collation.strength")));
        Assert.Equal("m", Index("{'find': 'c', 'filter': {'mail': 'ann@EXAMPLE.org'}, 'collation': {'locale': 'en', 'strength': 2}}"));
        Assert.Null(Index("{'find': 'c', 'filter': {'mail': 'ann@EXAMPLE.org'}}"));
        Assert.Null(Index("{'find': 'c', 'filter': {'mail': 'a'}, 'collation': {'locale': 'en', 'strength': 1}}"));
        Assert.Equal("m", Index("{'find': 'c', 'filter': {'mail': 5}}"));
        Assert.True(Succeed("{'validate': 'c'}").IsTrue("valid"));
    }

    [Fact]
    public void Collection_passes_its_collation_to_commands_and_indexes_also_after_a_rename()
    {
        Succeed("{'create': 'c', 'collation': {'locale': 'en', 'strength': 2}}");
        Succeed("{'insert': 'c', 'documents': [{'_id': 'A'}]}");
        Succeed("{'renameCollection': 'test.c', 'to': 'other.d'}", "admin");
        Restart();
        Assert.Equal(1, Succeed("{'count': 'd', 'query': {'_id': 'a'}}", "other").FindInt64("n"));
        Assert.Equal(0, Succeed("{'count': 'd', 'query': {'_id': 'a'}, 'collation': {'locale': 'simple'}}", "other").FindInt64("n"));
        Assert.Equal(2, Succeed("{'listCollections': 1}", "other").FindInt64("cursor.firstBatch.0.options.collation.strength"));
        Assert.Equal(11000, Succeed("{'insert': 'd', 'documents': [{'_id': 'a'}]}", "other").FindInt64("writeErrors.0.code"));
    }

    [Fact]
    public void A_cursor_keeps_the_collation_of_its_command()
    {
        Succeed("{'insert': 'c', 'documents': [{'_id': 1, 's': 'a'}, {'_id': 2, 's': 'A'}, {'_id': 3, 's': 'b'}, {'_id': 4, 's': 'A'}]}");
        Assert.Equal([1, 2, 4], Ids(Client.FindAll(
            "{'find': 'c', 'filter': {'s': 'a'}, 'batchSize': 1, 'collation': {'locale': 'en', 'strength': 1}}")));
        Assert.Equal([1], Ids(Client.FindAll("{'find': 'c', 'filter': {'s': 'a'}}")));
    }

    [Theory]
    [InlineData("{'find': 'c', 'collation': {'locale': 'sv'}}", "locale 'sv', which has rules of its own; known are simple, bo")]
    [InlineData("{'find': 'c', 'collation': {'locale': 'en', 'strength': 4}}", "'strength: 4' in a collation")]
    [InlineData("{'find': 'c', 'collation': {'locale': 'en', 'caseLevel': true}}", "'caseLevel: true' in a collation")]
    [InlineData("{'find': 'c', 'collation': {'locale': 'en', 'caseFirst': 'upper'}}", "'caseFirst: upper' in a collation")]
    [InlineData("{'find': 'c', 'collation': {'locale': 'en', 'normalization': true}}", "'normalization: true' in a collation")]
    [InlineData("{'find': 'c', 'filter': {'$expr': {'$eq': ['$a', 'x']}}, 'collation': {'locale': 'en'}}", "$expr under a collation")]
    [InlineData("{'find': 'c', 'projection': {'x': {'$eq': ['$a', 'x']}}, 'collation': {'locale': 'en'}}", "a projection with operators")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$group': {'_id': 1, 'm': {'$max': '$a'}}}], 'cursor': {}, "
        + "'collation': {'locale': 'en'}}", "$max in $group under a collation")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$skip': 1}, {'$set': {'x': {'$eq': ['$a', 'x']}}}], 'cursor': {}, "
        + "'collation': {'locale': 'en'}}", "$set with operators under a collation")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$facet': {'x': [{'$match': {'$expr': {'$eq': ['$a', 'x']}}}]}}], 'cursor': {}, "
        + "'collation': {'locale': 'en'}}", "$expr under a collation")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$merge': 'd'}], 'cursor': {}, 'collation': {'locale': 'en'}}", "$merge under")]
    [InlineData("{'findAndModify': 'c', 'update': {'$addToSet': {'a': 'x'}}, 'collation': {'locale': 'en'}}", "$addToSet under")]
    public void What_it_cannot_is_refused_by_name(string command, string text)
    {
        InsertNumbers(1);
        Fails(command, 238, text);
    }

    private static int Sign(Collation collation, string left, string right) =>
        Math.Sign(collation.Compare(Encoding.UTF8.GetBytes(left), Encoding.UTF8.GetBytes(right)));

    private static byte[] Key(Collation collation, string text)
    {
        var key = new KeyBuffer();
        collation.WriteKey(key, Encoding.UTF8.GetBytes(text));
        return key.Written.ToArray();
    }

    private string? Index(string find) => Succeed("{'explain': " + find + ", 'verbosity': 'queryPlanner'}")
        .FindString("queryPlanner.winningPlan.inputStage.indexName");
}
