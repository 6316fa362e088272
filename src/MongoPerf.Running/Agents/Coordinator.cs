using MongoPerf.Load.Collections;
using MongoPerf.Load.Failures;
using MongoPerf.Measurement;
using MongoPerf.Platforms;
using MongoPerf.Running.Sessions;
using MongoPerf.Running.Systems;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Discovery;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Running.Agents;

/// <summary>One agent's place in a plan, as the coordinator has it. Anybody may have written it who may write there.</summary>
/// <param name="Number">1-based.</param>
/// <param name="Name">Null until an agent took it.</param>
/// <param name="State">One of <see cref="Coordinator"/>'s.</param>
/// <param name="Position">How far it has come.</param>
/// <param name="SilentSeconds">The seconds since it was heard of last.</param>
/// <param name="Why">It ended so, when not well.</param>
/// <param name="Ready">What it said when it was ready to begin last; null before that.</param>
public sealed record AgentState(
    int Number, string? Name, string State, long Position, double SilentSeconds, string? Why, AgentReadiness? Ready)
{
    public bool IsLost => State == Coordinator.Claimed && SilentSeconds > Coordinator.LostAfterSeconds;

    public string Label => Name ?? $"part {Number}";
}

/// <summary>What an agent knows of its way to the coordinator, just before it begins a phase.</summary>
/// <param name="RoundTripMilliseconds">The round trip of a command in milliseconds: 0 to 1000.</param>
/// <param name="Machine">The same for agents that have one clock.</param>
/// <param name="Clock">How that stands against the coordinator's.</param>
public sealed record AgentReadiness(double RoundTripMilliseconds, string Machine, ClientClock Clock);

/// <summary>A plan and the part of it that an agent has claimed.</summary>
/// <param name="Plan">Its id.</param>
/// <param name="Part">The part of this agent.</param>
/// <param name="Settings">What is to be done; its hash has been checked.</param>
/// <param name="Seed">The seed of the documents.</param>
public sealed record AgentClaim(string Plan, ClientPart Part, RunSettings Settings, ulong Seed);

/// <summary>
/// Plans that wait for agents, in a collection of ours on some MongoDB: who does which part, who has come how far, and what they measured.
/// </summary>
/// <remarks>
/// All times are that server's. Every command may be sent twice: where a connection broke nobody knows whether it was carried out. Safe for
/// several threads; while the server is away a command is tried again for a minute.
/// </remarks>
public sealed class Coordinator : IDisposable
{
    public const string Free = "free";
    public const string Claimed = "claimed";
    public const string Ended = "ended";

    /// <summary>What others wrote is not read beyond.</summary>
    private const int MostSettings = 8 << 20;
    private const long MostFile = 4L << 30;
    private const int MostText = 500;
    private const int ChunkSize = 255 * 1024;
    private const int Format = 1;
    private const string Agents = "agents";
    private const string Files = "agents.files";
    private const string Chunks = "agents.chunks";
    private static readonly string[] Collections = [Agents, Files, Chunks];

    /// <summary>A plan whose starter was not heard of for longer is nobody's any more.</summary>
    private static readonly TimeSpan KeepFor = TimeSpan.FromDays(30);

    /// <summary>What one agent was told, the others must find, even if the coordinator is killed in between.</summary>
    private static readonly BsonDocument Safe = BsonDocument.Of(("w", "majority"), ("j", true));
    private static readonly TimeSpan TryFor = TimeSpan.FromSeconds(60);

    private readonly Lock _lock = new();
    private readonly ServerDirectory _servers;
    private readonly ConnectionSettings _settings;
    private readonly string _database;
    private readonly CancellationToken _stop;
    private readonly Dictionary<string, (long Seen, long At)> _heard = [];
    private readonly HashSet<string> _refused = [];
    private volatile bool _isOwn;
    private MongoConnection? _connection;

    /// <param name="uri">Whole, with its secrets.</param>
    /// <param name="stop">Ends every wait for the server.</param>
    public Coordinator(string uri, CancellationToken stop)
    {
        (IReadOnlyList<ServerAddress> hosts, ConnectionSettings settings) = ServerUri.Read(uri, EngineKind.Wire, stop);
        _settings = settings with { ConnectTimeout = TimeSpan.FromSeconds(5), ReplyTimeout = TimeSpan.FromSeconds(30) };
        _servers = new ServerDirectory(hosts, _settings);
        _database = "mongoperf";
        _stop = stop;
        Hosts = hosts;
    }

