using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Chooses how a query finds its documents: which index, in which direction, or all records. Used again; one thread.</summary>
/// <remarks>
/// Several ways are weighed by trying: the first is run a little, and kept when at least half of what it examined matched; else
/// each of the others is, and the one with the most matches continues from where its trial stopped. That is cheaper than
/// MongoDB's trial of all plans to their first full batch, and close to the best plan for each pair of operands.
/// </remarks>
internal sealed class Planner : IDisposable
{
    private const int TrialDocuments = 10;

    // How far a walk in sort order may go beyond what it must return, before sorting the bounded candidates is considered.
    private const int SortedWalkFactor = 10;
    private const int SortedWalkExtra = 1000;
    private const int WorthSortingKeys = 20_000;

    private readonly IndexBounds _bounds = new();
    private readonly List<PlanExecutor> _runners = [];
    private int _used;

    /// <summary>The runner to take documents from; owned by the planner. Its plan says whether they come in sort order.</summary>
    /// <remarks>
    /// <paramref name="wanted"/>: matches that the query needs, skipped ones included; <see cref="long.MaxValue"/> for all.
    /// </remarks>
    /// <exception cref="CommandException">A hint that names no index.</exception>
    public PlanExecutor Choose(Collection collection, Filter filter, SortSpec sort, IndexHint hint, long wanted)
    {
        _used = 0;
        if (hint.IsGiven)
            return Ready(ForHint(collection, filter, sort, hint), collection, filter);
        if (sort.Natural != 0)
            return Ready(FullScan(sort), collection, filter);
        AddIndexes(collection, filter, sort);
        if (_used == 0)
            return Ready(FullScan(sort), collection, filter);
        if (_used == 1 && (sort.IsEmpty || _runners[0].Plan.ProvidesSort || _runners[0].Plan.IsBounded))
            return Ready(_runners[0], collection, filter);
        for (int i = 0; i < _used; i++)
            Ready(_runners[i], collection, filter);
        return sort.IsEmpty ? ChooseByTrial(0, _used) : ChooseForSort(wanted, collection, filter);
    }

    /// <summary>Whether the index has all documents that match, so that it may find them, or give them their order.</summary>
    public static bool Serves(CollectionIndex index, Filter filter) => !index.Spec.IsHidden && (index.Spec.IsWhole
        || (index.Spec.Partial is { } partial ? ((PartialFilter)partial).IsImpliedBy(filter) : NeedsFirstField(index, filter)));

    private static bool NeedsFirstField(CollectionIndex index, Filter filter) =>
        filter.Root.Children.Exists(node => index.Spec.Fields[0].Path.IsSame(node.Path) && NeedsField(index, filter, node));

    /// <summary>
    /// Whether mongod asks a sparse index for a condition. It does so for $gte and $lte of null too, and then misses documents without
    /// the field.
    /// </summary>
    private static bool NeedsField(CollectionIndex index, Filter filter, FilterNode node) => node.Operator switch
    {
        FilterOperator.Exists => node.Flag,
        FilterOperator.NotEqual => node.OperandType == BsonType.Null && !index.IsMultikey,
        FilterOperator.In => node.Patterns == null && !PartialFilter.HasNull(filter.Operand(node)),
        FilterOperator.Equal => node.OperandType != BsonType.Null,
        FilterOperator.Greater or FilterOperator.GreaterOrEqual or FilterOperator.Less or FilterOperator.LessOrEqual => true,
        _ => false,
    };

    public static CommandException NoSuchIndex() =>
        CommandException.BadValue("error processing query: hint provided does not correspond to an existing index");

    public void Dispose()
    {
        foreach (PlanExecutor runner in _runners)
            runner.Dispose();
    }

    private PlanExecutor NextRunner()
    {
        if (_used == _runners.Count)
            _runners.Add(new PlanExecutor());
        return _runners[_used++];
    }

    private static PlanExecutor Ready(PlanExecutor runner, Collection collection, Filter filter)
    {
        runner.Start(collection, filter);
        return runner;
    }

    private PlanExecutor FullScan(SortSpec sort)
    {
        PlanExecutor runner = NextRunner();
        runner.Plan.Reset(index: null);
        runner.Plan.IsReverse = sort.Natural < 0;
        runner.Plan.ProvidesSort = sort.IsEmpty;
        return runner;
    }

