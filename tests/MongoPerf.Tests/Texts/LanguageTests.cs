using System.CommandLine;
using System.Globalization;
using System.Reflection;
using System.Text.RegularExpressions;
using MongoPerf.Commands;
using MongoPerf.Options;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Explore;
using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Findings;
using MongoPerf.Reports.Html;
using MongoPerf.Reports.Phases;
using MongoPerf.Reports.Plots;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports;
using MongoPerf.Tests.Reports.Comparison;
using MongoPerf.Tests.Reports.Figures;
using MongoPerf.Tests.Support;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Texts;

/// <summary>
/// Reports and help in Chinese: every text is translated, no translation is left over, and what programs read stays English.
/// </summary>
public sealed partial class LanguageTests(ApprovedReportTests.Fixture approved) : IClassFixture<ApprovedReportTests.Fixture>, IDisposable
{
    private static readonly IReadOnlyDictionary<string, string> Chinese = Language.Chinese.Texts;
    private static readonly SourceText[] Sources = [.. RepositoryPaths.SourcesIn("src")
        .SelectMany(path => SourceTexts.In(File.ReadAllText(path)))];

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    private static IEnumerable<string> OfPlots() => PlotLibrary.Standard
        .SelectMany(static plot => (string[])[PlotInfo.KeyOf(plot.Title), plot.HowToRead]).Where(static text => text.Length > 0);

    [Fact]
    public void Every_text_that_the_code_translates_has_a_translation()
    {
        string[] texts = [.. Sources.Where(text => text.IsTranslated)
            .Select(text => text.Key).Concat(HtmlExplore.Texts()).Concat(OfPlots()).Distinct()];
        Assert.True(texts.Length > 500, $"only {texts.Length} texts were found in the sources");
        string[] missing = [.. texts.Where(text => !Chinese.ContainsKey(text))];
        Assert.Empty(missing);
    }

    [Fact]
    public void Every_option_argument_and_command_is_described_in_Chinese()
    {
        string[] lines = [.. Descriptions(CommandTree.Build()).SelectMany(text => text.Split('\n'))
            .Where(line => line.Contains(' ') && !line.TrimStart().StartsWith("mongoperf", StringComparison.Ordinal)).Distinct()];
        Assert.True(lines.Length > 100, $"only {lines.Length} descriptions were found");
        using (Words.In(Language.Chinese))
        {
            string[] missing = [.. lines.Where(line => !HasChinese(LanguageOption.Translate(line)))];
            Assert.Empty(missing);
        }
    }

    [Fact]
    public void Columns_names_and_titles_that_are_translated_where_they_are_shown_have_translations()
    {
        string[] columns = [.. Sources.Select(text => text.Key).Where(text => TextColumn().IsMatch(text)).Select(ReportTable.Header)];
        string[] metrics = [.. FigureMetric.All.Where(metric => metric.Latency is null)
            .SelectMany(metric => new[] { metric.TitleOf(false), metric.TitleOf(true), metric.HeadingOf(false), metric.HeadingOf(true) })];
        using (Words.In(Language.Chinese))
            Assert.All(FigureMetric.All.Where(metric => metric.Latency is not null), metric =>
            {
                Assert.True(HasChinese(metric.TitleOf(false)) && HasChinese(metric.TitleOf(true)), metric.Name);
                Assert.True(HasChinese(ReportTable.Header(metric.HeadingOf(true))), metric.Name);
            });
        string[] refutations = [.. typeof(VerdictFinding).GetProperties(BindingFlags.Public | BindingFlags.Static)
            .Select(one => one.GetValue(null) as VerdictFinding).OfType<VerdictFinding>().Select(one => one.Refute)];
        Assert.NotEmpty(refutations);
        using StoredRun run = new GrowingRun().Write(_runs.At("a"));
        Report report = RunReport.Of(run);
        // A table of documents alone has operations for columns.
        IEnumerable<string> tables = report.Blocks.OfType<Block.Table>()
            .Where(table => table.In == Media.All).SelectMany(table => table.Content.Columns)
            .Select(ReportTable.Header).Where(text => !Value().IsMatch(text) && !text.Any(char.IsDigit) && !text.StartsWith('_'));
        IEnumerable<string> names = report.Sections.Select(section => section.Title)
            .Concat(report.Blocks.Concat(report.Answer).OfType<Block.Facts>().SelectMany(facts => facts.Lines).Select(fact => fact.Name));
        Assert.Empty(columns.Concat(metrics).Concat(refutations)
            .Concat(tables).Concat(names).Where(text => !IsLanguageless(text) && !Chinese.ContainsKey(text)).Distinct());
    }