    /// <summary>The most agents that share one plan.</summary>
    public const int MostAgents = 1000;

    /// <summary>How often agents say that they live: every five seconds, unless a test has shorter leases.</summary>
    public static double SaySeconds => LeaseKeeper.Length.TotalSeconds / 6;

    /// <summary>An agent that was silent for longer counts as lost.</summary>
    public static double LostAfterSeconds => 4 * SaySeconds;

    public IReadOnlyList<ServerAddress> Hosts { get; }

    /// <summary>The last <see cref="TryClaim"/> found a plan of which an agent of this name, who is heard of, has a part.</summary>
    public bool IsNameTaken { get; private set; }

    public static string AwayBecause(Exception e) => $"the coordinator can't be reached: {Masking.Shown(e.Message).Split('\n')[0]}";

    /// <summary>Offers a plan to agents.</summary>
    /// <returns>Its id.</returns>
    public string Offer(RunSettings settings, ulong seed, int count)
    {
        string id = Convert.ToHexStringLower(SystemRandom.GetBytes(12));
        string text = settings.ToJson();
        MarkOwn();
        RemoveOld();
        // Parts first: a plan that can be seen is whole.
        for (int number = 1; number <= count; number++)
            Put(BsonDocument.Of(
                ("_id", PartId(id, number)), ("kind", "part"), ("plan", id), ("number", number), ("state", Free), ("position", 0L)));
        Put(BsonDocument.Of(
            ("_id", id), ("kind", "plan"), ("format", Format), ("program", ThisBuild.Version), ("count", count),
            ("seed", seed.ToString()), ("settings", text),
            ("hash", Hash(text, seed, count)), ("open", true), ("seen", Time(ReadTime()))));
        return id;
    }

    /// <summary>
    /// Marks the collections before they exist, as those of runs are: one that a crash left without its marker would be refused
    /// as somebody else's.
    /// </summary>
    /// <exception cref="UserException">One of them is somebody else's (6); nothing was written.</exception>
    private void MarkOwn()
    {
        RequireOwn();
        if (_isOwn)
            return;
        foreach (string name in Collections)
            Send(Upsert(WireCollection.MarkerCollection, BsonDocument.Of(("_id", name), ("program", WireCollection.CoordinatorProgram))));
        _isOwn = true;
    }

    /// <summary>
    /// Makes sure before anything is written that the collections are a coordinator's: what carries no such marker is somebody else's, even
    /// if it is a run's.
    /// </summary>
    private void RequireOwn()
    {
        if (_isOwn)
            return;
        HashSet<string?> marked =
        [
            .. Find(BsonDocument.Of(("_id", BsonDocument.Of(("$in", Collections))), ("program", WireCollection.CoordinatorProgram)),
                WireCollection.MarkerCollection).Select(marker => marker.FindString("_id")),
        ];
        if (Collections.FirstOrDefault(name =>
            !marked.Contains(name) && WithConnection(connection => WireCollection.Exists(connection, _database, name))) is { } foreign)
        {
            throw new UserException(
                ExitCode.Refused,
                $"{_database}.{foreign} at {Hosts[0]} was not created by a coordinator of MongoPerf; nothing was written or deleted",
                "name another MongoDB as the coordinator, or drop the collection if you no longer need it");
        }

        _isOwn = Collections.All(marked.Contains);
    }

    private void RemoveOld()
    {
        foreach (BsonDocument old in Find(
            BsonDocument.Of(("kind", "plan"), ("seen", BsonDocument.Of(("$lt", Time(ReadTime() - (long)KeepFor.TotalMilliseconds)))))))
            Close(old.FindString("_id") ?? "", isDone: true);
    }

