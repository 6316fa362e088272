using System.Diagnostics;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Files;

namespace MongoPerf.Tests.Wire;

/// <summary>A file that is replaced is the former one or the new one, whoever reads, writes or fails meanwhile.</summary>
public sealed class WholeFileTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private string File1 => _folder.At("result.json");

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Readers_and_several_writers_at_once_find_whole_files()
    {
        const int Writers = 4;
        const int Times = 200;
        Write(File1, 'z');
        using var ready = new Barrier(Writers);
        Task[] writers = [.. Enumerable.Range(0, Writers).Select(writer => Task.Run(() =>
        {
            ready.SignalAndWait();
            for (int i = 0; i < Times; i++)
                Write(File1, (char)('a' + writer));
        }))];
        var all = Task.WhenAll(writers);
        do
        {
            string text = File.ReadAllText(File1);
            Assert.Equal(50_000, text.Length);
            Assert.True(text.All(c => c == text[0]), "two texts in one");
        }
        while (!all.IsCompleted);

        await all;
        Assert.Equal([File1], Directory.GetFileSystemEntries(_folder.Path));
    }

    [Fact]
    public void A_failed_writer_leaves_the_former_file_and_nothing_else()
    {
        Write(File1, 'a');
        Assert.Throws<InvalidOperationException>(() => WholeFile.Replace(File1, file =>
        {
            file.Write("half"u8);
            throw new InvalidOperationException();
        }));
        Assert.Equal('a', File.ReadAllText(File1)[0]);
        Assert.Equal([File1], Directory.GetFileSystemEntries(_folder.Path));
    }

    [Fact]
    public void A_link_is_replaced_and_not_followed()
    {
        File.WriteAllText(_folder.At("precious"), "precious");
        File.CreateSymbolicLink(File1, _folder.At("precious"));
        Write(File1, 'a');
        Assert.Null(new FileInfo(File1).LinkTarget);
        Assert.Equal("precious", File.ReadAllText(_folder.At("precious")));
    }

    [Fact]
    public async Task A_pipe_is_replaced_and_not_waited_at()
    {
        await Process.Start("mkfifo", File1).WaitForExitAsync();
        await Task.Run(() => Write(File1, 'a')).WaitAsync(TimeSpan.FromMinutes(2));
        Assert.Equal('a', File.ReadAllText(File1)[0]);
    }

    [Fact]
    public void A_folder_is_not_replaced()
    {
        Directory.CreateDirectory(File1);
        Assert.ThrowsAny<Exception>(() => Write(File1, 'a'));
        Assert.Equal([File1], Directory.GetFileSystemEntries(_folder.Path));
    }

    [Fact]
    public void A_private_file_is_its_owners_alone()
    {
        WholeFile.Replace(File1, file => file.Write("a"u8), isPrivate: true);
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(File1));
    }

    [Fact]
    public void A_name_may_be_as_long_as_the_system_allows()
    {
        string file = _folder.At(new string('n', 255));
        Write(file, 'a');
        Assert.True(File.Exists(file));
    }

    [Fact]
    public void What_killed_writers_left_goes_and_what_others_are_writing_stays()
    {
        string old = _folder.At("mongoperf-00112233445566ff.new"), fresh = _folder.At("mongoperf-00112233445566aa.new");
        string[] others = [_folder.At("mongoperf-notes.new"), _folder.At("mongoperf-00112233445566ff.newer"), File1];
        foreach (string file in (string[])[old, fresh, .. others])
            File.WriteAllText(file, "");
        foreach (string file in (string[])[old, .. others])
            File.SetLastWriteTimeUtc(file, DateTime.UtcNow.AddDays(-1));
        WholeFile.RemoveLeftovers(_folder.Path);
        Assert.Equal([.. ((string[])[fresh, .. others]).Order()], Directory.GetFiles(_folder.Path).Order());
        WholeFile.RemoveLeftovers(_folder.Path, all: true);
        Assert.Equal(others.Order(), Directory.GetFiles(_folder.Path).Order());
    }

    private static void Write(string file, char what) => WholeFile.Replace(file, output =>
    {
        // In pieces: a reader would find some of them.
        for (int i = 0; i < 10; i++)
            output.Write([.. Enumerable.Repeat((byte)what, 5000)]);
    });
}