    [Fact]
    public void No_translation_is_left_over()
    {
        HashSet<string> texts = [.. Sources.Select(text => text.Key)
            .Concat(HtmlExplore.Texts()).Concat(OfPlots()).Concat(Descriptions(CommandTree.Build()).SelectMany(Columns))];
        texts.UnionWith(texts.Where(text => text.StartsWith('<')).Select(text => text[1..]).ToArray());
        texts.UnionWith(texts.Where(text => !text.Contains(' ') || text == "returned document")
            .SelectMany(text => new[] { $"{{0}} {text}", $"{{0}} {text}s" }).ToArray());
        texts.UnionWith(
            FigureMetric.All.SelectMany(metric => new[] { metric.TitleOf(false), metric.TitleOf(true), metric.HeadingOf(true) }));
        texts.UnionWith(Enum.GetNames<RunState>().Select(name => name.ToLowerInvariant()));
        // The library's own, a shape with its number, and kinds of events that no constant has.
        texts.UnionWith(["Description:", "Usage:", "Options:", "Arguments:", "Commands:", "replica set of 3", "response max",
            "response p95", "response p99.9"]);
        string[] left = [.. Chinese.Keys.Where(key => !texts.Contains(key))];
        Assert.Empty(left);
    }

    [Fact]
    public void A_translation_has_the_values_of_its_text() =>
        Assert.Empty(Chinese.Where(one => !Value().Matches(one.Key).Select(v => v.Value).Order().Distinct()
            .SequenceEqual(Value().Matches(one.Value).Select(v => v.Value).Order().Distinct())).Select(one => one.Key));

    [Fact]
    public void What_programs_read_is_the_same_in_every_language()
    {
        using StoredRun run = new GrowingRun().Write(_runs.At("a"));
        Action<TextWriter>[] formats =
        [
            output => JsonReport.Write(run, output),
            output => CsvReport.WriteResults(run, output),
            output => CsvReport.WriteSizes(run, output),
            output => JunitReport.Write([run], output),
            output => YcsbReport.Write(run, output),
        ];
        foreach (Action<TextWriter> format in formats)
        {
            string english = Written(format);
            Assert.Equal(english, InChinese(format));
        }
    }

    [Fact]
    public void A_report_in_Chinese_is_followed_by_one_in_English_as_it_always_was()
    {
        using StoredRun run = new GrowingRun().Write(_runs.At("a"));
        string before = Written(output => MarkdownReport.Write(RunReport.Of(run), output));
        string chinese = InChinese(output => MarkdownReport.Write(RunReport.Of(run), output));
        Assert.Contains("## 环境与设置", chinese, StringComparison.Ordinal);
        Assert.Contains("**正常**", chinese, StringComparison.Ordinal);
        Assert.Equal(before, Written(output => MarkdownReport.Write(RunReport.Of(run), output)));
    }

    [Fact]
    public void A_comparison_in_Chinese_has_an_English_twin_for_programs()
    {
        var shape = new NoisyRun { Sizes = 2, Seconds = 40, Phases = ["batch", "q4"] };
        using StoredRun a = StoredRun.Open((shape with { Id = "a" }).Write(_runs.Path));
        using StoredRun b = StoredRun.Open((shape with { Id = "b", NoiseSeed = 2, Speed = _ => 0.7 }).Write(_runs.Path));
        ComparedSide[] sides = [new ComparedSide([a]), new ComparedSide([b])];
        string Json() => Written(output => ComparisonJson.Write(RunComparer.Compare(sides, RunComparer.DefaultNoiseThreshold), output));
        string english = Json();
        using (Words.In(Language.Chinese))
        {
            Assert.Equal(english, Json());
            Assert.Contains("较慢", Written(output => MarkdownReport.Write(
                ComparisonReport.Of(RunComparer.Compare(sides, RunComparer.DefaultNoiseThreshold)), output)), StringComparison.Ordinal);
        }
    }

    [Fact]
    public void What_a_run_says_of_its_limits_in_English_is_said_in_Chinese_too()
    {
        string path = FrozenRun.Build(
            _runs.Path, new FrozenShape { Id = "limits", Steps = 2, TargetDocumentCount = 20_000, WindowSeconds = 2 });
        using StoredRun run = StoredRun.Open(path);
        Assert.Contains(
            ClientLimit.Of(run).Sentences, sentence => sentence.StartsWith("the client was the bottleneck", StringComparison.Ordinal));
        using IDisposable chinese = Words.In(Language.Chinese);
        Assert.All(ClientLimit.Of(run).Sentences, sentence => Assert.True(HasChinese(sentence), sentence));
    }

    [Fact]
    public void A_page_in_Chinese_says_so_and_brings_the_texts_of_its_controls()
    {
        using StoredRun run = new GrowingRun().Write(_runs.At("a"));
        using IDisposable chinese = Words.In(Language.Chinese);
        string page = LivePage.Of("a").Html;
        Assert.Contains("<html lang=\"zh-CN\">", page, StringComparison.Ordinal);
        Assert.Contains("id=\"explore-texts\"", page, StringComparison.Ordinal);
        using (Words.InEnglish())
            Assert.DoesNotContain("id=\"explore-texts\"", LivePage.Of("a").Html, StringComparison.Ordinal);
    }