    private PlanExecutor ForHint(Collection collection, Filter filter, SortSpec sort, IndexHint hint)
    {
        if (hint.Natural != 0)
        {
            PlanExecutor scan = FullScan(sort);
            scan.Plan.IsReverse = hint.Natural < 0;
            return scan;
        }

        CollectionIndex index = hint.Find(collection.Indexes)
            ?? throw NoSuchIndex();
        PlanExecutor runner = NextRunner();
        _bounds.Build(runner.Plan, index, filter);
        MatchSort(runner.Plan, sort, filter);
        return runner;
    }

    /// <summary>One runner for each index that bounds the candidates or gives the order. An _id that is given beats all others.</summary>
    private void AddIndexes(Collection collection, Filter filter, SortSpec sort)
    {
        foreach (CollectionIndex index in collection.Indexes)
        {
            if (!Serves(index, filter))
                continue;
            PlanExecutor runner = NextRunner();
            _bounds.Build(runner.Plan, index, filter);
            // That the field is there is all that such a query asks, and all that such an index knows.
            runner.Plan.IsBounded |= index.Spec.IsSparse;
            MatchSort(runner.Plan, sort, filter);
            bool isPoint = index.Spec.IsUnique && runner.Plan.EqualFields == index.Spec.Fields.Length;
            if (isPoint)
            {
                (_runners[0], _runners[_used - 1]) = (_runners[_used - 1], _runners[0]);
                _used = 1;
                return;
            }

            if (!runner.Plan.IsBounded && (sort.IsEmpty || !runner.Plan.ProvidesSort))
                _used--;
        }
    }

    private PlanExecutor ChooseByTrial(int from, int to)
    {
        PlanExecutor best = _runners[from];
        for (int i = from; i < to; i++)
        {
            PlanExecutor runner = _runners[i];
            runner.Probe(TrialDocuments, long.MaxValue);
            if (runner.IsAtEnd || 2 * runner.Matched >= runner.DocumentsExamined)
                return runner;
            if (runner.Matched > best.Matched)
                best = runner;
        }

        return best;
    }

    /// <summary>Walks in sort order as long as that finds matches at a fair rate; else sorts the fewest candidates.</summary>
    private PlanExecutor ChooseForSort(long wanted, Collection collection, Filter filter)
    {
        PlanExecutor? sorted = null;
        PlanExecutor? bounded = null;
        for (int i = 0; i < _used; i++)
        {
            if (_runners[i].Plan.ProvidesSort && (sorted == null || _runners[i].Plan.IsBounded))
                sorted = _runners[i];
            else if (!_runners[i].Plan.ProvidesSort)
                bounded ??= _runners[i];
        }

        if (sorted == null)
            return ChooseByTrial(0, _used);
        if (bounded == null || sorted.Plan.IsBounded)
            return sorted;
        if (wanted < long.MaxValue / 2 / SortedWalkFactor)
        {
            sorted.Probe(SortedWalkFactor * wanted + SortedWalkExtra, wanted);
            if (sorted.IsAtEnd || sorted.Matched >= wanted)
                return sorted;
        }

        if (bounded.CountKeys(WorthSortingKeys) == WorthSortingKeys)
            return sorted;
        return Ready(bounded, collection, filter);
    }

    /// <summary>
    /// Sets direction and <see cref="ScanPlan.ProvidesSort"/>: fields bound to one value may stand anywhere in the order.
    /// </summary>
    private static void MatchSort(ScanPlan plan, SortSpec sort, Filter filter)
    {
        plan.ProvidesSort = sort.IsEmpty;
        if (sort.IsEmpty || plan.Index!.IsMultikey || plan.Index.Spec.Collation != filter.Collation)
            return;
        IndexField[] fields = plan.Index.Spec.Fields;
        int at = 0;
        bool? isReverse = null;
        foreach (IndexField wanted in sort.Fields)
        {
            while (at < fields.Length && at < plan.EqualFields && !fields[at].Path.IsSame(wanted.Path))
                at++;
            if (IsEqualBound(plan, wanted))
                continue;
            if (at == fields.Length || !fields[at].Path.IsSame(wanted.Path))
                return;
            bool reverse = fields[at].IsDescending != wanted.IsDescending;
            if (isReverse.HasValue && isReverse != reverse)
                return;
            isReverse = reverse;
            at++;
        }

        plan.ProvidesSort = true;
        plan.IsReverse = isReverse ?? false;
    }

    private static bool IsEqualBound(ScanPlan plan, IndexField wanted)
    {
        for (int i = 0; i < plan.EqualFields; i++)
        {
            if (plan.Index!.Spec.Fields[i].Path.IsSame(wanted.Path))
                return true;
        }

        return false;
    }
}
