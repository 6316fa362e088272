using MongoPerf.Reports;

namespace MongoPerf.Tests.Reports;

/// <summary>Lists fit a terminal, and stay one line for each row in a pipe.</summary>
public sealed class TextColumnsTests
{
    private static readonly string[][] Rows =
    [
        ["name", "state", "description"], ["sort", "ready", "A sort by _id beside a sort by another field"],
        ["news", "ready", ""], ["文档", "ready", "数据"],
    ];

    [Fact]
    public void In_a_pipe_each_row_is_one_line() => Assert.Equal(
        """
        name state description
        sort ready A sort by _id beside a sort by another field
        news ready
        文档 ready 数据

        """, Written(null));

    [Fact]
    public void At_a_terminal_the_last_column_wraps_at_words() => Assert.Equal(
        """
        name state description
        sort ready A sort by _id beside a
                   sort by another field
        news ready
        文档 ready 数据

        """, Written(34));

    [Fact]
    public void Where_it_has_no_room_it_stands_below() => Assert.Equal(
        """
        name state
             description
        sort ready
             A sort by _id beside a
             sort by another field
        news ready
        文档 ready
             数据

        """, Written(28));

    [Theory]
    [InlineData(1)]
    [InlineData(5)]
    public void No_terminal_is_too_narrow(int columns) => Assert.Contains("beside", Written(columns), StringComparison.Ordinal);

    [Fact]
    public void Whoever_names_something_can_not_make_lines_of_his_own()
    {
        using var output = new StringWriter { NewLine = "\n" };
        TextColumns.Write([["a\nb", "c\r\nd"]], output, null);
        Assert.Equal("a b c d\n", output.ToString());
    }

    private static string Written(int? terminal)
    {
        using var output = new StringWriter { NewLine = "\n" };
        TextColumns.Write(Rows, output, terminal);
        return output.ToString();
    }
}
