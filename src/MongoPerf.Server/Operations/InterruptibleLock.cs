namespace MongoPerf.Server.Operations;

/// <summary>A lock whose waiters can be interrupted: <c>using (gate.Enter())</c>.</summary>
internal sealed class InterruptibleLock
{
    private const int WaitMilliseconds = 20;
    private readonly Lock _lock = new();

    /// <exception cref="InterruptedException">The operation has to end; the lock is not held.</exception>
    public Scope Enter()
    {
        while (!_lock.TryEnter(WaitMilliseconds))
            Operation.Check();
        return new Scope(_lock);
    }

    public readonly ref struct Scope(Lock held)
    {
        public void Dispose() => held.Exit();
    }
}

/// <summary>A lock for many readers or one writer, whose waiters can be interrupted. Not recursive.</summary>
internal sealed class InterruptibleReaderWriterLock : IDisposable
{
    private const int WaitMilliseconds = 20;
    private readonly ReaderWriterLockSlim _lock = new(LockRecursionPolicy.NoRecursion);

    /// <exception cref="InterruptedException">The operation has to end; the lock is not held.</exception>
    public void EnterReadLock()
    {
        while (!_lock.TryEnterReadLock(WaitMilliseconds))
            Operation.Check();
    }

    /// <inheritdoc cref="EnterReadLock"/>
    public void EnterWriteLock()
    {
        while (!_lock.TryEnterWriteLock(WaitMilliseconds))
            Operation.Check();
    }

    public void ExitReadLock() => _lock.ExitReadLock();

    public void ExitWriteLock() => _lock.ExitWriteLock();

    public void Dispose() => _lock.Dispose();
}
