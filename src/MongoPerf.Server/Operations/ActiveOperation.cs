namespace MongoPerf.Server.Operations;

/// <summary>Why an operation has to end before it is done.</summary>
internal enum Interruption
{
    None,

    /// <summary>killOp.</summary>
    Killed,
    ClientLeft,
    Shutdown,
}

/// <summary>
/// The command that a connection's thread is at: its number, its time limit, the memory it holds, and whether somebody wants it to end.
/// </summary>
/// <remarks>
/// One object per connection, used for each of its commands in turn. Its thread begins, ends and checks; any thread may
/// interrupt. Whatever may take long calls <see cref="Check"/> again and again, which ends it with an <see cref="InterruptedException"/>.
/// </remarks>
internal sealed class ActiveOperation
{
    /// <summary>Bytes of values that an operation may hold at a time. Source: mongod 6.0.5, internalQueryMax…MemoryUsageBytes.</summary>
    public const long MaximumHeldBytes = 100L << 20;

    private const int ReasonBits = 8;

    [ThreadStatic]
    private static ActiveOperation? _current;

    // The number and the reason in one word, so that a kill that comes late cannot meet the next command.
    private long _state;
    private long _deadline;
    private long _held;
    private long _mostHeld;
    private long _gathered;

    /// <summary>0 between commands.</summary>
    public long Id => Volatile.Read(ref _state) >> ReasonBits;

    /// <summary>The command's name, such as <c>find</c>; null when it is not known.</summary>
    public string? Command { get; private set; }

    public string Database { get; private set; } = "";

    /// <summary>The connection's number; set once.</summary>
    public int Connection { get; set; }

    /// <summary>Database and collection; null as long as the command has no collection.</summary>
    public string? Namespace { get; set; }

    /// <summary>When it started, by <see cref="Environment.TickCount64"/>.</summary>
    public long StartedAt { get; private set; }

    /// <summary>Milliseconds of the time limit that are left; null when there is none.</summary>
    public long? RemainingMilliseconds => _deadline == 0 ? null : Math.Max(0, _deadline - Environment.TickCount64);

    /// <summary>The one of the calling thread; null outside of commands.</summary>
    public static ActiveOperation? Current => _current;

    /// <summary>Bytes that a cursor of this operation keeps: documents that were gathered, and constants that were worked out.</summary>
    public long KeptBytes => _gathered + _held;

    public void Begin(long id)
    {
        Command = null;
        Namespace = null;
        Database = "";
        StartedAt = Environment.TickCount64;
        _deadline = 0;
        _held = 0;
        _mostHeld = 0;
        _gathered = 0;
        Volatile.Write(ref _state, id << ReasonBits);
        _current = this;
    }

    /// <param name="command">Its name.</param>
    /// <param name="database">Its <c>$db</c>.</param>
    /// <param name="nameSpace">Null for a command that has no collection, or finds its own.</param>
    public void Describe(string command, string database, string? nameSpace)
    {
        Namespace = nameSpace;
        Command = command;
        Database = database;
    }

    public void End()
    {
        Volatile.Write(ref _state, 0);
        _current = null;
    }

    /// <param name="milliseconds">Milliseconds from now; 0 for none.</param>
    public void LimitTime(long milliseconds) => _deadline = milliseconds == 0 ? 0 : Environment.TickCount64 + milliseconds;

    /// <summary>Ends the command of that number, if it is still the present one. Any thread.</summary>
    public void Interrupt(long id, Interruption reason) =>
        Interlocked.CompareExchange(ref _state, (id << ReasonBits) | (long)reason, id << ReasonBits);

    /// <exception cref="InterruptedException">The calling thread's operation has to end.</exception>
    public static void Check()
    {
        if (_current is { } operation
            && (((byte)operation._state) != 0 || (operation._deadline != 0 && Environment.TickCount64 >= operation._deadline)))
            operation.Throw();
    }

    /// <summary>Does what must not be left undone, also where the calling thread's operation has to end.</summary>
    public static void Finish(Action work)
    {
        ActiveOperation? operation = _current;
        _current = null;
        try
        {
            work();
        }
        finally
        {
            _current = operation;
        }
    }

    /// <summary>What is held now; for <see cref="Release"/>.</summary>
    public static long Held => _current?._held ?? 0;

    /// <summary>The most that was held at one time since <see cref="Begin"/>.</summary>
    public long MostHeld => _mostHeld;

    /// <summary>Notes that bytes are kept while more is worked out.</summary>
    /// <exception cref="MemoryLimitException">More than <see cref="MaximumHeldBytes"/> together.</exception>
    public static void Hold(long bytes)
    {
        if (_current is not { } operation)
            return;
        operation._held += bytes;
        operation._mostHeld = Math.Max(operation._mostHeld, operation._held);
        if (operation._held > MaximumHeldBytes)
            throw new MemoryLimitException();
    }

    /// <summary>Whether an element of that many bytes can be held besides what is held now, while another like it is worked out.</summary>
    public static bool CanHold(long bytes)
    {
        const int BytesOfElement = 64;
        return Held + (2 * (bytes + BytesOfElement)) <= MaximumHeldBytes;
    }

    /// <param name="held">What <see cref="Held"/> was before.</param>
    public static void Release(long held)
    {
        if (_current is { } operation)
            operation._held = held;
    }

    /// <summary>
    /// Notes documents that a sort or a group has gathered, and that are there until the command or its cursor has ended. Bounded
    /// by who gathers them.
    /// </summary>
    public static void Gather(long bytes)
    {
        if (_current is { } operation)
            operation._gathered += bytes;
    }

    private void Throw() => throw (Interruption)(byte)Volatile.Read(ref _state) switch
    {
        Interruption.None => new InterruptedException(50, "MaxTimeMSExpired", "operation exceeded time limit"),
        Interruption.Killed => new InterruptedException(11601, "Interrupted", "operation was interrupted"),
        Interruption.ClientLeft =>
            new InterruptedException(279, "ClientDisconnect", "operation was interrupted because a client disconnected"),
        _ => new InterruptedException(11600, "InterruptedAtShutdown", "interrupted at shutdown"),
    };
}

/// <summary>The whole command ends here, and no statement of it may take this for an error of its own.</summary>
internal sealed class InterruptedException(int code, string codeName, string message) : Exception(message)
{
    public int Code { get; } = code;

    public string CodeName { get; } = codeName;
}

/// <summary>An operation would hold more memory than it may.</summary>
internal sealed class MemoryLimitException()
    : Exception($"operation exceeded its memory limit of {ActiveOperation.MaximumHeldBytes} bytes and cannot spill to disk");
