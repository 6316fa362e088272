using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Workloads;

/// <summary>The commands of the query tests, byte by byte, as MongoDB's own clients order the fields.</summary>
public sealed class SeriesTestsTests
{
    // find: "c"
    private const string Find = "02 66696e6400 02000000 6300";

    // {$gte: 0}
    private const string AtLeast = "0f000000 10 2467746500 00000000 00";

    // filter: {Number: {$gte: 0}}
    private const string FilterNumber = "03 66696c74657200 1c000000 03 4e756d62657200" + AtLeast + "00";

    // limit: 10, singleBatch: true
    private const string Limit10 = "10 6c696d697400 0a000000" + SingleBatch;
    private const string SingleBatch = "08 73696e676c65426174636800 01";

    [Theory]
    [InlineData("q4", "4e000000" + Find + FilterNumber + Limit10 + "00")]
    [InlineData("q5", "99000000" + Find
        + "03 66696c74657200 34000000 03 4e756d62657200" + AtLeast + "03 4e756d6265723100" + AtLeast + "00"
        + "03 70726f6a656374696f6e00 27000000 10 5f696400 00000000 10 4e756d62657200 01000000 10 4e756d6265723100 01000000 00" + Limit10 + "00")]
    [InlineData("q6", "6d000000" + Find + FilterNumber + "03 736f727400 0f000000 10 4461746500 ffffffff 00" + "10 736b697000 64000000" + Limit10 + "00")]
    [InlineData("q7", "37000000" + Find + "03 66696c74657200 05000000 00" + "10 6c696d697400 64000000" + SingleBatch + "00")]
    public void A_query_is_these_bytes(string test, string hex)
    {
        byte[] expected = Convert.FromHexString(hex.Replace(" ", "", StringComparison.Ordinal));
        Assert.Equal(expected, SeriesTests.Find(test, 1_000_000).ToCommand("c").Memory.ToArray());
    }

    [Theory]
    [InlineData("q4", "Number.$gte")]
    [InlineData("q5", "Number.$gte Number1.$gte")]
    [InlineData("q6", "Number.$gte")]
    [InlineData("q7", "")]
    public void Values_are_drawn_below_nine_tenths_of_the_range(string test, string paths)
    {
        IReadOnlyList<DrawnParameter> drawn = SeriesTests.Find(test, 1_000_000).Parameters;
        Assert.Equal(paths.Split(' ', StringSplitOptions.RemoveEmptyEntries), drawn.Select(p => p.Path));
        Assert.All(drawn, p => Assert.Equal(900_000, p.Range));
    }

    [Fact]
    public void Explain_asks_about_the_middle_of_each_range()
    {
        FindSpecification query = SeriesTests.Find("q5", 1_000_000);
        FindSpecification typical = query.WithMiddleValues();
        Assert.Equal(450_000, new BsonDocument(typical.Filter.Memory).FindInt64("Number.$gte"));
        Assert.Equal(450_000, typical.Filter.FindInt64("Number1.$gte"));
        Assert.Equal(0, query.Filter.FindInt64("Number.$gte"));
    }

    [Fact]
    public void Only_q5_leaves_fields_out() =>
        Assert.Equal(["q4", "q6", "q7"], SeriesTests.Queries.Where(test => SeriesTests.Find(test, 1_000_000).ReturnsWholeDocuments));

    [Fact]
    public void Insert_tests_are_what_their_names_say()
    {
        Assert.Equal(new InsertSpecification("unack", 1, false, false, true), SeriesTests.Insert("unack", 500, journal: true, ordered: false));
        Assert.Equal(new InsertSpecification("batch", 500, true, true, false), SeriesTests.Insert("batch", 500, journal: true, ordered: false));
        Assert.Equal(new InsertSpecification("safe", 1, true, true, true), SeriesTests.Insert("safe", 500, journal: true, ordered: false));
    }

    [Fact]
    public void A_test_of_the_other_kind_is_refused()
    {
        Assert.Throws<ArgumentException>(() => SeriesTests.Find("safe", 10));
        Assert.Throws<ArgumentException>(() => SeriesTests.Insert("q4", 1, false, true));
    }
}
