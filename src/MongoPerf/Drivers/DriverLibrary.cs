using System.Diagnostics;
using System.Reflection;
using System.Security.Cryptography;
using System.Text;
using MongoPerf.Deployments.Installing;
using MongoPerf.Engine.Executors;
using MongoPerf.Input;

namespace MongoPerf.Drivers;

/// <summary>The executor over MongoDB.Driver: built when a run first asks for it, then kept in the user's cache.</summary>
/// <remarks>
/// Its packages do not restore everywhere, so MongoPerf comes without it. What is loaded was built by this program, for this very build of
/// it, into a folder that only this user can write to. Several processes may ask at once: one builds, the others wait.
/// </remarks>
internal sealed class DriverLibrary
{
    /// <summary>Names a folder or a feed with the driver's packages, beside the sources that NuGet is set up with.</summary>
    public const string SourceVariable = "MONGOPERF_DRIVER_SOURCE";

    private const string AssemblyFile = "MongoPerf.OfficialDriver.dll";
    private const UnixFileMode OthersWrite = UnixFileMode.GroupWrite | UnixFileMode.OtherWrite;
    private const UnixFileMode OnlyMine = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;

    private static readonly TimeSpan KeptUnused = TimeSpan.FromDays(30);

    private readonly string _cache;
    private readonly string? _packages;
    private readonly IDriverBuilder _builder;
    private readonly Action<string> _tell;

    /// <param name="cache">Full path; made when it is not there.</param>
    /// <param name="packages">Value of <see cref="SourceVariable"/>; null when it is not set.</param>
    /// <param name="builder">Builds it.</param>
    /// <param name="tell">Hears what takes time, a line each.</param>
    public DriverLibrary(string cache, string? packages, IDriverBuilder builder, Action<string> tell)
    {
        _cache = cache;
        _packages = packages;
        _builder = builder;
        _tell = tell;
    }

    /// <summary>Its sources, copied beside the program.</summary>
    public static string SourceFolder => Path.Combine(AppContext.BaseDirectory, "official-driver");

    /// <exception cref="UserException">Not even HOME says where the user's files are.</exception>
    public static DriverLibrary OfUser()
    {
        string cache = UserCache.Find(Environment.GetEnvironmentVariable)
            ?? throw new UserException(ExitCode.WrongUsage, "--engine driver has nowhere to build MongoDB.Driver's executor: neither XDG_CACHE_HOME nor HOME is set", "set XDG_CACHE_HOME to a folder");
        string? packages = Environment.GetEnvironmentVariable(SourceVariable) is { Length: > 0 } source ? source : null;
        return new DriverLibrary(Path.Combine(cache, "drivers"), packages, new DotnetBuilder(), Console.Error.WriteLine);
    }

    /// <summary>Builds it unless that was done before, and loads it.</summary>
    /// <exception cref="UserException">It can't be built, or what is there can't be loaded. One line, and a hint.</exception>
    public IClientEngine Load(CancellationToken stop)
    {
        MakePrivate();
        string folder = Path.Combine(_cache, Key());
        if (!Directory.Exists(folder))
            Build(folder, stop);
        try
        {
            Directory.SetLastWriteTimeUtc(folder, DateTime.UtcNow);
            return Open(Path.Combine(folder, AssemblyFile));
        }
        catch (Exception e) when (e is IOException or BadImageFormatException or TypeLoadException or ReflectionTypeLoadException or MissingMemberException or InvalidOperationException)
        {
            throw new UserException(ExitCode.WrongUsage, $"--engine driver: {folder} can't be loaded: {e.Message}", "delete that folder; the next run builds it again");
        }
    }

    /// <summary>What others could write to may hold what they put there; and only a folder's owner can set its mode, so that another's is refused.</summary>
    private void MakePrivate()
    {
        try
        {
            if (OperatingSystem.IsWindows())
                return;
            if (!Directory.Exists(_cache))
                Directory.CreateDirectory(_cache, OnlyMine);
            if ((File.GetUnixFileMode(_cache) & OthersWrite) != 0)
                throw new UserException(ExitCode.WrongUsage, $"--engine driver loads nothing from {_cache}: other users can write to it", "delete that folder; the next run makes it anew");
            File.SetUnixFileMode(_cache, OnlyMine);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new UserException(ExitCode.WrongUsage, $"--engine driver can't use {_cache}: {e.Message}", "it must be a folder of yours; XDG_CACHE_HOME chooses another");
        }
    }

    /// <summary>Changes with whatever the assembly is made of: its sources, the assemblies that it is compiled against, where its packages come from.</summary>
    private string Key()
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        foreach (string file in Directory.EnumerateFiles(SourceFolder).Order(StringComparer.Ordinal))
            hash.AppendData([.. Encoding.UTF8.GetBytes(Path.GetFileName(file)), 0, .. File.ReadAllBytes(file)]);
        foreach (Assembly assembly in (Assembly[])[typeof(IClientEngine).Assembly, typeof(Wire.Bson.BsonWriter).Assembly])
            hash.AppendData(assembly.ManifestModule.ModuleVersionId.ToByteArray());
        hash.AppendData(Encoding.UTF8.GetBytes(_packages ?? ""));
        return Convert.ToHexStringLower(hash.GetHashAndReset().AsSpan(0, 8));
    }

    private void Build(string folder, CancellationToken stop)
    {
        using IDisposable only = FolderLock.Take(_cache, () => _tell("waiting for another mongoperf that builds the executor of MongoDB.Driver"), stop);
        if (Directory.Exists(folder))
            return;
        string work = Path.Combine(_cache, ".building");
        DeleteIfThere(work);
        try
        {
            _tell("building the executor of MongoDB.Driver, once for this build of MongoPerf; this takes up to a minute");
            var watch = Stopwatch.StartNew();
            CopySources(work);
            string built = Path.Combine(work, "out");
            DriverBuildResult result = _builder.Build(work, built, _packages, stop);
            if (!result.Succeeded)
                throw DriverBuildError.Explain(result.Output, KeepLog(result.Output));
            // All of it is there before it is found under its name.
            Directory.Move(built, folder);
            _tell($"built in {watch.Elapsed.TotalSeconds:0.0} s: {folder}");
            DropUnused();
        }
        finally
        {
            DeleteIfThere(work);
        }
    }

    private static void CopySources(string work)
    {
        Directory.CreateDirectory(work);
        foreach (string file in Directory.EnumerateFiles(SourceFolder))
            File.Copy(file, Path.Combine(work, Path.GetFileName(file)));
    }

    private string KeepLog(string output)
    {
        string log = Path.Combine(_cache, "build.log");
        File.WriteAllText(log, output);
        return log;
    }

    /// <summary>Each new build of MongoPerf needs another one; those that nobody has used for long only take room.</summary>
    private void DropUnused()
    {
        foreach (string old in Directory.EnumerateDirectories(_cache).Where(d => DateTime.UtcNow - Directory.GetLastWriteTimeUtc(d) > KeptUnused))
            Directory.Delete(old, recursive: true);
    }

    private static IClientEngine Open(string path)
    {
        Assembly assembly = new DriverLoadContext(path).LoadFromAssemblyPath(path);
        Type engine = assembly.GetExportedTypes().Single(type => type.IsClass && !type.IsAbstract && typeof(IClientEngine).IsAssignableFrom(type));
        return (IClientEngine)Activator.CreateInstance(engine)!;
    }

    private static void DeleteIfThere(string folder)
    {
        if (Directory.Exists(folder))
            Directory.Delete(folder, recursive: true);
    }
}
