using MongoPerf.Commands;
using MongoPerf.Deployments;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Commands;

/// <summary>What the programs of <c>--mongod A,B</c> are called.</summary>
public sealed class MongodListTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Versions_name_them_where_they_differ_and_otherwise_what_was_typed()
    {
        string[] typed = [Program("a", "7.0.1"), Program("b", "8.0.4"), Program("c", "7.0.1")];
        Assert.Equal([typed[0], "mongod 8.0.4", typed[2]], DeploymentText.Mongods(typed));
        Assert.Equal(["mongod 7.0.1", "mongod 8.0.4"], DeploymentText.Mongods(typed[..2]));
    }

    [Fact]
    public void One_alone_is_not_even_asked() => Assert.Equal(["/nosuch"], DeploymentText.Mongods(["/nosuch"]));

    [Fact]
    public void One_that_is_not_there_is_refused_before_any_run() =>
        Assert.Contains("/nosuch does not exist",
            Assert.Throws<DeploymentException>(() => DeploymentText.Mongods([Program("a", "7.0.1"), "/nosuch"])).Message,
            StringComparison.Ordinal);

    private string Program(string name, string version)
    {
        string path = _folder.At(name);
        File.WriteAllText(path, $"#!/bin/sh\necho db version v{version}\n");
        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        return path;
    }
}
