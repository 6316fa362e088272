using MongoPerf.Reports;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Texts;

public sealed class WordsTests
{
    /// <summary>Found where a learned scenario's operations stood in 80 columns: five rows had one name.</summary>
    [Fact]
    public void Names_that_are_cut_show_where_they_begin_to_differ() => Assert.Equal(
        [
            "load orders", "…find orders of the shop _id", "…find…shop customer", "…find…shop customer state",
            "…update orders of the shop …", "…find orders of the shop it…",
        ],
        Words.Cut(
            [
                "load orders", "learned find orders of the shop _id", "learned find orders of the shop customer",
                "learned find orders of the shop customer state", "learned update orders of the shop _id",
                "learned find orders of the shop items.sku",
            ],
            28));

    /// <summary>A character for private use may be in anybody's names.</summary>
    [Fact]
    public void Numbers_stay_with_their_units_and_all_characters_of_a_text_are_kept() =>
        Assert.Equal("took\n12 ms,\na\uE000b", Words.Wrap("took 12 ms, a\uE000b", 6));

    [Theory]
    [InlineData(8)]
    [InlineData(13)]
    [InlineData(30)]
    public void Names_that_differ_anywhere_stay_different_in_as_many_columns_as_there_are(int width)
    {
        string[] words = ["find", "orders", "by", "customer", "and", "state", "the newest", "订单", "🙂", "a", "b", "1", "12", ""];
        var random = new Random(40);
        for (int round = 0; round < 500; round++)
        {
            string[] names = [.. Enumerable.Range(0, random.Next(1, 6))
                .Select(_ => string.Join(' ', Enumerable.Range(0, random.Next(1, 16)).Select(_ => words[random.Next(words.Length)])))];
            string[] cut = Words.Cut(names, width);
            string all = string.Join(" | ", names.Zip(cut, (name, shown) => $"{name} -> {shown}"));
            Assert.All(cut, name => Assert.True(Words.Width(name) <= width, all));
            Assert.All(cut, name => Assert.True(name.IsNormalized(), all));
            Assert.True(names.Distinct().Count() == cut.Distinct().Count(), all);
        }
    }

    [Fact]
    public void A_name_of_one_word_keeps_as_much_of_its_end_as_there_is_room_for() => Assert.Equal(
        ["…dCustomerOrdersByRegionA", "…dCustomerOrdersByRegionB", "total"],
        Words.Cut(["findCustomerOrdersByRegionA", "findCustomerOrdersByRegionB", "total"], 25));

    /// <summary>Each of several operations has several lines, so names differ both early and late.</summary>
    [Fact]
    public void Names_that_differ_in_two_places_show_both()
    {
        string[] all = [.. new[] { "find the newest", "find the oldest", "insert the" }
            .SelectMany(_ => new[] { "p50", "p99" }, (what, figure) => $"{what} orders of one customer {figure}")];

        Assert.Equal(
            ["find…newest…p50", "find…newest…p99", "find…oldest…p50", "find…oldest…p99"], Words.Cut(all, 25)[..4]);
        Assert.Equal(6, Words.Cut(all, 25).Distinct().Count());
    }

    /// <summary>Found in a finding in 80 columns: "46.7" ended a line and "%" began the next.</summary>
    [Fact]
    public void A_number_and_its_unit_stay_in_one_line()
    {
        const string Text = "the disk read 222 MB/s (46.7 % of 475 MB/s; 3,000 operations/s), which is × 15.7 ± 2 % in 1 min 33 s: "
            + "p99 1.2 ms to 3 s, 840 docs/s, a cache of 64 MiB and 12 kB, from 7 s on";
        string[] units = ["MB/s", "%", "operations/s),", "min", "s:", "ms", "s,", "docs/s,", "MiB", "kB,", "15.7", "2", "s"];
        for (int width = 1; width < Text.Length + 20; width++)
        {
            string[] rows = Words.Wrap(Text, width).Split('\n');
            Assert.Equal(Text, string.Join(' ', rows));
            Assert.DoesNotContain(rows, row => units.Contains(row.Split(' ')[0]));
        }
    }

    [Fact]
    public void A_terminal_breaks_no_line_before_a_unit()
    {
        string text = string.Concat(Enumerable.Repeat("it takes 46.7 % of 1.25 GB/s. ", 40)).TrimEnd();
        var table = new ReportTable("T", ["<why"], [[text]]);
        var report = new Report("", [new Block.Facts([new Fact("finding", text)]), new Block.Paragraph(text), new Block.Table(table)], []);
        for (int width = ConsoleReport.MinimumWidth; width < 110; width++)
        {
            using var output = new StringWriter();
            ConsoleReport.Write(report, output, new ConsoleReportOptions { Width = width });
            string[] lines = output.ToString().Split('\n');
            Assert.All(lines, line => Assert.InRange(Words.Width(line), 0, width));
            Assert.All(lines, line => Assert.DoesNotMatch(@"^[ |]*(%|GB/s)|(46\.7|1\.25)[ |]*$", line));
            Assert.Equal(120, output.ToString().Split("46.7 %").Length - 1);
        }
    }
}
