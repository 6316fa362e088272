using System.Diagnostics;
using System.Text.Json;
using MongoPerf.Deployments;
using MongoPerf.EndToEnd.Tests.Support;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>scripts/compare-in-turns, which the GitHub action runs, on embedded servers and with a gh that only takes notes.</summary>
[Collection(LightTests.Name)]
public sealed class CompareInTurnsTests : IDisposable
{
    private readonly RunsFolder _folder = new();

    public CompareInTurnsTests()
    {
        Directory.CreateDirectory(_folder.At("bin"));
        Program("mongoperf", $"exec '{string.Join("' '", ThisProgram.Command)}' \"$@\"");
        // It knows no comment before the first is posted.
        Program("gh", $"echo \"$*\" >> {_folder.At("calls")}; case \"$*\" in *paginate*) cat {_folder.At("known")} 2>/dev/null || :;; "
            + $"*) cat > {_folder.At("body")};; esac");
    }

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Base_and_candidate_take_turns_and_the_table_becomes_the_only_comment()
    {
        Need.Jq.SkipUnless(InPath("jq"));
        // Lists of runs end with folders that hold none.
        Directory.CreateDirectory(_folder.At("runs", "no-run"));
        (int code, string output, string errors) = Run(
            ("BASE", "embedded"), ("CANDIDATE", "embedded"), ("SCENARIO", "q4"), ("REPEAT", "3"),
            ("COMPARE", "--force --noise-threshold 99%"),
            ("ARGUMENTS", "--records 500 --duration 500ms --warmup 100ms --threads 1 --rate 200 --max-skipped 100%"),
            ("PULL_REQUEST", "17"), ("NAME", "q4"), ("GITHUB_REPOSITORY", "o/r"), ("GITHUB_STEP_SUMMARY", _folder.At("summary")));
        Assert.True(code == 0, $"exit code {code}\n{output}\n{errors}");
        Assert.StartsWith("<!-- mongoperf compare-in-turns q4 -->\n# MongoPerf: ", output, StringComparison.Ordinal);
        Assert.Contains("| q4 |", output, StringComparison.Ordinal);
        Assert.Equal(output, File.ReadAllText(_folder.At("summary")));
        using JsonDocument body = JsonDocument.Parse(File.ReadAllText(_folder.At("body")));
        Assert.Equal(output, body.RootElement.GetProperty("body").GetString());
        Assert.Contains("--method POST repos/o/r/issues/17/comments", File.ReadAllText(_folder.At("calls")), StringComparison.Ordinal);
        // B C, C B, B C: each with its own server's address.
        string[] runs = [.. Directory.GetDirectories(_folder.At("runs")).Where(one => File.Exists(Path.Combine(one, "run.db")))];
        Assert.Equal(6, runs.Length);
        string[] ids = [.. runs.Select(one => Path.GetFileName(one)).Order(StringComparer.Ordinal)];
        Assert.True(Directory.Exists(_folder.At("runs", $"compare-{ids[0]}-{ids[1]}")), errors);
    }

    [Theory]
    [InlineData("", "embedded", "5", "BASE and CANDIDATE name what is compared")]
    [InlineData("embedded", "embedded", "2", "REPEAT is '2'; deployments are compared run by run from 3 runs on")]
    [InlineData("/no/\n::error::mongod", "embedded", "3",
        "base: '/no/?::error::mongod' is neither a connection string, a version, a mongod that can be run, nor embedded")]
    [InlineData("/no/mongod", "embedded", "3",
        "base: '/no/mongod' is neither a connection string, a version, a mongod that can be run, nor embedded")]
    public void What_can_not_be_compared_is_told(string @base, string candidate, string repeat, string says)
    {
        (int code, _, string errors) = Run(("BASE", @base), ("CANDIDATE", candidate), ("REPEAT", repeat));
        Assert.Equal(2, code);
        Assert.Contains(says, errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("8.0.1", "8.0.1", "/cache of mine/8.0.1/bin/mongod")]
    [InlineData("8.0", "8.0", "/cache of mine/8.0.12/bin/mongod")]
    [InlineData("8", "8", "/cache of mine/8.0.12/bin/mongod")]
    public void A_version_is_the_newest_of_its_series_that_is_installed(string @base, string candidate, string path)
    {
        Program("mongoperf", """
            printf '%s\n' '   version  mongod                           mongos' \
              '*  8.0.12   /cache of mine/8.0.12/bin/mongod  -' '   8.0.1    /cache of mine/8.0.1/bin/mongod   -'
            """);
        (int code, _, string errors) = Run(("BASE", @base), ("CANDIDATE", candidate), ("REPEAT", "3"));
        Assert.Equal(2, code);
        Assert.Contains(path, errors, StringComparison.Ordinal);
    }

    [Fact]
    public void A_name_can_not_end_the_mark_of_its_comment()
    {
        (int code, _, string errors) = Run(("BASE", "embedded"), ("CANDIDATE", "embedded"), ("REPEAT", "3"), ("NAME", "a --> b"));
        Assert.Equal(2, code);
        Assert.Contains("NAME is 'a --> b'; allowed: letters, digits, '.', '_' and '-'", errors, StringComparison.Ordinal);
    }

    [Fact]
    public void A_run_that_fails_ends_it_with_its_own_code()
    {
        (int code, _, string errors) = Run(
            ("BASE", "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100"), ("CANDIDATE", "mongodb://127.0.0.1:2"), ("REPEAT", "3"));
        Assert.Equal(3, code);
        Assert.Contains("error: ", errors, StringComparison.Ordinal);
    }

    private static bool InPath(string program) => (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator)
        .Any(folder => File.Exists(Path.Combine(folder, program)));

    private void Program(string name, string script)
    {
        string path = _folder.At($"bin/{name}");
        File.WriteAllText(path, $"#!/bin/sh\n{script}\n");
        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
    }

    private (int Code, string Output, string Errors) Run(params (string Name, string Value)[] settings)
    {
        ProgramHere.Prepare();
        var start = new ProcessStartInfo(Path.Combine(RepositoryPaths.Root, "scripts", "compare-in-turns"))
        {
            RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = _folder.At("bin"),
        };
        start.Environment["PATH"] = $"{_folder.At("bin")}:{Environment.GetEnvironmentVariable("PATH")}";
        start.Environment["MONGOPERF"] = _folder.At("bin/mongoperf");
        start.Environment["OUT"] = _folder.At("runs");
        foreach ((string name, string value) in settings)
            start.Environment[name] = value;
        using Process process = Process.Start(start)!;
        Task<string> errors = process.StandardError.ReadToEndAsync();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return (process.ExitCode, output, errors.Result);
    }
}
