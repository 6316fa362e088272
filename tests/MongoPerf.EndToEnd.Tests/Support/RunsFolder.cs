using MongoPerf.Storage;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>A folder of runs (<c>--out</c>) that is gone after the test, with every server that a killed run left in it.</summary>
internal sealed class RunsFolder : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("mongoperf-runs-").FullName;

    /// <summary>Ids of the runs in it.</summary>
    public IReadOnlyList<string> Ids => [.. Directory.GetDirectories(Path).Select(folder => System.IO.Path.GetFileName(folder))
        .Where(name => name[0] != '.' && !name.StartsWith(RunCatalogue.ComparisonPrefix, StringComparison.Ordinal)).Order()];

    /// <summary>Of the only run in it.</summary>
    public string Id => Assert.Single(Ids);

    public string RunPath => At(Id);

    public string DataPath => At(Id, "data");

    public string At(params string[] names) => System.IO.Path.Combine([Path, .. names]);

    /// <summary>Writes a plot for <c>--plots</c>.</summary>
    /// <returns>Its folder, which holds all of this test's.</returns>
    public string AddPlot(string name, string text)
    {
        string folder = Directory.CreateDirectory(At(".plots")).FullName;
        File.WriteAllText(System.IO.Path.Combine(folder, name + ".yaml"), text);
        return folder;
    }

    /// <returns>Null while the run has no run.db yet.</returns>
    public StoredRun? FindStored()
    {
        if (Ids is not [var id])
            return null;
        try
        {
            return StoredRun.Open(At(id));
        }
        catch (RunStoreException)
        {
            return null;
        }
    }

    /// <summary>Something of the only run.</summary>
    /// <returns>Default while the run has no run.db yet.</returns>
    public T? Find<T>(Func<StoredRun, T?> part)
    {
        using StoredRun? run = FindStored();
        return run is null ? default : part(run);
    }

    public void Dispose()
    {
        foreach (string id in Ids)
            LeftOver.End(At(id, "data"));
        for (int attempt = 1; ; attempt++)
        {
            try
            {
                Directory.Delete(Path, recursive: true);
                return;
            }
            catch (IOException) when (attempt < 50)
            {
                // An embedded server whose parent was killed is still closing its files.
                Thread.Sleep(100);
            }
        }
    }
}