    [Fact]
    public void Charts_and_panels_are_titled_and_explained_in_Chinese()
    {
        StoredRun run = approved.Run;
        using IDisposable chinese = Words.In(Language.Chinese);
        IReadOnlyList<Chart> charts = ChartCatalogue.Build(run);
        Assert.True(charts.Count > 3);
        Assert.All(charts, chart => Assert.True(HasChinese(chart.Title) && HasChinese(chart.HowToRead), chart.Title));
        Assert.DoesNotContain(RunPlot.Of(run)!.Panels, panel => panel.Title != "CPU" && !HasChinese(panel.Title));
        Assert.Equal("集合中的文档数", charts[0].X.Label);
    }

    [Theory]
    [InlineData("a", 1)]
    [InlineData("延迟 p99", 8)]
    [InlineData("，（", 4)]
    public void A_Chinese_character_is_two_columns_wide(string text, int width) => Assert.Equal(width, Words.Width(text));

    [Fact]
    public void A_table_in_Chinese_fits_and_leaves_out_what_one_in_English_does()
    {
        var table = new ReportTable("t", ["<operation", "ops/s", "p95", "failed"], [["q4", "1", "2", "3"]]);
        using IDisposable chinese = Words.In(Language.Chinese);
        Assert.Equal("t（宽度不足，省略 p95, 失败；报告中有全部列）", table.Within(23).First().Title);
        Assert.Equal("操作/s", ReportTable.Header("ops/s"));
    }

    [Fact]
    public void The_total_of_a_phase_and_what_a_server_has_left_are_told_in_Chinese()
    {
        using StoredRun run = new SweptRun { Millions = [1], Phases = ["mix"] }.Write(_runs.Path);
        Directory.CreateDirectory(Path.Combine(run.Folder, "data"));
        File.WriteAllText(Path.Combine(run.Folder, "data", "x"), "four");
        using IDisposable chinese = Words.In(Language.Chinese);
        Assert.Contains("合计", PhaseTables.Of(run).First().Rows[^1]);
        Assert.Contains("中有 4 B 的服务器数据", ServerData.Describe(run, RunFolder.Find(_runs.Path, run.Run.Id)), StringComparison.Ordinal);
    }

    [Fact]
    public void A_value_that_looks_like_a_text_is_not_translated()
    {
        string value = new("Errors {0}");
        using IDisposable chinese = Words.In(Language.Chinese);
        Assert.Equal("，耗时 Errors {0}", Words.Of($", took {value}"));
        Assert.Equal("2 个线程", Words.Counted(2, "thread"));
        Assert.Equal("unheard of", Words.Of("unheard of"));
    }

    [Theory]
    [InlineData("en", "en")]
    [InlineData("zh", "zh-CN")]
    [InlineData("zh-CN", "zh-CN")]
    public void A_language_has_a_name_and_a_tag(string name, string tag) =>
        Assert.Equal(tag, LanguageOption.Of(CommandTree.Build().Parse(["report", "a", "--lang", name])).Tag);

    [Fact]
    public void An_unknown_language_is_refused_with_those_that_there_are() =>
        Assert.Equal("--lang: 'zhh' is not valid; allowed: en, zh, zh-CN (did you mean 'zh'?)",
            CommandTree.Build().Parse(["report", "a", "--lang", "zhh"]).Errors[0].Message);

    private static IEnumerable<string> Descriptions(Command command) => command.Options.Concat<Symbol>(command.Arguments)
        .Append(command).Where(symbol => !symbol.Hidden).Select(symbol => symbol.Description).OfType<string>()
        .Concat(command.Subcommands.Where(below => !below.Hidden).SelectMany(Descriptions));

    private static IEnumerable<string> Columns(string description)
    {
        var columns = new List<string>();
        foreach (string line in description.Split('\n'))
            columns.AddRange(LastColumn().Matches(line).Select(match => match.Value));
        return columns;
    }

    /// <summary>"p99", "MB/s" and "id" are the same in every language.</summary>
    private static bool IsLanguageless(string text) => LanguageFree().IsMatch(text);

    private static bool HasChinese(string text) => text.EnumerateRunes().Any(Words.IsWide);

    private static string InChinese(Action<TextWriter> write)
    {
        using (Words.In(Language.Chinese))
            return Written(write);
    }

    private static string Written(Action<TextWriter> write)
    {
        using var output = new StringWriter(CultureInfo.InvariantCulture);
        write(output);
        return output.ToString();
    }

    [GeneratedRegex("^<[a-z][^<>{}=]*$")]
    private static partial Regex TextColumn();

    [GeneratedRegex(@"(?<=^|\s{2})\S+(\s\S+)*$")]
    private static partial Regex LastColumn();

    [GeneratedRegex(@"\{\d+\}")]
    private static partial Regex Value();

    [GeneratedRegex(@"^(p[\d.]+|[kM]B/s|id)$")]
    private static partial Regex LanguageFree();
}
