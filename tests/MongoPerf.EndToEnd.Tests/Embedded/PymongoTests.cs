using System.Diagnostics;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Embedded;

/// <summary>A driver that knows nothing of this server: Debian's pymongo, which opens with OP_QUERY.</summary>
[Collection(LightTests.Name)]
public sealed class PymongoTests
{
    [PymongoFact]
    public void A_Python_program_reads_and_writes_through_the_embedded_server()
    {
        using var server = TestServer.Start("embedded");
        string said = RunScript(server);
        Assert.True(said.Contains(": done", StringComparison.Ordinal), said);
        using MongoConnection connection = server.Connect();
        Assert.Equal(993, connection.RunCommand("town", BsonDocument.Of(("count", "people"))).FindInt64("n"));
    }

    private static string RunScript(TestServer server)
    {
        string script = Path.Combine(RepositoryPaths.Root, "tests/MongoPerf.EndToEnd.Tests/Embedded/pymongo_session.py");
        var start = new ProcessStartInfo(PymongoFactAttribute.Python, [script, $"{server.Address.Port}"]) { RedirectStandardOutput = true, RedirectStandardError = true };
        using Process python = Process.Start(start)!;
        Task<string> errors = python.StandardError.ReadToEndAsync();
        string output = python.StandardOutput.ReadToEnd();
        python.WaitForExit();
        return output + errors.Result;
    }
}
