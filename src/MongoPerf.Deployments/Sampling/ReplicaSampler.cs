using System.Buffers.Binary;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Deployments.Sampling;

/// <summary>Asks the primaries of replica sets how far their members are behind: <see cref="MetricCatalogue.Replica"/>.</summary>
/// <remarks>
/// One thread, which waits while servers answer: give it one of its own. Never throws: a set without a primary, or one that does not tell
/// this user, leaves no samples.
/// </remarks>
/// <param name="primaries">One of each set; each is asked for before an attempt to connect, since another member may be primary.</param>
/// <param name="settings">The settings as the run's connections have them.</param>
public sealed class ReplicaSampler(IEnumerable<Func<ServerAddress>> primaries, ConnectionSettings settings) : IDisposable
{
    private static readonly TimeSpan LookEvery = TimeSpan.FromMilliseconds(100);

    private readonly ReplicaSet[] _sets =
        [.. primaries.Select(primary => new ReplicaSet(new SamplerConnection(primary, settings, longestPause: TimeSpan.FromSeconds(5))))];

    /// <summary>Whether any set tells this user; true until all have refused.</summary>
    public bool IsTold => _sets.Any(set => !set.IsRefused);

    public IReadOnlyList<MetricSample> Sample() => [.. _sets.SelectMany(set => set.Sample())];

    /// <summary>
    /// Waits until every secondary that is up has all that its primary had when it was called. A set that does not tell this user is not
    /// waited for.
    /// </summary>
    /// <returns>False when the time was over, or it was stopped, before.</returns>
    public bool Await(TimeSpan atMost, CancellationToken stop)
    {
        long giveUpAt = Environment.TickCount64 + (long)atMost.TotalMilliseconds;
        ReplicaSet[] behind = _sets;
        long?[] marks = [.. _sets.Select(set => set.Look()?.Applied)];
        while (true)
        {
            behind = [.. behind.Where(set => set.Look() is { } now
                ? now.IsBehind(marks[Array.IndexOf(_sets, set)] ??= now.Applied) : !set.IsRefused)];
            if (behind.Length == 0)
                return true;
            if (Environment.TickCount64 >= giveUpAt || stop.WaitHandle.WaitOne(LookEvery))
                return false;
        }
    }

    public void Dispose()
    {
        foreach (ReplicaSet set in _sets)
            set.Dispose();
    }

    /// <summary>One set's primary, and what it said last.</summary>
    private sealed class ReplicaSet(SamplerConnection connection) : IDisposable
    {
        private ReplicaStatus? _last;

        /// <summary>Whether the server has said that this user may not ask.</summary>
        public bool IsRefused { get; private set; }

        public IReadOnlyList<MetricSample> Sample()
        {
            ReplicaStatus? now = Look();
            // By this machine's clock, as all samples; the lags are by the primary's.
            IReadOnlyList<MetricSample> samples = now?.Samples(DateTimeOffset.UtcNow.ToUnixTimeMilliseconds(), _last) ?? [];
            _last = now;
            return samples;
        }

        /// <returns>Null when it does not answer, or not to this user.</returns>
        public ReplicaStatus? Look() => connection.Ask<ReplicaStatus?>(null, primary =>
        {
            try
            {
                return ReplicaStatus.Read(primary);
            }
            catch (ServerCommandException e) when (e.Error.MeansForbidden)
            {
                IsRefused = true;
                throw;
            }
        });

        public void Dispose() => connection.Dispose();
    }
}

/// <summary>What a primary says of its set. Times are Unix milliseconds by its clock.</summary>
internal sealed class ReplicaStatus
{
    private const int Primary = 1;
    private const int Arbiter = 7;

    /// <summary>Of a set, by MongoDB's own limit.</summary>
    private const int MostMembers = 50;

    private static readonly BsonDocument Request = BsonDocument.Of(("replSetGetStatus", 1));

    private static readonly int Lag = IndexOf("lag");
    private static readonly int MajorityLag = IndexOf("majority_lag");
    private static readonly int OplogWindow = IndexOf("oplog_window");
    private static readonly int Term = IndexOf("term");

