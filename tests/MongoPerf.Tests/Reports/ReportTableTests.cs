using MongoPerf.Reports;

namespace MongoPerf.Tests.Reports;

public sealed class ReportTableTests
{
    /// <summary>Found where deployments with long names stood side by side: the columns of texts vanished.</summary>
    [Fact]
    public void Headers_of_numbers_are_stacked_where_there_is_no_room_beside_each_other()
    {
        var table = new ReportTable("t", ["<run", "memory not limited documents", "memory 0.5 GB ops/s"],
            [["50x2000", "825,000", "3,202"]]);
        Assert.Equal(["<run", "memory\nnot\nlimited\ndocuments", "memory\n0.5 GB\nops/s"], Assert.Single(table.Within(50)).Columns);
        Assert.Same(table, Assert.Single(table.Within(70)));
    }

    /// <summary>Found where the tables of three deployments stood side by side: all columns were a letter wide.</summary>
    [Fact]
    public void A_table_without_room_for_its_numbers_goes_on_below()
    {
        string[] sides = ["mongod", "tyrant", "other"];
        var table = new ReportTable("Writes", ["<run", .. sides.SelectMany(side => new[] { $"{side} documents", $"{side} duration" })],
            [["50x2000", .. Enumerable.Range(1, 6).Select(i => $"{i},000,000,000")]])
        {
            Together = 2,
        };
        ReportTable[] parts = [.. table.Within(80)];
        Assert.Equal(["Writes", "Writes (continued)"], parts.Select(part => part.Title));
        Assert.Equal(["<run", "mongod\ndocuments", "mongod\nduration"], parts[0].Columns.Take(3));
        Assert.Equal(
            [
                ["50x2000", "1,000,000,000", "2,000,000,000"],
                ["50x2000", "3,000,000,000", "4,000,000,000"],
                ["50x2000", "5,000,000,000", "6,000,000,000"],
            ],
            table.Within(45).Select(part => part.Rows[0]));
        // What belongs together stays so where there is room for one more column.
        Assert.Equal([3, 3, 3], table.Within(74).Select(part => part.Columns.Count));
        // And is parted where there is no room for all of it.
        Assert.Equal([2, 2, 2, 2, 2, 2], table.Within(40).Select(part => part.Columns.Count));
    }

    [Fact]
    public void Each_part_of_a_table_without_texts_has_its_first_column()
    {
        var table = new ReportTable(
            "t", ["documents", "first", "second"], [["1,000,000", "1,000,000,000,000", "2,000,000,000,000"], ["2,000,000", "3", "4"]]);
        Assert.Equal([["documents", "first"], ["documents", "second"]], table.Within(40).Select(part => part.Columns));
        Assert.Equal([["1,000,000", "2,000,000,000,000"], ["2,000,000", "4"]], table.Within(40).Last().Rows);
    }

    [Fact]
    public void A_table_leaves_out_what_is_missed_least_where_there_is_no_room()
    {
        var table = new ReportTable("Test", ["documents", "ops/s", "docs/s", "p50", "p95", "<index"],
            [["1M", "12,345", "123,450", "1.23 ms", "2.34 ms", "a long name of an index"]]);
        Assert.Same(table, Assert.Single(table.Within(132)));
        ReportTable narrow = Assert.Single(table.Within(50));
        Assert.Equal(["documents", "ops/s", "p50", "<index"], narrow.Columns);
        Assert.Equal(["1M", "12,345", "1.23 ms", "a long name of an index"], Assert.Single(narrow.Rows));
        Assert.Equal("Test (no room for p95, docs/s; the report has all columns)", narrow.Title);
    }

    [Theory]
    [InlineData(null, 132)]
    [InlineData("", 132)]
    [InlineData("no number", 132)]
    [InlineData("-100", 132)]
    [InlineData("200", 200)]
    [InlineData("20", 80)]
    [InlineData("999999", 1000)]
    public void What_is_piped_is_as_wide_as_COLUMNS_says(string? columns, int width) =>
        Assert.Equal(width, ConsoleReportOptions.WidthOf(columns));
}
