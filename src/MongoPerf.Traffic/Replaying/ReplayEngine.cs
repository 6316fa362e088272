using MongoPerf.Load.Executors;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Platforms;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Traffic.Replaying;

/// <summary>Sends the requests of a recording over MongoPerf's own wire client.</summary>
/// <param name="script">What is sent, and when; its recording is this one's from here on.</param>
public sealed class ReplayEngine(ReplayScript script) : IClientEngine, IDisposable
{
    public string Version => "";

    public void Check(Operation operation)
    {
    }

    public IExecutorSource Open(ClientOptions options) => new Source(script, options);

    public void Dispose() => script.Recording.Dispose();

    /// <summary>The executors of a run; those of one pass over the recording share its state.</summary>
    private sealed class Source(ReplayScript script, ClientOptions options) : IExecutorSource
    {
        private readonly Lock _lock = new();
        private Dictionary<int, ReplayState> _copies = [];
        private int _open;

        public IOperationExecutor OpenExecutor(GroupPlan? group = null)
        {
            lock (_lock)
            {
                // A pass opens all of its executors before it begins, and closes them when it is over.
                if (_open == 0)
                    _copies = script.Lines.Select(line => line.Copy).Distinct().ToDictionary(copy => copy, _ => new ReplayState(script));
                return new ReplayExecutor(script, _copies, options, _open++, Close);
            }
        }

        public void Dispose()
        {
        }

        private void Close()
        {
            lock (_lock)
                _open--;
        }
    }
}

/// <summary>What the workers of one copy tell one another during one pass over a recording. For all threads.</summary>
internal sealed class ReplayState(ReplayScript script)
{
    /// <summary>A cursor that was read to its end, or closed.</summary>
    public const long CursorEnded = -1;

    public ReplayScript Script { get; } = script;

    /// <summary>By request: not 0 once it has ended, however that was.</summary>
    public byte[] Done { get; } = new byte[script.Requests.Length];

    /// <summary>By number: the target's cursor; 0 where none was opened.</summary>
    public long[] Cursors { get; } = new long[script.Cursors];

    /// <summary>By sequence: how many of its requests are known to have ended.</summary>
    public int[] Ended { get; } = new int[script.Sequences.Count];

    /// <summary>By number: the id that the target made; zeros where it made none.</summary>
    public ObjectId[] GeneratedIds { get; } = new ObjectId[script.Generated];

    /// <summary>By worker: it sends nothing more.</summary>
    public bool[] HasLeft { get; } = new bool[script.Workers.Length];

    public byte[] SessionSalt { get; } = MakeSalt();

    /// <summary>Versions and variants of UUIDs stay as they are.</summary>
    private static byte[] MakeSalt()
    {
        byte[] salt = SystemRandom.GetBytes(16);
        salt[6] &= 0x0f;
        salt[8] &= 0x3f;
        return salt;
    }
}
