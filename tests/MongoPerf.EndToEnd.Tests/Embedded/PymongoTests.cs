using System.Diagnostics;
using System.Security.Cryptography;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Load.Documents.GridFs;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Embedded;

/// <summary>A driver that knows nothing of this server: Debian's pymongo, which opens with OP_QUERY.</summary>
[Collection(OtherTests.Name)]
public sealed class PymongoTests
{
    [PymongoFact]
    public void A_Python_program_reads_and_writes_through_the_embedded_server()
    {
        using var server = TestServer.Start("embedded");
        string said = RunScript("pymongo_session.py", $"{server.Address.Port}");
        Assert.True(said.Contains(": done", StringComparison.Ordinal), said);
        using MongoConnection connection = server.Connect();
        Assert.Equal(993, connection.RunCommand("town", BsonDocument.Of(("count", "people"))).FindInt64("n"));
    }

    [PymongoFact]
    public void Its_GridFS_reads_the_files_that_a_scenario_uploads()
    {
        using var server = TestServer.Start("embedded");
        using var runs = new RunsFolder();
        ProgramRun.Run("run", "report-2.4.8/i9", "--uri", server.Uri, "--db", "images", "--scale", "0.003", "--set", "image=0.52MB",
            "--quiet", "--out", runs.Path).Expect(0);
        GridFsFileSet files = PlanReader.Read(
            ScenarioFile.Find("report-2.4.8/i9"),
            new PlanOverrides { Parameters = new Dictionary<string, string> { ["image"] = "0.52MB" } },
            Documents.DefaultSeed)
            .Plan.Rounds[0].Collections[1].Files!;
        string[] expected = [.. Enumerable.Range(0, 3).Select(i => $"{files.FileAt(i).Filename} {files.Length} {Sha256(files, i)}")];
        Assert.Equal(
            expected, RunScript("gridfs_read.py", $"{server.Address.Port}", "images").Split('\n', StringSplitOptions.RemoveEmptyEntries));
    }

    private static string Sha256(GridFsFileSet files, int number)
    {
        byte[] content = new byte[files.Length];
        for (int n = 0; n < files.ChunkCount; n++)
            files.Fill(number, files.FileAt(number).OffsetOfChunk(n),
                content.AsSpan((int)files.FileAt(number).OffsetOfChunk(n), files.FileAt(number).LengthOfChunk(n)));
        return Convert.ToHexStringLower(SHA256.HashData(content));
    }

    internal static string RunScript(string name, params string[] arguments)
    {
        string script = Path.Combine(RepositoryPaths.Root, "tests/MongoPerf.EndToEnd.Tests/Embedded", name);
        var start = new ProcessStartInfo(
            PymongoFactAttribute.Python, [script, .. arguments]) { RedirectStandardOutput = true, RedirectStandardError = true };
        using Process python = Process.Start(start)!;
        Task<string> errors = python.StandardError.ReadToEndAsync();
        string output = python.StandardOutput.ReadToEnd();
        python.WaitForExit();
        return output + errors.Result;
    }
}
