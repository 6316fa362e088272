using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>
/// What is found out about a run once, although several parts of its report ask for it at the same time: the others wait. An exception
/// is thrown to all of them. For all threads.
/// </summary>
/// <param name="find">Reads the run.</param>
/// <param name="hasTexts">It holds texts, so it is found out in each language.</param>
internal sealed class OncePerRun<T>(Func<StoredRun, T> find, bool hasTexts = false)
{
    private readonly ConditionalWeakTable<StoredRun, ConcurrentDictionary<Language, Lazy<T>>> _known = [];

    public T Of(StoredRun run) => _known.GetOrCreateValue(run)
        .GetOrAdd(hasTexts ? Words.Language : Language.English, _ => new Lazy<T>(() => find(run))).Value;
}