    /// <summary>Offers a plan again of which not all was done: its agents keep their parts.</summary>
    /// <exception cref="UserException">The coordinator does not know it any more.</exception>
    public void Reopen(string plan)
    {
        if (FindOne(plan) is null)
            throw new UserException(ExitCode.WrongUsage, "the coordinator no longer has this plan", "start it again");
        Delete(Agents, BsonDocument.Of(("kind", "start"), ("plan", plan)));
        Update(BsonDocument.Of(("kind", "part"), ("plan", plan)), BsonDocument.Of(
            ("$set", BsonDocument.Of(("state", Free), ("position", 0L))),
            ("$unset", BsonDocument.Of(("why", ""), ("stop", ""), ("prepared", "")))));
        Update(BsonDocument.Of(("_id", plan)), BsonDocument.Of(("$set", BsonDocument.Of(("open", true), ("seen", Time(ReadTime()))))));
    }

    /// <summary>Takes the part that has this name, or one that nobody has, of a plan whose starter is there.</summary>
    /// <param name="name">The name of the agent.</param>
    /// <param name="number">The only part that it may take; null for any.</param>
    /// <param name="isAgain">The agent has had that part before.</param>
    /// <returns>Null while there is none.</returns>
    /// <exception cref="UserException">What is offered is no plan of this program; it is passed over from then on.</exception>
    public AgentClaim? TryClaim(string name, int? number, out bool isAgain)
    {
        isAgain = IsNameTaken = false;
        long now = ReadTime();
        BsonDocument open = BsonDocument.Of(
            ("kind", "plan"), ("open", true), ("seen", BsonDocument.Of(("$gte", Time(now - (long)(LostAfterSeconds * 1000))))));
        foreach (BsonDocument plan in Find(open))
        {
            RequireOwn();
            string id = plan.FindString("_id") ?? "";
            if (!_refused.Add(id))
                continue;
            (RunSettings settings, ulong seed, int count) = Read(plan);
            _refused.Remove(id);
            BsonDocument taken = Set(("name", name), ("state", Claimed), ("seen", Time(now)));
            BsonDocument? part;
            if (Find(BsonDocument.Of(("kind", "part"), ("plan", id), ("name", name))) is [var known, ..])
            {
                // An agent that came back. Two of one name would do one part twice: who has it is heard of.
                bool isSilent = now - (known.FindInt64("seen") ?? 0) > LostAfterSeconds * 1000;
                bool isOpen = Text(known, "state") == Free || (Text(known, "state") == Claimed && isSilent);
                IsNameTaken = Text(known, "state") == Claimed && !isSilent;
                part = isOpen ? Modify(
                    BsonDocument.Of(("_id", known.Find("_id")), ("state", known.Find("state")), ("seen", known.Find("seen"))),
                    taken) : null;
                isAgain = part is not null;
            }
            else
            {
                (string, object?)[] own = number is { } only ? [("number", only)] : [];
                part = Modify(BsonDocument.Of(
                    [("kind", "part"), ("plan", id), ("name", BsonDocument.Of(("$exists", false))), ("state", Free), .. own]), taken);
                IsNameTaken = part is not null && GivesWay(part, id, name);
                part = IsNameTaken ? null : part;
            }

            if (part?.FindInt64("number") is { } mine && mine >= 1 && mine <= count)
                return new AgentClaim(id, new ClientPart(id, name, (int)mine, count), settings, seed);
        }

        return null;
    }

    /// <summary>Gives the part back if another agent of the same name came at the same time and took a lower one.</summary>
    private bool GivesWay(BsonDocument part, string plan, string name)
    {
        if (Find(BsonDocument.Of(("kind", "part"), ("plan", plan), ("name", name)))
            .Min(other => other.FindInt64("number")) == part.FindInt64("number"))
            return false;
        Update(BsonDocument.Of(("_id", part.Find("_id"))),
            BsonDocument.Of(("$set", BsonDocument.Of(("state", Free))), ("$unset", BsonDocument.Of(("name", ""), ("seen", "")))));
        return true;
    }

    /// <summary>The parts of a plan, by number.</summary>
    public IReadOnlyList<AgentState> ReadParts(string plan, out string? stop)
    {
        IReadOnlyList<BsonDocument> found = Find(BsonDocument.Of(("kind", "part"), ("plan", plan)));
        stop = found.Select(part => Text(part, "stop")).FirstOrDefault(text => text is not null);
        return
        [
            .. found.Select(part => new AgentState(
                (int)(part.FindInt64("number") ?? 0), Text(part, "name"), Text(part, "state") ?? Free, part.FindInt64("position") ?? 0,
                SilentSeconds(part), Text(part, "why"),
                part.FindDocument("ready") is { } ready ? ReadReadiness(ready) : null)).OrderBy(part => part.Number),
        ];
    }

