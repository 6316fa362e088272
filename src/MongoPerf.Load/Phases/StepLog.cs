namespace MongoPerf.Load.Phases;

/// <summary>What one operation of several steps did, for its worker to count once the operation has ended.</summary>
/// <remarks>One thread. Nothing allocates once its arrays have grown.</remarks>
public sealed class StepLog
{
    private (int Step, long Ticks, bool Succeeded, OperationOutcome Outcome)[] _entries = new (int, long, bool, OperationOutcome)[16];
    private int _count;

    /// <summary>Transactions that the server has committed.</summary>
    public int Committed { get; set; }

    /// <summary>Attempts that came to nothing: the server has none of their writes.</summary>
    public int Aborted { get; set; }

    /// <summary>Transactions that a step of theirs ended on purpose: the server has none of their writes.</summary>
    public int RolledBack { get; set; }

    /// <summary>Attempts that were made again after a passing error.</summary>
    public int Retried { get; set; }

    /// <summary>Commits that were sent again, because the first answer left open whether there was one.</summary>
    public int CommitRetried { get; set; }

    /// <summary>Transactions of which nobody knows whether they were committed.</summary>
    public int Unknown { get; set; }

    /// <summary>Time in attempts that were made again, and between attempts; ticks.</summary>
    public long RetryTicks { get; set; }

    /// <summary>Time from the beginning of a transaction to its end; ticks.</summary>
    public long TransactionTicks { get; set; }

    public ReadOnlySpan<(int Step, long Ticks, bool Succeeded, OperationOutcome Outcome)> Entries => _entries.AsSpan(0, _count);

    public void Clear()
    {
        _count = 0;
        Committed = Aborted = RolledBack = Retried = CommitRetried = Unknown = 0;
        RetryTicks = TransactionTicks = 0;
    }

    /// <param name="step">Its place among those that are timed.</param>
    /// <param name="ticks">How long it took.</param>
    /// <param name="succeeded">Whether it did.</param>
    /// <param name="outcome">What came of its command, where it is one that finds or changes documents.</param>
    public void Add(int step, long ticks, bool succeeded, OperationOutcome outcome = default)
    {
        if (_count == _entries.Length)
            Array.Resize(ref _entries, _count * 2);
        _entries[_count++] = (step, ticks, succeeded, outcome);
    }
}
