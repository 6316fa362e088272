using System.Diagnostics;
using System.Security.Cryptography;
using System.Text.RegularExpressions;
using MongoPerf.Commands;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Installing;
using MongoPerf.Platforms;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Platforms;

/// <summary>What is Linux's stays in one project, and what other systems do instead.</summary>
public sealed partial class PlatformTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    /// <summary>Before StartConditions has looked, no further library may be loaded.</summary>
    [Fact]
    public void Functions_of_libc_are_imported_by_one_project_alone() => Assert.Equal(
        ["StartConditions.cs"],
        from path in RepositoryPaths.SourcesIn("src")
        where !path.Contains("MongoPerf.Platforms", StringComparison.Ordinal) && Import().IsMatch(File.ReadAllText(path))
        select Path.GetFileName(path));

    [Fact]
    public void Every_function_of_libc_is_declared_for_the_systems_that_have_it() => Assert.Empty(
        from path in RepositoryPaths.SourcesIn("src")
        let text = File.ReadAllText(path)
        where !Declared().IsMatch(text)
        from Match import in Import().Matches(text)
        where !import.Groups[1].Value.Contains("OSPlatform(", StringComparison.Ordinal)
        select $"{path}: {import.Value}");

    [Fact]
    public void A_process_is_known_by_its_start_on_other_systems_too()
    {
        long start = ProcessStart.AskDotNet(Environment.ProcessId)!.Value;
        Assert.InRange(new DateTime(start, DateTimeKind.Utc), DateTime.UtcNow.AddDays(-1), DateTime.UtcNow);
        using var child = Process.Start("/bin/true");
        child.WaitForExit();
        Assert.Null(ProcessStart.AskDotNet(child.Id));
        Assert.Null(ProcessStart.AskDotNet(int.MaxValue));
    }

    [Fact]
    public void A_folder_has_one_maker()
    {
        Assert.All<Func<string, bool>>([SystemCalls.TryMakeFolder, SystemCalls.TryMoveThere], make =>
        {
            string path = _folder.At(Guid.NewGuid().ToString());
            Assert.True(make(path));
            Assert.False(make(path));
            Assert.ThrowsAny<IOException>(() => make(Path.Combine(path, "none", "below")));
        });
        Assert.DoesNotContain(Directory.EnumerateFileSystemEntries(_folder.Path), entry => Path.GetFileName(entry).StartsWith('.'));
    }

    [Fact]
    public void Hashes_are_those_of_dotnet()
    {
        var random = new Random(42);
        for (int length = 0; length < 300; length++)
        {
            byte[] data = new byte[length];
            random.NextBytes(data);
            Assert.Equal(SHA256.HashData(data), Sha256.Hash(data));
        }

        Assert.Equal("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", Sha256.Hex("hello"));
    }

    [Fact]
    public void Random_bytes_are_all_drawn()
    {
        byte[][] drawn = [.. Enumerable.Range(0, 40).Select(_ => SystemRandom.GetBytes(1000))];
        Assert.All(Enumerable.Range(0, 1000), at => Assert.Contains(drawn, bytes => bytes[at] != 0));
        Assert.Empty(SystemRandom.GetBytes(0));
    }

    [Theory]
    [InlineData("Max open files            unlimited            unlimited            files     ", long.MaxValue)]
    [InlineData("Max open files            256                  1024                 files     ", 256L)]
    [InlineData("Max processes             256                  1024                 processes ", null)]
    public void Limit_of_handles_is_the_soft_one(string line, long? expected) =>
        Assert.Equal(expected, ProcessLimit.Parse($"Limit  Soft Limit  Hard Limit  Units\n{line}\n", ProcessLimit.Handles));

    [Fact]
    public void An_installed_program_starts_itself_again_and_one_that_was_built_its_library()
    {
        Assert.Equal(["/home/u/.dotnet/tools/mongoperf"], ThisProgram.Find("/home/u/.dotnet/tools/mongoperf"));
        Assert.Equal(["/opt/mongoperf/mongoperf.exe"], ThisProgram.Find("/opt/mongoperf/mongoperf.exe"));
        Assert.EndsWith("mongoperf.dll", ThisProgram.Find("/usr/share/dotnet/dotnet")[1], StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true, "series", "--target", "1M")]
    [InlineData(true, "serve")]
    [InlineData(true, "--lang", "zh", "run", "ycsb/a")]
    [InlineData(true, "--lang=zh", "run", "ycsb/a")]
    [InlineData(false, "--lang", "run", "report", "2026-11-27-a")]
    [InlineData(false, "series", "--help")]
    [InlineData(false, "list", "runs")]
    [InlineData(false)]
    public void What_measures_is_compiled_fully(bool isNeeded, params string[] args) => Assert.Equal(isNeeded, FullCompilation.IsFor(args));

    [Theory]
    [InlineData("XDG_CACHE_HOME=/x HOME=/h LOCALAPPDATA=/l", "/x/mongoperf")]
    [InlineData("HOME=/h LOCALAPPDATA=/l", "/h/.cache/mongoperf")]
    [InlineData("LOCALAPPDATA=/l", "/l/mongoperf")]
    [InlineData("", null)]
    public void What_can_be_had_again_is_kept_where_the_system_keeps_such_files(string environment, string? expected)
    {
        Dictionary<string, string> variables = environment.Split(' ', StringSplitOptions.RemoveEmptyEntries)
            .Select(pair => pair.Split('=')).ToDictionary(pair => pair[0], pair => pair[1]);
        Assert.Equal(expected, UserCache.Find(variables.GetValueOrDefault));
    }

    [GeneratedRegex("""((?:\[[^\n]*\]\s+)*)\[LibraryImport\("libc"[^\n]*""")]
    private static partial Regex Import();

    /// <summary>The whole class is.</summary>
    [GeneratedRegex("""\[SupportedOSPlatform\("linux"\)\]\s+(public|internal) [\w ]*class""")]
    private static partial Regex Declared();
}
