using System.Diagnostics;
using MongoPerf.Drivers;
using MongoPerf.Engine.Executors;
using MongoPerf.Input;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Drivers;

/// <summary>The official driver's executor is built once, kept for its user alone, and loaded by its interface; nothing here needs the driver.</summary>
public sealed class DriverLibraryTests : IDisposable
{
    private const string Restored = "/tmp/x/MongoPerf.OfficialDriver.csproj : error ";

    private readonly TemporaryFolder _cache = new();
    private readonly List<string> _told = [];

    public void Dispose() => _cache.Dispose();

    [Fact]
    public void It_is_built_once_and_then_found()
    {
        var builder = new FakeBuilder();
        IClientEngine engine = Library(builder).Load(CancellationToken.None);
        Assert.Equal("9.8.7", engine.Version);
        Assert.Equal(1, builder.Builds);
        Assert.Equal(2, _told.Count);
        Assert.StartsWith("building the executor of MongoDB.Driver", _told[0], StringComparison.Ordinal);
        Assert.Matches(@"^built in \d+\.\d s: ", _told[1]);

        Assert.Equal("9.8.7", Library(builder).Load(CancellationToken.None).Version);
        Assert.Equal((1, 2), (builder.Builds, _told.Count));
        // Packages from elsewhere may be others.
        Library(builder, "/another/source").Load(CancellationToken.None);
        Assert.Equal(2, builder.Builds);
    }

    [Fact]
    public void It_is_built_from_a_copy_of_the_sources_that_lie_beside_the_program()
    {
        var builder = new FakeBuilder();
        Library(builder).Load(CancellationToken.None);
        string[] sources = [.. Directory.GetFiles(Path.Combine(RepositoryPaths.Root, "src", "MongoPerf.OfficialDriver")).Select(file => Path.GetFileName(file)).Order()];
        Assert.Contains("MongoPerf.OfficialDriver.csproj", sources);
        Assert.Equal(sources, builder.Sources.Order());
        Assert.Empty(Directory.GetDirectories(_cache.Path, ".building"));
    }

    [Fact]
    public void Nothing_is_loaded_from_where_others_can_write()
    {
        var builder = new FakeBuilder();
        Library(builder).Load(CancellationToken.None);
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute, File.GetUnixFileMode(_cache.Path));
        foreach (UnixFileMode others in (UnixFileMode[])[UnixFileMode.OtherWrite, UnixFileMode.GroupWrite])
        {
            File.SetUnixFileMode(_cache.Path, File.GetUnixFileMode(_cache.Path) | others);
            UserException e = Assert.Throws<UserException>(() => Library(builder).Load(CancellationToken.None));
            Assert.Equal($"--engine driver loads nothing from {_cache.Path}: other users can write to it", e.Message);
            File.SetUnixFileMode(_cache.Path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        }
    }

    [Fact]
    public void An_assembly_that_holds_no_engine_is_refused_with_its_folder()
    {
        var builder = new FakeBuilder { Assembly = typeof(FactAttribute).Assembly.Location };
        UserException e = Assert.Throws<UserException>(() => Library(builder).Load(CancellationToken.None));
        Assert.StartsWith($"--engine driver: {_cache.Path}/", e.Message, StringComparison.Ordinal);
        Assert.Contains("can't be loaded", e.Message, StringComparison.Ordinal);
        Assert.Equal("delete that folder; the next run builds it again", e.Hint);
    }

    [Theory]
    [InlineData(
        Restored + "NU1101: Unable to find package MongoDB.Driver. No packages exist with this id in source(s): here [/tmp/x/MongoPerf.OfficialDriver.csproj]",
        "--engine driver: the package MongoDB.Driver can't be restored: Unable to find package MongoDB.Driver. No packages exist with this id in source(s): here (NU1101)",
        "MONGOPERF_DRIVER_SOURCE=FOLDER")]
    [InlineData(
        Restored + "NU1301: Unable to load the service index for source https://me:hunter2@feed.example/v3/index.json. [/tmp/x/MongoPerf.OfficialDriver.csproj]",
        "Unable to load the service index for source https://***@feed.example/v3/index.json. (NU1301)",
        "MONGOPERF_DRIVER_SOURCE=FOLDER")]
    [InlineData(
        "/tmp/x/DriverEngine.cs(3,7): error CS0246: The type or namespace name 'X' could not be found [/tmp/x/MongoPerf.OfficialDriver.csproj]",
        "--engine driver: the executor of MongoDB.Driver can't be built: The type or namespace name 'X' could not be found (CS0246)",
        "build.log has the whole output of the build")]
    [InlineData("No .NET SDKs were found.", "--engine driver builds an executor and needs the .NET 10 SDK; only the runtime is installed", "install the SDK")]
    [InlineData("Segmentation fault", "the executor of MongoDB.Driver can't be built; ", null)]
    public void A_failed_build_is_one_line_and_a_hint(string output, string message, string? hint)
    {
        UserException e = Assert.Throws<UserException>(() => Library(new FakeBuilder { Failure = output }).Load(CancellationToken.None));
        Assert.Equal(ExitCode.WrongUsage, e.Code);
        Assert.Contains(message, e.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', e.Message);
        Assert.DoesNotContain("hunter2", e.Message, StringComparison.Ordinal);
        Assert.Contains(hint ?? "", e.Hint ?? "", StringComparison.Ordinal);
        Assert.Equal(output, File.ReadAllText(_cache.At("build.log")));
        Assert.Empty(Directory.GetDirectories(_cache.Path));
    }

    [Fact]
    public void The_build_knows_this_program_and_the_source_and_nothing_of_a_build_around_it()
    {
        Environment.SetEnvironmentVariable("MSBuildExtensionsPath", "/nonexistent");
        try
        {
            ProcessStartInfo start = DotnetBuilder.StartOf("/work", "/work/out", _cache.Path);
            Assert.Equal(AppContext.BaseDirectory, start.Environment["MONGOPERF_PROGRAM"]);
            Assert.Equal(_cache.Path, start.Environment["MONGOPERF_DRIVER_SOURCE"]);
            Assert.DoesNotContain(start.Environment.Keys, name => name.StartsWith("MSBUILD", StringComparison.OrdinalIgnoreCase));
            Assert.Contains("-p:ImportDirectoryBuildProps=false", start.ArgumentList);
        }
        finally
        {
            Environment.SetEnvironmentVariable("MSBuildExtensionsPath", null);
        }
    }

    private DriverLibrary Library(IDriverBuilder builder, string? packages = null) => new(_cache.Path, packages, builder, _told.Add);

    /// <summary>Takes an assembly that is there for the one to be built.</summary>
    private sealed class FakeBuilder : IDriverBuilder
    {
        public string Assembly { get; init; } = typeof(LoadedEngine).Assembly.Location;

        public string? Failure { get; init; }

        public int Builds { get; private set; }

        public IReadOnlyList<string> Sources { get; private set; } = [];

        public DriverBuildResult Build(string project, string output, string? packages, CancellationToken stop)
        {
            Builds++;
            Sources = [.. Directory.GetFiles(project).Select(file => Path.GetFileName(file))];
            if (Failure is not null)
                return new DriverBuildResult(false, Failure);
            Directory.CreateDirectory(output);
            File.Copy(Assembly, Path.Combine(output, "MongoPerf.OfficialDriver.dll"));
            return new DriverBuildResult(true, "");
        }
    }
}