    private readonly BsonDocument _status;
    private readonly BsonDocument _oplog;
    private readonly BsonDocument[] _members;
    private readonly long _at;

    /// <param name="status">The reply to replSetGetStatus.</param>
    /// <param name="oplog">The reply to <see cref="ServerStatusRequest.Oplog"/>; it need not be ok.</param>
    /// <exception cref="BsonFormatException">A member is no document.</exception>
    public ReplicaStatus(BsonDocument status, BsonDocument oplog)
    {
        (_status, _oplog) = (status, oplog);
        _at = status.FindInt64("date") ?? DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        _members = [.. (status.FindDocument("members") ?? BsonDocument.Empty)
            .Take(MostMembers).Select(member => member.Value.ToDocument())];
        Applied = _members.Where(member => member.IsTrue("self")).Select(AppliedBy).FirstOrDefault();
    }

    /// <summary>When the primary's last write was made.</summary>
    public long? Applied { get; }

    /// <summary>Whether a secondary that is up lacks a write of this time.</summary>
    public bool IsBehind(long? mark) => _members.Any(member =>
        !member.IsTrue("self") && member.FindInt64("state") != Arbiter && AppliedBy(member) < mark);

    /// <exception cref="ConnectionFailedException">It is not the primary.</exception>
    /// <exception cref="ServerCommandException">It is no member, or the user may not ask.</exception>
    public static ReplicaStatus Read(MongoConnection primary)
    {
        BsonDocument status = primary.RunCommand("admin", Request);
        return status.FindInt64("myState") == Primary
            ? new ReplicaStatus(status, primary.RunUnchecked("admin", ServerStatusRequest.Oplog))
            : throw new ConnectionFailedException(primary.Address, "this is not the primary any more");
    }

    /// <param name="at">Unix milliseconds of the samples.</param>
    /// <param name="before">
    /// The status before. A member that has all that the primary had then is behind by no more than the time since, also where the primary
    /// was idle before its last write.
    /// </param>
    public IReadOnlyList<MetricSample> Samples(long at, ReplicaStatus? before)
    {
        var samples = new List<MetricSample>();
        foreach (BsonDocument member in _members.Where(member => member.FindInt64("state") != Arbiter))
        {
            double[] values = [.. MetricCatalogue.Replica.Select(static _ => double.NaN)];
            if (member.IsTrue("self"))
            {
                values[MajorityLag] = Behind(TimeIn(_status, "optimes.lastCommittedWallTime"), before);
                values[OplogWindow] = (Seconds("latestOptime") - Seconds("earliestOptime")) ?? double.NaN;
                values[Term] = _status.FindDouble("term") ?? double.NaN;
            }
            else
            {
                values[Lag] = Behind(AppliedBy(member), before);
            }

            samples.Add(new MetricSample(at, ForeignText.OneLine(member.FindString("name") ?? "", 255), values));
        }

        return samples;
    }

    private double Behind(long? applied, ReplicaStatus? before)
    {
        if (applied is null || Applied is null)
            return double.NaN;
        long lag = Math.Max(0, Applied.Value - applied.Value);
        return before is not null && applied >= before.Applied ? Math.Min(lag, Math.Max(0, _at - before._at)) : lag;
    }

    /// <summary>
    /// When a member's last write was made at the primary; whole seconds before 5.0. Null for one that is away, or has none yet: it still
    /// copies what there is.
    /// </summary>
    private static long? AppliedBy(BsonDocument member) => member.FindDouble("health") is 0 ? null
        : TimeIn(member, "lastAppliedWallTime") ?? TimeIn(member, "optimeDate");

    /// <summary>1970 stands for none.</summary>
    private static long? TimeIn(BsonDocument document, string field) => document.FindInt64(field) is > 0 and var time ? time : null;

    private double? Seconds(string optime) => _oplog.Find($"oplog.{optime}") is { Type: BsonType.Timestamp } at
        ? BinaryPrimitives.ReadUInt32LittleEndian(at.Bytes.Span[4..]) : null;

    private static int IndexOf(string metric) => MetricCatalogue.IndexOf(MetricCatalogue.Replica, metric);
}