    /// <summary>Nobody hears of the command that offered the plan: who has not taken a part by now won't.</summary>
    public bool IsStarterGone(string plan) => FindOne(plan) is not { } found || SilentSeconds(found) > LostAfterSeconds;

    /// <summary>Nobody else takes a part of a plan.</summary>
    public void Withdraw(string plan) => Update(BsonDocument.Of(("_id", plan)), Set(("open", false)));

    /// <summary>
    /// Tells for how long a sign of life has been the same, by this machine's time: that a server's clock is set makes nobody lost.
    /// </summary>
    private double SilentSeconds(BsonDocument document)
    {
        string id = document.FindString("_id") ?? "";
        long seen = document.FindInt64("seen") ?? 0;
        long now = Environment.TickCount64;
        lock (_heard)
        {
            if (!_heard.TryGetValue(id, out (long Seen, long At) last) || last.Seen != seen)
                _heard[id] = last = (seen, now);
            return (now - last.At) / 1000.0;
        }
    }

    /// <summary>Says that the agent lives.</summary>
    /// <returns>Why it is to stop; null while it is not.</returns>
    public string? Say(AgentClaim claim) => Modify(OwnPart(claim), Set(("seen", Time(ReadTime())))) is { } part
        ? Text(part, "stop")
        : "the coordinator does not know the plan any more";

    public void SayStarter(string plan) => Update(BsonDocument.Of(("_id", plan)), Set(("seen", Time(ReadTime()))));

    /// <summary>Ends what all agents of a plan do.</summary>
    public void Stop(string plan, string why) => Update(BsonDocument.Of(("kind", "part"), ("plan", plan)), Set(("stop", why)));

    /// <param name="claim">The claim of the agent.</param>
    /// <param name="position">The position to which it has come.</param>
    /// <param name="ready">Null says nothing.</param>
    public void SetPosition(AgentClaim claim, long position, AgentReadiness? ready)
    {
        (string, object?)[] measured = ready is { Clock: { } clock }
            ? [("ready", BsonDocument.Of(("roundTrip", (long)Math.Ceiling(ready.RoundTripMilliseconds)), ("machine", ready.Machine),
                ("offset", clock.OffsetMilliseconds), ("uncertainty", clock.UncertaintyMilliseconds)))]
            : [];
        Update(OwnPart(claim), Set([("position", position), ("seen", Time(ReadTime())), .. measured]));
    }

    public double MeasureRoundTrip(IClock clock)
    {
        long asked = clock.Now;
        ReadTime();
        return clock.SecondsBetween(asked, clock.Now) * 1000;
    }

    /// <summary>Ends an agent's part.</summary>
    /// <param name="claim">The claim of the agent.</param>
    /// <param name="why">Null when all of it was done.</param>
    public void End(AgentClaim claim, string? why) =>
        Update(OwnPart(claim), why is null ? Set(("state", Ended), ("position", long.MaxValue)) : Set(("state", Ended), ("why", why)));

    /// <summary>What the first agent found and the others need.</summary>
    public void Publish(AgentClaim claim, string text) => Update(BsonDocument.Of(("_id", PartId(claim.Plan, 1))), Set(("prepared", text)));

    public string? FindPublished(AgentClaim claim) => FindOne(PartId(claim.Plan, 1))?.FindString("prepared");

    /// <summary>When all agents begin: the first that asks says so.</summary>
    /// <returns>The server's time, milliseconds.</returns>
    public long AgreeOnStart(AgentClaim claim, long position, double leadMilliseconds)
    {
        string id = $"{claim.Plan}/start/{position}";
        if (FindOne(id) is { } said)
            return said.FindInt64("at") ?? 0;
        try
        {
            Run(BsonDocument.Of(
                ("findAndModify", Agents), ("query", BsonDocument.Of(("_id", id))), ("upsert", true), ("new", true), ("writeConcern", Safe),
                ("update", BsonDocument.Of(("$setOnInsert",
                    BsonDocument.Of(("kind", "start"), ("plan", claim.Plan), ("at", Time(ReadTime() + (long)leadMilliseconds))))))));
        }
        catch (ServerCommandException e) when (e.Code == ServerError.DuplicateKey)
        {
            // Two said so at once: the other was first.
        }

        return FindOne(id)?.FindInt64("at") ?? 0;
    }

