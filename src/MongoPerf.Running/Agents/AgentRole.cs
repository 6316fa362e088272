using System.Text.Json;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Measurement;
using MongoPerf.Platforms;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Agents;

/// <summary>
/// What a run does beside its own work because it is one of several agents': it waits for the others between phases, and hears of a stop.
/// </summary>
/// <remarks>
/// While a phase runs nothing is exchanged but a sign of life of some hundred bytes every five seconds, on a thread and a
/// connection of its own.
/// </remarks>
internal sealed class AgentRole : IAgentRole, IDisposable
{
    /// <summary>
    /// The milliseconds from the first agent that sees all ready to the start, besides what the slowest needs to see it and to ask for the
    /// time.
    /// </summary>
    private const double LeadMilliseconds = 250;
    private const int LeadRoundTrips = 10;
    private const double MostWaitSeconds = 60;

    /// <summary>The seconds of quiet before and after a start.</summary>
    private const double QuietSeconds = 0.05;

    /// <summary>What has one clock: a start of a kernel; empty where there is none to tell.</summary>
    private static readonly string Machine = ProcessStart.ReadBoot();

    private readonly AgentClaim _claim;
    private readonly Coordinator _coordinator;
    private readonly IClock _clock;
    private readonly IDisposable _signs;
    private volatile string? _reasonToStop;
    private long _start;

    public AgentRole(AgentClaim claim, Coordinator coordinator, IClock clock)
    {
        _claim = claim;
        _coordinator = coordinator;
        _clock = clock;
        _signs = clock.Schedule(clock.Now, () =>
        {
            if (Postpone() is { } later)
                return later;
            _reasonToStop ??= Say();
            return clock.Now + clock.TicksOf(Coordinator.SaySeconds);
        });
    }

    /// <summary>The milliseconds between two looks at the others. The coordinator has as much to do for many as for few.</summary>
    private int LookMilliseconds => Math.Clamp(4 * Share.Count, 20, 1000);

    public ClientPart Part => _claim.Part;

    public PlanShare Share => new(_claim.Part.Number - 1, _claim.Part.Count);

    /// <summary>A sentence when somebody has stopped all agents; null while nobody has.</summary>
    public string? ReasonToStop() => _reasonToStop;

    /// <summary>When all begin, the agents of a machine would keep one another from waking in time with whatever else they do.</summary>
    /// <returns>When to do it instead, ticks; null for now.</returns>
    public long? Postpone()
    {
        long quiet = _clock.TicksOf(QuietSeconds), now = _clock.Now;
        return Math.Abs(now - Volatile.Read(ref _start)) < quiet ? now + (2 * quiet) : null;
    }

    public ClientClock CompareClock() => _coordinator.CompareClock(_clock);

    /// <summary>Waits as <see cref="PlanRunOptions.Meet"/> says. All begin at one moment of the coordinator's clock.</summary>
    public Meeting Meet(long position, CancellationToken stop)
    {
        try
        {
            return MeetOthers(position, stop);
        }
        catch (Exception e) when (ErrorTally.IsServerAway(e))
        {
            return new Meeting(Coordinator.AwayBecause(e));
        }
    }

    private Meeting MeetOthers(long position, CancellationToken stop)
    {
        // What follows is counted from here: that this machine's clock is set meanwhile changes nothing.
        (long Ticks, DateTimeOffset Utc) now = _clock.ReadBoth();
        ClientClock? clock = Meeting.IsStart(position) ? CompareClock() : null;
        _coordinator.SetPosition(
            _claim, position, clock is null ? null : new AgentReadiness(_coordinator.MeasureRoundTrip(_clock), Machine, clock));
        while (!stop.IsCancellationRequested)
        {
            IReadOnlyList<AgentState> parts = _coordinator.ReadParts(_claim.Plan, out string? why);
            if (why is not null || parts.Count != Share.Count)
                return new Meeting(why ?? "the coordinator does not know the plan any more");
            AgentState[] behind = [.. parts.Where(part => part.Position < position)];
            if (behind.Length == 0)
            {
                var met = new Meeting { Farthest = parts.Max(part => part.Position) };
                return clock is null ? met : AgreeOnStart(met, position, now, clock, parts);
            }

            if (behind.FirstOrDefault(part => part.State == Coordinator.Ended) is { } ended)
                return new Meeting($"agent {ended.Label} ended: {ended.Why ?? "without a reason"}");
            if (behind.FirstOrDefault(part => part.IsLost) is { } lost)
                return new Meeting($"agent {lost.Label} is lost: nothing was heard from it for {lost.SilentSeconds:0} s");
            if (behind.FirstOrDefault(part => part.State == Coordinator.Free) is { } free && _coordinator.IsStarterGone(_claim.Plan))
            {
                _coordinator.Withdraw(_claim.Plan);
                return new Meeting($"the command that offered the plan is gone, and no agent has taken {free.Label}");
            }

            stop.WaitHandle.WaitOne(LookMilliseconds);
        }

        return new Meeting();
    }

