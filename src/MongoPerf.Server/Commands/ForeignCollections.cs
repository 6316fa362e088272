using MongoPerf.Server.Storage;

namespace MongoPerf.Server.Commands;

/// <summary>The other collections that a pipeline reads: which they are, and during a command the collections themselves.</summary>
/// <remarks>
/// They are locked together with the pipeline's own collection and in order of their names, as by renaming: nobody waits in a circle. One
/// thread at a time.
/// </remarks>
internal sealed class ForeignCollections
{
    private readonly Dictionary<string, Collection?> _collections = [];
    private readonly List<Collection> _locked = [];

    public bool IsEmpty => _collections.Count == 0;

    public void Add(string nameSpace) => _collections.TryAdd(nameSpace, null);

    /// <summary>The collection, between <see cref="Enter"/> and <see cref="Exit"/>; null when it is not there.</summary>
    public Collection? Find(string nameSpace) => _collections[nameSpace] is { IsDropped: false } collection ? collection : null;

    /// <summary>Looks them up and enters the read locks of all that are there.</summary>
    /// <param name="store">Has them.</param>
    /// <param name="own">The one that the pipeline begins with; null when there is none.</param>
    /// <exception cref="Operations.InterruptedException">The operation has to end; nothing is held.</exception>
    public void Enter(DocumentStore store, Collection? own)
    {
        foreach (string nameSpace in _collections.Keys.ToList())
            _collections[nameSpace] = store.TryFind(nameSpace, out Collection? found) ? found : null;
        try
        {
            foreach (Collection collection in _collections.Values.Append(own).OfType<Collection>().Distinct()
                .OrderBy(collection => collection.Namespace, StringComparer.Ordinal))
            {
                collection.Lock.EnterReadLock();
                _locked.Add(collection);
            }
        }
        catch
        {
            Exit();
            throw;
        }
    }

    public void Exit()
    {
        _locked.ForEach(collection => collection.Lock.ExitReadLock());
        _locked.Clear();
    }
}