    public ClientClock CompareClock(IClock clock) => WithConnection(connection => ServerClock.Compare(connection, clock));

    /// <summary>Stores an agent's run, as GridFS lays files out.</summary>
    public void Upload(AgentClaim claim, string file)
    {
        string id = PartId(claim.Plan, claim.Part.Number);
        using FileStream stream = File.OpenRead(file);
        byte[] buffer = new byte[ChunkSize];
        int number = 0;
        for (int length; (length = stream.ReadAtLeast(buffer, ChunkSize, throwOnEndOfStream: false)) > 0; number++)
            Put(BsonDocument.Of(("_id", $"{id}/{number}"), ("files_id", id), ("n", number), ("data", buffer[..length])), Chunks);
        Put(BsonDocument.Of(("_id", id), ("filename", "run.db"), ("length", stream.Length), ("chunkSize", ChunkSize), ("plan", claim.Plan),
            ("uploadDate", Time(ReadTime()))), Files);
    }

    /// <returns>False when the agent stored none, or not all of it.</returns>
    public bool TryDownload(string plan, int number, string file)
    {
        string id = PartId(plan, number);
        if (FindOne(id, Files)?.FindInt64("length") is not ({ } length and > 0 and <= MostFile))
            return false;
        OwnFiles.CreateFile(file);
        using FileStream stream = File.OpenWrite(file);
        for (long chunk = 0; stream.Position < length; chunk++)
        {
            if (FindOne($"{id}/{chunk}", Chunks)?.Find("data") is not { Type: BsonType.Binary } data
                || data.ToBinary() is not { Length: > 0 and <= ChunkSize } bytes)
                return false;
            stream.Write(bytes.Span);
        }

        return stream.Position == length;
    }

    /// <summary>Takes a plan back.</summary>
    /// <param name="plan">Its id.</param>
    /// <param name="isDone">Nothing of it is needed any more; otherwise it can be offered again.</param>
    public void Close(string plan, bool isDone)
    {
        Withdraw(plan);
        for (int number = 1; number <= MostAgents && FindOne(PartId(plan, number)) is not null; number++)
            Delete(Chunks, BsonDocument.Of(("files_id", PartId(plan, number))));
        Delete(Files, BsonDocument.Of(("plan", plan)));
        if (!isDone)
            return;
        Delete(Agents, BsonDocument.Of(("plan", plan)));
        Delete(Agents, BsonDocument.Of(("_id", plan)));
    }

    public void Dispose() => _connection?.Dispose();

    private static (RunSettings Settings, ulong Seed, int Count) Read(BsonDocument plan)
    {
        string text = plan.FindString("settings") ?? "";
        int count = (int)Math.Clamp(plan.FindInt64("count") ?? 0, 0, int.MaxValue);
        if (plan.FindString("program") is var program && program != ThisBuild.Version)
            throw new UserException(
                ExitCode.WrongUsage,
                $"the plan was made by MongoPerf {ForeignText.OneLine(program ?? "?", 60)}; this is {ThisBuild.Version}",
                "the agents and the command that offers the plan must be the same version");
        if (text.Length is 0 or > MostSettings || count is < 1 or > MostAgents || !ulong.TryParse(plan.FindString("seed"), out ulong seed)
            || plan.FindString("hash") != Hash(text, seed, count))
            throw new UserException(ExitCode.WrongUsage, "the coordinator's plan is incomplete or damaged: its hash does not match",
                "something else writes to the coordinator's collection, or it is damaged");
        try
        {
            return (RunSettings.FromJson(text), seed, count);
        }
        catch (System.Text.Json.JsonException e)
        {
            throw new UserException(ExitCode.WrongUsage, $"what the coordinator offers is not a plan: {e.Message}");
        }
    }

