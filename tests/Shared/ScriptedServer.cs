using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Testing;

/// <summary>An operation as it reaches a scripted server.</summary>
/// <param name="Connection">0-based.</param>
/// <param name="Number">Of the operation on that connection, 0-based.</param>
/// <param name="Start">Seconds since the server's start.</param>
internal readonly record struct ScriptedCall(int Connection, int Number, double Start);

/// <summary>
/// A server whose every delay is known: it answers any number of connections at once, each operation after as long as a script says.
/// </summary>
/// <remarks>On any clock, the machine's own included. What a right measurement of it must show follows by arithmetic.</remarks>
/// <param name="clock">By which it and its clients go.</param>
/// <param name="seconds">How long an operation takes.</param>
/// <param name="ended">Called by each connection's thread when it has done its last operation.</param>
/// <param name="served">
/// Called by a connection's thread behind each operation, with seconds since the server's start: what it really took, on a machine that
/// wakes threads late.
/// </param>
internal sealed class ScriptedServer(
    IClock clock, Func<ScriptedCall, double> seconds, Action? ended = null, Action<ScriptedCall, double>? served = null)
{
    private readonly IClock _clock = clock;
    private readonly Func<ScriptedCall, double> _seconds = seconds;
    private readonly Action? _ended = ended;
    private readonly Action<ScriptedCall, double>? _served = served;
    private readonly long _start = clock.Now;

    /// <summary>A connection to it; called by one thread.</summary>
    public IOperationExecutor Connect(int connection) => new Connection(this, connection);

    /// <summary>While it stalls it answers nothing that comes; what came before is answered.</summary>
    /// <param name="call">The operation.</param>
    /// <param name="service">Seconds that one takes otherwise.</param>
    /// <param name="from">When the stall begins, seconds.</param>
    /// <param name="length">How long it lasts, seconds.</param>
    public static double Stalled(ScriptedCall call, double service, double from, double length) =>
        call.Start >= from && call.Start < from + length ? from + length - call.Start + service : service;

    private sealed class Connection(ScriptedServer server, int number) : IOperationExecutor, IPreparedOperation
    {
        private int _operations;

        public ServerError? LastError => null;

        public string? Member => null;

        public void Connect()
        {
        }

        public IPreparedOperation Prepare(Operation operation, OperationContext context) => this;

        public bool Draw() => true;

        public OperationOutcome Execute()
        {
            IClock clock = server._clock;
            long now = clock.Now;
            var call = new ScriptedCall(number, _operations++, clock.SecondsBetween(server._start, now));
            clock.SleepUntil(now + clock.TicksOf(server._seconds(call)));
            server._served?.Invoke(call, clock.SecondsBetween(server._start, clock.Now));
            return new OperationOutcome(true, 1, 1024);
        }

        public VerificationOutcome Verify() => default;

        public void Complete() => server._ended?.Invoke();

        public void Abort()
        {
        }

        public void Dispose()
        {
        }
    }
}
