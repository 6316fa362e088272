using MongoPerf.Reports;

namespace MongoPerf.Tests.Reports;

/// <summary>A name in a run's CSV is a name in a spreadsheet too, whoever chose it.</summary>
public sealed class CsvReportTests
{
    [Theory]
    [InlineData("=HYPERLINK(\"http://x\")", "\"'=HYPERLINK(\"\"http://x\"\")\"")]
    [InlineData("+1+2", "'+1+2")]
    [InlineData("-2+3", "'-2+3")]
    [InlineData("@SUM(1)", "'@SUM(1)")]
    [InlineData(" =1", "' =1")]
    [InlineData("\t=1", "'\t=1")]
    [InlineData("\r=1", "\"'\r=1\"")]
    [InlineData("a=b", "a=b")]
    [InlineData("-5", "-5")]
    [InlineData("+3.5", "+3.5")]
    [InlineData("-1e-9", "-1e-9")]
    [InlineData("name, \"quoted\"", "\"name, \"\"quoted\"\"\"")]
    public void A_text_is_no_formula(string text, string written) => Assert.Equal($"{written},-2.5,-7\r\n", Row(text, -2.5, -7L));

    [Fact]
    public void Of_all_writers_no_cell_begins_a_formula()
    {
        var table = new ListTable(
            "runs", "", [("id", "Id"), ("=field", null)], [[ListTable.Plain("=cmd|'/c calc'!A1"), ListTable.Plain("@x")]]);
        using var output = new StringWriter();
        table.Write("csv", output);
        Assert.Equal("id,'=field\r\n'=cmd|'/c calc'!A1,'@x\r\n", output.ToString());
    }

    private static string Row(params object?[] fields)
    {
        using var output = new StringWriter();
        CsvReport.Row(output, fields);
        return output.ToString();
    }
}