    /// <summary>A clock that was not told says nothing.</summary>
    private AgentReadiness ReadReadiness(BsonDocument ready)
    {
        (double Offset, double Uncertainty) clock = ready.FindDouble("offset") is { } offset && double.IsFinite(offset)
            && ready.FindDouble("uncertainty") is >= 0 and var uncertainty ? (offset, uncertainty) : (0, double.PositiveInfinity);
        return new AgentReadiness(Math.Clamp(ready.FindInt64("roundTrip") ?? 0, 0, 1000), Text(ready, "machine") ?? "",
            new ClientClock(Hosts[0].ToString(), clock.Offset, clock.Uncertainty));
    }

    private static string Hash(string settings, ulong seed, int count) =>
        Sha256.Hex($"{count}/{seed}/{settings}");

    private static string PartId(string plan, int number) => $"{plan}/{number}";

    private static BsonDocument OwnPart(AgentClaim claim) => BsonDocument.Of(("_id", PartId(claim.Plan, claim.Part.Number)));

    private static BsonDocument Set(params (string Name, object? Value)[] values) => BsonDocument.Of(("$set", BsonDocument.Of(values)));

    private static DateTime Time(long milliseconds) => DateTimeOffset.FromUnixTimeMilliseconds(milliseconds).UtcDateTime;

    private static string? Text(BsonDocument document, string field) =>
        document.FindString(field) is { } text ? ForeignText.OneLine(text, MostText) : null;

    private long ReadTime() => WithConnection(ServerClock.ReadTime);

    /// <summary>Stores a document in place of one of the same _id.</summary>
    private void Put(BsonDocument document, string collection = Agents) => Run(Upsert(collection, document));

    private static BsonDocument Upsert(string collection, BsonDocument document) => BsonDocument.Of(
        ("update", collection),
        ("updates", new[] { BsonDocument.Of(("q", BsonDocument.Of(("_id", document.Find("_id")))), ("u", document), ("upsert", true)) }),
        ("writeConcern", Safe));

    private void Update(BsonDocument filter, BsonDocument change) => Run(BsonDocument.Of(
        ("update", Agents), ("updates", new[] { BsonDocument.Of(("q", filter), ("u", change), ("multi", true)) }), ("writeConcern", Safe)));

    private void Delete(string collection, BsonDocument filter) =>
        Run(BsonDocument.Of(("delete", collection), ("deletes", new[] { BsonDocument.Of(("q", filter), ("limit", 0)) })));

    /// <returns>The document as it is then; null when there is none.</returns>
    private BsonDocument? Modify(BsonDocument filter, BsonDocument change) =>
        Run(BsonDocument.Of(("findAndModify", Agents), ("query", filter), ("update", change), ("new", true), ("writeConcern", Safe)))
            .FindDocument("value");

    private BsonDocument? FindOne(string id, string collection = Agents) =>
        Find(BsonDocument.Of(("_id", id)), collection) is [var found, ..] ? found : null;

    private IReadOnlyList<BsonDocument> Find(BsonDocument filter, string collection = Agents) => WithConnection(connection =>
        (IReadOnlyList<BsonDocument>)[.. connection.RunCursor(
            _database, BsonDocument.Of(("find", collection), ("filter", filter), ("limit", MostAgents)))]);

    private BsonDocument Run(BsonDocument command)
    {
        RequireOwn();
        return Send(command);
    }

    private BsonDocument Send(BsonDocument command) => WithConnection(connection =>
    {
        BsonDocument reply = connection.RunCommand(_database, command);
        return reply.FindDocument("writeErrors.0") is { } wrong
            ? throw new ServerCommandException(command.First().Key, ServerError.From(wrong))
            : reply;
    });

    private T WithConnection<T>(Func<MongoConnection, T> use)
    {
        long giveUpAt = Environment.TickCount64 + (long)TryFor.TotalMilliseconds;
        for (int wait = 50; ; wait = Math.Min(2000, wait * 2))
        {
            try
            {
                lock (_lock)
                    return use(_connection ??= MongoConnection.Open(_servers.Select(ReadPreference.Primary, 0), _settings));
            }
            catch (Exception e) when (ErrorTally.IsServerAway(e) && Environment.TickCount64 < giveUpAt && !_stop.IsCancellationRequested)
            {
                lock (_lock)
                {
                    _connection?.Dispose();
                    _connection = null;
                }

                _stop.WaitHandle.WaitOne(wait);
            }
        }
    }
}