    /// <summary>Tells the others what the first agent found when it prepared the data.</summary>
    public void Publish(ulong seed, IReadOnlyDictionary<string, long> startDocuments) =>
        _coordinator.Publish(_claim, JsonSerializer.Serialize(new Prepared(seed, new Dictionary<string, long>(startDocuments))));

    /// <summary>Waits for what the first agent found.</summary>
    /// <exception cref="UserException">It won't come.</exception>
    public (ulong Seed, IReadOnlyDictionary<string, long> StartDocuments) AwaitPrepared(CancellationToken stop)
    {
        while (true)
        {
            stop.ThrowIfCancellationRequested();
            if (_coordinator.FindPublished(_claim) is { } text)
                return Read(text);
            AgentState? first = _coordinator.ReadParts(_claim.Plan, out string? why).FirstOrDefault(part => part.Number == 1);
            why ??= first is null or { State: Coordinator.Ended } or { IsLost: true }
                ? $"agent {first?.Label} ended before it had prepared the data: {first?.Why ?? "nothing more was heard from it"}"
                : null;
            if (why is not null)
                throw new UserException(ExitCode.CannotConnect, why);
            stop.WaitHandle.WaitOne(LookMilliseconds);
        }
    }

    public void Dispose()
    {
        try
        {
            _signs.Dispose();
        }
        catch (Exception e) when (e is IOException)
        {
            // It was away when the run ended; who asks for what is left will say so.
        }
    }

    private string? Say()
    {
        try
        {
            return _coordinator.Say(_claim);
        }
        catch (Exception e) when (ErrorTally.IsServerAway(e))
        {
            return Coordinator.AwayBecause(e);
        }
    }

    /// <param name="met">When all were ready.</param>
    /// <param name="position">The position of the meeting.</param>
    /// <param name="now">A moment before <paramref name="own"/> was measured.</param>
    /// <param name="own">How this machine's clock stands against the coordinator's, as far as this agent knows.</param>
    /// <param name="parts">All agents.</param>
    private Meeting AgreeOnStart(
        Meeting met, long position, (long Ticks, DateTimeOffset Utc) now, ClientClock own, IReadOnlyList<AgentState> parts)
    {
        // All agents of a machine have one clock: together they know it better, and none begins earlier than another for what
        // it knows less well.
        ClientClock clock = ServerClock.Join(own,
            parts.Where(part => part.Position == position && Machine.Length > 0 && part.Ready?.Machine == Machine)
                .Select(part => part.Ready!.Clock));
        double lead =
            LeadMilliseconds + (2 * LookMilliseconds) + (LeadRoundTrips * parts.Max(part => part.Ready?.RoundTripMilliseconds ?? 0));
        long at = _coordinator.AgreeOnStart(_claim, position, lead);
        long start =
            now.Ticks + _clock.TicksOf((at - ((now.Utc - DateTimeOffset.UnixEpoch).TotalMilliseconds + clock.OffsetMilliseconds)) / 1000);
        // One that was said by a server with another clock is not waited for.
        if (_clock.SecondsBetween(_clock.Now, start) is not (> 0 and < MostWaitSeconds))
            return met with { Clock = clock };
        Volatile.Write(ref _start, start);
        return met with { Clock = clock, StartAt = start };
    }

    private static (ulong, IReadOnlyDictionary<string, long>) Read(string text)
    {
        try
        {
            if (JsonSerializer.Deserialize<Prepared>(text) is { Start: { } start } read && start.Values.All(documents => documents >= 0))
                return (read.Seed, start);
        }
        catch (JsonException)
        {
            // As below.
        }

        throw new UserException(ExitCode.WrongUsage, "what the first agent said about the data can't be read",
            "something else writes to the coordinator's collection, or it is damaged");
    }

    private sealed record Prepared(ulong Seed, Dictionary<string, long> Start);
}
