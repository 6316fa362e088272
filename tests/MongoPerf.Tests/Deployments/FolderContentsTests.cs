using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Deployments;

/// <summary>What a server's folder holds, and what its log says in the end.</summary>
public sealed class FolderContentsTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Files_of_the_journal_are_told_from_the_others_and_links_are_none_of_it()
    {
        string data = _folder.At("data");
        Assert.Null(DataFolderSize.Read(data));
        Write("data/collection.wt", 100);
        Write("data/deep/er/index.wt", 20);
        Assert.Equal(new DiskUse(120, null), DataFolderSize.Read(data));
        Write("data/journal/1", 3);
        Write("data/journal/2", 4);
        Write("data/journal/deep/no journal's", 1000);
        Write("outside", 5000);
        File.CreateSymbolicLink(Path.Combine(data, "link"), _folder.At("outside"));
        Assert.Equal(new DiskUse(1127, 7), DataFolderSize.Read(data));
        Assert.Equal(1127, DataFolderSize.ReadBytes(data));
    }

    [Theory]
    [InlineData("", "  (the log is empty)")]
    [InlineData("one\ntwo\nthree\nfour\n", "  two\n  three\n  four")]
    [InlineData("one\nError: A\ntwo\nError: B\nError: A\nthree", "  Error: A\n  Error: B")]
    [InlineData("error 1\nerror 2\nerror 3\nerror 4", "  error 2\n  error 3\n  error 4")]
    [InlineData("""{"s":"F","msg":"Fatal","attr":{"reason":"no room"}}""", "  Fatal: no room")]
    [InlineData("""{"s":"E","msg":"Failed","attr":{"message":"m","reason":"r"}}""", "  Failed: m")]
    [InlineData("""{"s":"I","msg":"Begins","attr":{"port":5,"ssl":"off"}}""", "  Begins: port 5, ssl off")]
    [InlineData("""{"s":"I","msg":"Begins"}""", "  Begins")]
    [InlineData("""{"s":"I","msg":"Says","attr":"text"}""", "  Says: text")]
    [InlineData("""{"s":"I"}""", """  {"s":"I"}""")]
    [InlineData("{broken", "  {broken")]
    public void The_last_errors_of_a_log_are_shown_or_else_its_last_lines(string log, string shown)
    {
        File.WriteAllText(_folder.At("log"), log);
        Assert.Equal(shown, LogTail.Describe(3, _folder.At("log"), _folder.At("none")));
    }

    [Fact]
    public void Of_a_long_log_only_the_end_is_read_and_long_words_are_cut()
    {
        File.WriteAllText(_folder.At("log"), "Error: long ago\n" + string.Concat(Enumerable.Repeat("nothing\n", 9000)) + "the end");
        Assert.Equal("  nothing\n  the end", LogTail.Describe(2, _folder.At("log")));
        string words = new('x', 301);
        Assert.Equal((true, $"m: {words[..300]}…"), LogTail.Explain(Line(words)));
        Assert.Equal((true, $"m: {words[..300]}"), LogTail.Explain(Line(words[..300])));

        static string Line(string error) => "{'s':'E','msg':'m','attr':{'error':'".Replace('\'', '"') + error + "\"}}";
    }

    private void Write(string name, int length)
    {
        string path = _folder.At(name);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllBytes(path, new byte[length]);
    }
}
