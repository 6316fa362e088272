using System.CommandLine;
using System.Text.RegularExpressions;
using MongoPerf.Commands;
using MongoPerf.Manual;

namespace MongoPerf.Tests.Manual;

/// <summary>The manual says what help says, in requests that man(7) knows.</summary>
public sealed partial class ManPageTests
{
    private static readonly RootCommand Root = CommandTree.Build();
    private static readonly IReadOnlyList<ManPage> Pages = ManPage.AllOf(Root);

    [Fact]
    public void Every_command_has_a_page_with_its_options() => Assert.All(Root.Subcommands.Where(command => !command.Hidden), command =>
    {
        string page = Pages.First(one => one.FileName == $"mongoperf-{command.Name}.1").Text;
        foreach (Command one in command.Subcommands.Append(command))
        {
            Assert.All(one.Options.Where(option => !option.Hidden), option =>
                Assert.Contains($"\\fB{option.Name.Replace("-", "\\-", StringComparison.Ordinal)}\\fR", page, StringComparison.Ordinal));
            Assert.Contains(one.Description!.Split(['"', '\'', '\n'])[0], page, StringComparison.Ordinal);
        }
    });

    [Fact]
    public void The_programs_page_names_the_others_and_the_exit_codes()
    {
        string page = Pages[0].Text;
        Assert.StartsWith(".TH MONGOPERF 1 ", page, StringComparison.Ordinal);
        Assert.All(Pages.Skip(1), other => Assert.Contains(
            $".BR {other.FileName[..^2].Replace("-", "\\-", StringComparison.Ordinal)} (1)", page, StringComparison.Ordinal));
        Assert.Contains(".B 99\nan assertion failed\n", page, StringComparison.Ordinal);
    }

    [Fact]
    public void Lines_that_begin_with_a_dot_are_requests_that_are_meant() => Assert.Empty(
        from page in Pages
        from line in page.Text.Split('\n')
        where line.StartsWith('.') && !Request().IsMatch(line) || line.StartsWith('\'')
        select $"{page.FileName}: {line}");

    [GeneratedRegex(@"^\.(TH|SH|SS|TP|B|I|BR|RI|br|nf|fi|nh|ad)\b")]
    private static partial Regex Request();
}
