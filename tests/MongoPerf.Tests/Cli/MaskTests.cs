using MongoPerf.Cli;

namespace MongoPerf.Tests.Cli;

/// <summary>A command line is stored and shown with the run: no secret may be in it.</summary>
public sealed class MaskTests
{
    [Theory]
    [InlineData("mongodb://user:hunter2@host/db", "mongodb://user:***@host/db")]
    [InlineData("mongodb+srv://user:hunter2@host", "mongodb+srv://user:***@host")]
    [InlineData("--uri=mongodb://user:hunter2@h1,h2:27018/?w=1", "--uri=mongodb://user:***@h1,h2:27018/?w=1")]
    [InlineData("mongodb://user:hunt@er2@host", "mongodb://user:***@host")]
    [InlineData("user:hunter2@host:27017", "user:***@host:27017")]
    [InlineData("mongodb://user:@host", "mongodb://user:***@host")]
    [InlineData("mongodb://host/?tlsCertificateKeyFilePassword=hunter2&tls=true", "mongodb://host/?tlsCertificateKeyFilePassword=***&tls=true")]
    [InlineData("mongodb://host/?authMechanismProperties=AWS_SESSION_TOKEN:hunter2", "mongodb://host/?authMechanismProperties=***")]
    public void Passwords_are_masked(string argument, string masked) => Assert.Equal($"mongoperf series {masked}", CommandLine.Mask(["series", argument]));

    [Theory]
    [InlineData("mongodb://host:27017/db")]
    [InlineData("mongodb://user@host")]
    [InlineData("mongodb://host:27017/?appName=a@b")]
    [InlineData("--shares=10/85/5")]
    [InlineData("localhost:27017")]
    public void The_rest_is_left_as_typed(string argument) => Assert.Equal($"mongoperf run q4 {argument}", CommandLine.Mask(["run", "q4", argument]));

    [Fact]
    public void Arguments_with_blanks_are_quoted() => Assert.Equal("mongoperf clean 'my runs'", CommandLine.Mask(["clean", "my runs"]));
}
