using System.Reflection;
using System.Runtime.Loader;

namespace MongoPerf.Drivers;

/// <summary>Finds what the executor needs: the driver and its packages beside it, MongoPerf and the runtime where this program has them.</summary>
/// <param name="path">Of the assembly; its .deps.json says what lies beside it.</param>
internal sealed class DriverLoadContext(string path) : AssemblyLoadContext("official driver")
{
    private readonly AssemblyDependencyResolver _resolver = new(path);

    /// <returns>Null for what the program itself has: types must be the same on both sides.</returns>
    protected override Assembly? Load(AssemblyName assemblyName) =>
        _resolver.ResolveAssemblyToPath(assemblyName) is { } found ? LoadFromAssemblyPath(found) : null;

    protected override nint LoadUnmanagedDll(string unmanagedDllName) =>
        _resolver.ResolveUnmanagedDllToPath(unmanagedDllName) is { } found ? LoadUnmanagedDllFromPath(found) : 0;
}
