using System.Diagnostics;
using MongoPerf.Scenarios;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Files;

namespace MongoPerf.Tests.Wire;

/// <summary>A file that a user names may be a pipe, at whose other end there is somebody, nobody, or nobody any more.</summary>
public sealed class NamedFileTests : IDisposable
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(200);

    private readonly TemporaryFolder _folder = new();
    private readonly string _pipe;

    public NamedFileTests()
    {
        _pipe = _folder.At("pipe");
        using Process made = Process.Start("mkfifo", _pipe);
        made.WaitForExit();
    }

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Nobody_is_waited_for_without_end()
    {
        using Stream stream = NamedFile.Open(_pipe, Short, Long);
        Assert.Equal($"{_pipe} is a pipe, and nobody writes to it", Assert.Throws<TimeoutException>(() => stream.ReadByte()).Message);
    }

    [Fact]
    public void Somebody_who_writes_nothing_is_not_waited_for_without_end()
    {
        using Stream stream = NamedFile.Open(_pipe, Long, Short);
        using FileStream writer = File.OpenWrite(_pipe);
        Assert.Equal(
            $"{_pipe} is a pipe, and nothing came from it for 0.2 s", Assert.Throws<TimeoutException>(() => stream.ReadByte()).Message);
    }

    [Fact]
    public async Task What_comes_late_and_in_pieces_is_read_to_its_end()
    {
        using var reader = new StreamReader(NamedFile.Open(_pipe, Long, Long));
        char[] first = new char["first ".Length];
        Task<int> begun = Task.Run(() => reader.ReadBlock(first));
        Task<string> rest;
        await using (var writer = new StreamWriter(_pipe))
        {
            await writer.WriteAsync("first ");
            await writer.FlushAsync();
            Assert.Equal((first.Length, "first "), (await begun, new string(first)));
            rest = Task.Run(reader.ReadToEnd);
            await writer.WriteAsync(new string('x', 200_000));
        }

        Assert.Equal(200_000, (await rest).Length);
    }

    [Fact]
    public void A_file_is_read_as_ever_and_what_is_missing_is_missing()
    {
        File.WriteAllText(_folder.At("file"), "text");
        Assert.Equal("text", NamedFile.ReadText(_folder.At("file")));
        Assert.Throws<FileNotFoundException>(() => NamedFile.ReadText(_folder.At("none")));
        Assert.Throws<UnauthorizedAccessException>(() => NamedFile.ReadText(_folder.Path));
    }

    [Fact]
    public async Task A_scenario_may_come_from_a_pipe()
    {
        Task<ScenarioFile> found = Task.Run(() => ScenarioFile.Find(_pipe));
        await File.WriteAllTextAsync(_pipe, "phases: []");
        Assert.Equal("phases: []", (await found).Text);
    }
}
