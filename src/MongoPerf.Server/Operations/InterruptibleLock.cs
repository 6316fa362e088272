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
            ActiveOperation.Check();
        return new Scope(_lock);
    }

    public readonly ref struct Scope(Lock held)
    {
        public void Dispose() => held.Exit();
    }
}

/// <summary>A lock for many readers or one writer, whose waiters can be interrupted. Not recursive.</summary>
/// <remarks>
/// A writer that waits lets no further reader in: else readers that take turns would keep it out for good. Nobody is woken
/// where nobody waits, which is what every command of documents meets.
/// </remarks>
internal sealed class InterruptibleReaderWriterLock
{
    private const int WaitMilliseconds = 20;
    private readonly object _gate = new();
    private int _readers;
    private int _waiting;
    private int _waitingWriters;
    private bool _isWriting;

    /// <exception cref="InterruptedException">The operation has to end; the lock is not held.</exception>
    public void EnterReadLock()
    {
        lock (_gate)
        {
            while (_isWriting || _waitingWriters > 0)
                Wait();
            _readers++;
        }
    }

    /// <summary>Enters for writing, until the scope is disposed.</summary>
    /// <inheritdoc cref="EnterReadLock" path="/exception"/>
    public WriteScope EnterWrite()
    {
        lock (_gate)
        {
            _waitingWriters++;
            try
            {
                while (_isWriting || _readers > 0)
                    Wait();
                _isWriting = true;
            }
            finally
            {
                _waitingWriters--;
                // Readers may have waited for this writer alone, and it has been interrupted.
                if (!_isWriting)
                    Wake();
            }
        }

        return new WriteScope(this);
    }

    public void ExitReadLock()
    {
        lock (_gate)
        {
            if (--_readers == 0)
                Wake();
        }
    }

    private void ExitWriteLock()
    {
        lock (_gate)
        {
            _isWriting = false;
            Wake();
        }
    }

    private void Wait()
    {
        _waiting++;
        try
        {
            Monitor.Wait(_gate, WaitMilliseconds);
        }
        finally
        {
            _waiting--;
        }

        ActiveOperation.Check();
    }

    /// <summary>All that wait, since readers and writers wait together and each sees for itself whether it is its turn.</summary>
    private void Wake()
    {
        if (_waiting > 0)
            Monitor.PulseAll(_gate);
    }

    public readonly ref struct WriteScope(InterruptibleReaderWriterLock held)
    {
        public void Dispose() => held.ExitWriteLock();
    }
}
