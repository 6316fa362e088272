using MongoPerf.Deployments.Installing;
using MongoPerf.Progress;

namespace MongoPerf.Tests.Commands;

public sealed class DownloadProgressTests
{
    [Fact]
    public void A_terminal_shows_the_end_at_once_and_later_lines_begin_anew()
    {
        Assert.Equal("fetching\n\r12.5 of 12.5 MB".PadRight(9 + 1 + 40) + "\nunpacking\n", Shown(isTerminal: true, isQuiet: false));
    }

    [Fact]
    public void A_file_gets_whole_lines_only() => Assert.Equal("fetching\nunpacking\n", Shown(isTerminal: false, isQuiet: false));

    [Fact]
    public void Quiet_is_quiet() => Assert.Equal("", Shown(isTerminal: true, isQuiet: true));

    private static string Shown(bool isTerminal, bool isQuiet)
    {
        using var output = new StringWriter { NewLine = "\n" };
        using (var progress = new DownloadProgress(output, isTerminal, isQuiet))
        {
            progress.Show("fetching");
            progress.Show(new Transferred(1_000_000, 12_500_000));
            progress.Show(new Transferred(12_500_000, 12_500_000));
            progress.Show("unpacking");
        }

        return output.ToString();
    }
}
