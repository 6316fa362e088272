using MongoPerf.Reports.Figures;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Every key of the scenario language, with what it takes and what it means: reader, messages and JSON Schema go by it.</summary>
internal static class ScenarioLanguage
{
    public static IReadOnlyList<string> ReadConcerns { get; } = ["local", "available", "majority", "linearizable", "snapshot"];

    public static IReadOnlyList<string> ReadPreferences { get; } =
    [
        "primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest",
    ];

    public static KeySet WriteConcern { get; } = new("writeConcern", "How safe a write is.",
    [
        new("w", KeyKind.Text, "Members that acknowledge: a count, or majority. 0 sends and waits for nothing."),
        new("j", KeyKind.Flag, "Waits for the journal."),
        new("wtimeout", KeyKind.Count, "Milliseconds to wait for the members."),
    ]);

    private static readonly Key WriteConcernKey = new("writeConcern", KeyKind.Mapping, "How safe its writes are.", WriteConcern);

    public static KeySet ReadPreference { get; } = new("readPreference", "Which members of a replica set reads go to.",
    [
        new("mode", KeyKind.Text, "The primary, the secondaries, or the nearest of all.") { Allowed = ReadPreferences },
        new("tags", KeyKind.Documents,
            "Sets of tags such as {dc: ny}, tried in order until a member has all tags of one; {} matches every member."),
        new("maxStalenessSeconds", KeyKind.Count, "Maximum replication lag of a secondary in seconds, 90 or more [default: no limit]."),
    ]);

    private static readonly Key[] ReadKeys =
    [
        new("readConcern", KeyKind.Text, "What its reads may see.") { Allowed = ReadConcerns },
        new(
            "readPreference",
            KeyKind.Mapping,
            "Which members of a replica set its reads go to: a mode, or a mode with conditions [default: the connection string's].",
            ReadPreference) { Allowed = ReadPreferences },
    ];

    public static KeySet Files { get; } = new("files", "The files of a GridFS bucket.",
    [
        new("count", KeyKind.Count, "Files to load, such as 1k; --scale multiplies it. 0 or nothing: none."),
        new("length", KeyKind.Size, "Bytes of each file, such as 1.04MB."),
        new("chunkSize", KeyKind.Size, "Bytes of a file in each chunk but its last [default: 255KB]."),
    ]);

    public static KeySet Zone { get; } = new("zone", "A range of a shard key that one shard holds.",
    [
        new("shard", KeyKind.Count, "The shard that holds it, from 1, in the order of their names."),
        new("from", KeyKind.Document, "Its lower bound, which belongs to it, such as {country: DE}, or a share of the documents, such as "
            + "40% [default: below every value]."),
        new("to", KeyKind.Document, "Its upper bound, which does not belong to it, or a share as above [default: above every value]."),
    ]);

    public static KeySet Collection { get; } = new("collection", "A collection that the scenario makes, a GridFS bucket, or existing data.",
    [
        new("count", KeyKind.Count, "Documents to load, such as 10M; --scale multiplies it. 0 or nothing: none; where the document is a "
            + "^file's row, nothing means all of its rows."),
        new("document", KeyKind.Document,
            "A document; values that start with ^ are generated from seed and number. Without an _id it gets an increasing ObjectId."),
        new("files", KeyKind.Mapping,
            "In place of count and document: it is a GridFS bucket of this name, with its two collections and their indexes.", Files),
        new("indexes", KeyKind.Documents,
            "Each a key such as {name: 1}, or {key: {name: 1}, unique: true, …}; created before the first document."),
        new("shardKey", KeyKind.Document, "Such as {_id: hashed}; used on a sharded deployment."),
        new("presplit", KeyKind.Count, "Chunks into which it is split, spread over the shards, while it is empty "
            + "[default: --presplit, or the server's choice]."),
        new("zones", KeyKind.Mappings, "Ranges of the shardKey that one shard each holds.", Zone),
        new("shard", KeyKind.Count, "In place of a shardKey: the only shard that holds it, from 1; used on a sharded deployment."),
        new("options", KeyKind.Document, "Of MongoDB's command create, such as {capped: true, size: 1000000}: capped, timeseries, "
            + "clusteredIndex, validator, collation; no views."),
        new("existing", KeyKind.Flag, "The collection exists, and its documents are only read: nothing is written to the deployment, "
            + "and no other key is allowed [default: false]."),
    ]);

    public static KeySet Defaults { get; } = new(
        "defaults", "Defaults for every operation that accepts them; an operation can override them.",
        [WriteConcernKey, .. ReadKeys, new("key", KeyKind.KeyChoice, "How an operation picks its document.")]);

    private static readonly Key KeyKey = new("key", KeyKind.KeyChoice,
        "How a document is drawn for ^key and ^field [default: uniform]; without a filter, the operation is about that one document.");

    /// <summary>Keys of every operation, whatever it does.</summary>
    private static readonly Key[] OperationKeys =
    [
        new("name", KeyKind.Text, "Its name in results [default: the kind]."),
        new("weight", KeyKind.Number, "Its share is this over the sum of all weights [default: 1]."),
        new("think", KeyKind.Value, "How long a thread waits after it, in place of the group's think; as there, or {fixed: 18s, mean: 12s} "
            + "for a fixed time plus a drawn one."),
        KeyKey,
    ];

    private static readonly Key FilterKey = new(
        "filter", KeyKind.Document, "Which documents, {} for all; ^key is the _id of the one drawn, ^field: NAME one of its fields.");
    private static readonly Key HintKey = new("hint", KeyKind.Value, "An index's name or key.");
    private static readonly Key SortKey = new("sort", KeyKind.Document, "Such as {date: -1}.");
    private static readonly Key ProjectionKey = new("projection", KeyKind.Document, "Fields to return.");
    private static readonly Key SkipKey = new("skip", KeyKind.Value, "Documents to skip first.");
    private static readonly Key LimitKey = new("limit", KeyKind.Value, "Documents at most.");
    private static readonly Key WithKey = new("with", KeyKind.Value, "Operators such as {$set: …}, or a pipeline (a list).");
    private static readonly Key ReplacementKey = WithKey with
    {
        Kind = KeyKind.Document, Description = "The new document [default: the collection's, with values drawn anew].",
    };
    private static readonly Key ManyKey = new(
        "many", KeyKind.Flag, "All documents that match the filter, not just the first [default: false].");
    private static readonly Key UpsertKey = new("upsert", KeyKind.Flag, "Insert if no document matches the filter [default: false].");
    private static readonly Key ArrayFiltersKey = new(
        "arrayFilters", KeyKind.Documents, "Which elements of arrays $[NAME] means, a condition for each NAME, such as [{item.count: 0}].");
    private static readonly Key CollationKey = new(
        "collation", KeyKind.Document, "How strings are compared and sorted, such as {locale: en, strength: 2}.");
    private static readonly Key LetKey = new("let", KeyKind.Document, "Variables for expressions, read as $$NAME.");
    private static readonly Key MaxTimeKey = new("maxTimeMS", KeyKind.Count, "Milliseconds that the server may work on it; then it fails.");
    private static readonly Key CommentKey = new("comment", KeyKind.Value, "What the server's log and profiler show of it.");
    private static readonly Key[] ReadOptions = [CollationKey, MaxTimeKey, CommentKey];
    private static readonly Key[] AllOptions = [CollationKey, LetKey, MaxTimeKey, CommentKey];
    private static readonly Key OrderedKey = new("ordered", KeyKind.Flag, "Stop at the first error [default: true].");
    private static readonly Key BatchKey = new(
        "batch", KeyKind.Count, "Documents per command [default: 1000, or fewer if they would not fit into one message].");

    public static IReadOnlyList<string> Sessions { get; } = ["causal"];

    public static IReadOnlyList<string> TransactionReadConcerns { get; } = ["local", "majority", "snapshot"];

    public static KeySet Transaction { get; } = new("transaction", "How it is begun and committed.",
    [
        new("readConcern", KeyKind.Text, "What it may see [default: the connection string's].") { Allowed = TransactionReadConcerns },
        new("writeConcern", KeyKind.Mapping, "How safe its commit is [default: the connection string's].", WriteConcern),
        new("maxCommitTimeMS", KeyKind.Count, "Milliseconds that the server may work on the commit."),
    ]);

    public static IReadOnlyList<string> FullDocuments { get; } = ["default", "updateLookup", "whenAvailable", "required"];

    /// <summary>What an operation may do: the key names it, its value the collection (or, for runCommand, the command).</summary>
    public static IReadOnlyList<KeySet> Operations { get; } =
    [
        Operation("insert", "Inserts one document.", [WriteConcernKey, MaxTimeKey, CommentKey]),
        Operation("insertMany", "Inserts a batch of documents.", [WriteConcernKey, BatchKey, OrderedKey, MaxTimeKey, CommentKey]),
        Operation("find", "Runs a query and reads all results.",
            [.. ReadKeys, FilterKey, ProjectionKey, SortKey, SkipKey, LimitKey, HintKey, new(
                "batchSize", KeyKind.Count, "Documents per reply."), .. AllOptions]),
        Operation("update", "Changes one document, or many.",
            [WriteConcernKey, FilterKey, WithKey, ManyKey, UpsertKey, ArrayFiltersKey, HintKey, .. AllOptions]),
        Operation("replace", "Replaces a whole document.",
            [WriteConcernKey, FilterKey, ReplacementKey, UpsertKey, HintKey, .. AllOptions]),
        Operation("delete", "Deletes one document, or many.", [WriteConcernKey, FilterKey, ManyKey, HintKey, .. AllOptions]),
        Operation("findAndModify", "Changes or removes one document and returns it.",
            [WriteConcernKey, FilterKey, SortKey, WithKey, new("remove", KeyKind.Flag, "Remove it instead of an update."),
                new("new", KeyKind.Flag, "Return it as it is afterwards."), UpsertKey, ArrayFiltersKey, ProjectionKey, HintKey,
                .. AllOptions]),
        Operation("readModifyWrite", "Finds a document and updates it, timed as one.",
            [WriteConcernKey, .. ReadKeys, FilterKey, ProjectionKey, WithKey, ArrayFiltersKey, HintKey, .. AllOptions]),
        Operation("steps", "Several operations on one connection, each with values from the replies before it; timed as a whole, and each "
            + "by itself.",
            [new("transaction", KeyKind.Flag, "The steps are a transaction, with retries as drivers do them; a mapping gives it options "
                + "[default: false].", Transaction),
                new("session", KeyKind.Text, "causal: reads see what the steps before them wrote and read, on any member.")
                {
                    Allowed = Sessions,
                }],
            KeyKind.Mappings),
        Operation("bulkWrite", "Writes several documents at once, timed as one: by the command bulkWrite of MongoDB 8.0, on servers "
            + "without it by an insert, update or delete for each run of the same kind.",
            [WriteConcernKey, OrderedKey, LetKey, MaxTimeKey, CommentKey], KeyKind.Mappings),
        Operation("upload", "Writes a file of a GridFS bucket: its chunks, then its document, timed as one.", [WriteConcernKey]),
        Operation("download", "Reads a file of a GridFS bucket whole, chunk by chunk, timed as one.", [.. ReadKeys]),
        Operation("count", "Counts documents.", [.. ReadKeys, FilterKey, SkipKey, LimitKey, HintKey, .. ReadOptions]),
        Operation("distinct", "Returns the different values of a field.",
            [.. ReadKeys, new("field", KeyKind.Text, "Its path."), FilterKey, HintKey with
            {
                Description = "An index's name or key (MongoDB 7.1 and later).",
            }, .. ReadOptions]),
        Operation("aggregate", "Runs a pipeline and reads all results.",
            [WriteConcernKey, .. ReadKeys, new("pipeline", KeyKind.Documents, "Its stages."), HintKey, new("allowDiskUse", KeyKind.Flag,
                "Large sorts may use the disk."), .. AllOptions]),
        new("watch", "Watches a collection in a group of its own: each event of its change stream counts, and its latency is the "
            + "delay from the acknowledgement of the write to the event.",
            [NamingKey("watch", KeyKind.Text), OperationKeys[0], ReadKeys[1],
                new("pipeline", KeyKind.Documents, "Stages for the events, such as [{$match: {operationType: insert}}]."),
                new("fullDocument", KeyKind.Text, "Which events of updates bring the whole document [default: none].")
                {
                    Allowed = FullDocuments,
                },
                new("batchSize", KeyKind.Count, "Events per reply at most."), CollationKey, CommentKey]),
        Operation("createIndexes", "Builds indexes.", [WriteConcernKey, new("indexes", KeyKind.Documents, "As in data."), CommentKey]),
        Operation("dropIndexes", "Drops an index, or all but _id.",
            [WriteConcernKey, new("index", KeyKind.Value, "Its name or key [default: all]."), CommentKey]),
        Operation("compact", "Returns free space in the collection's files to the system.",
            [new("force", KeyKind.Flag, "Also on a primary."), CommentKey]),
        Operation("validate", "Checks the collection and its indexes.", [new("full", KeyKind.Flag, "Every document too.")]),
        Operation("runCommand", "Any command; the value is the command itself.",
            [
                new("database", KeyKind.Text, "Where it runs, such as admin."),
                new("collection", KeyKind.Text, "For ^key and ^field: the collection that it is about."),
            ],
            KeyKind.Document),
    ];

    public static IReadOnlyList<string> OperationKinds { get; } = [.. Operations.Select(o => o.Name)];

    private static readonly Key IfKey = new("if", KeyKind.Value, "Skips the step unless this holds for what earlier steps returned: a "
        + "name such as order (it returned something), or conditions such as {order.total: {$gt: 100}}.");

    private static readonly Key[] StepKeys =
    [
        new("as", KeyKind.Text, "Names what the step returns, for later steps: {^from: NAME.field}. A find and an aggregate return their "
            + "documents, an insert those that it inserted, findAndModify its document, count a number, distinct its values, others "
            + "their reply."),
        IfKey,
        new("each", KeyKind.Text,
            "Path of an array that an earlier step returned: the step runs once for each element, {^from: each.field}."),
    ];

    /// <summary>A step that only waits.</summary>
    public static KeySet Think { get; } = new("think", "Waits before the next step.",
        [new("think", KeyKind.Value, "How long, such as 10ms; {mean: 10ms} draws the times (exponential)."), IfKey]);

    /// <summary>A step that draws values.</summary>
    public static KeySet Values { get; } = new("values", "Draws values for later steps.",
        [
            new("values", KeyKind.Document, "The values, by name: each is drawn once for an operation, however often later steps take it."),
            .. StepKeys.Select(key => key.Name == "as" ? key with { Description = "Names them: {^from: NAME.field}." } : key),
        ]);

    /// <summary>A step that ends the operation.</summary>
    public static KeySet Abort { get; } = new("abort", "Ends the operation on purpose: a transaction is aborted and not run again.",
        [
            new("abort", KeyKind.Flag, "true: no later step runs. The operation counts as done, not as failed."), IfKey,
        ]);

    /// <summary>Steps that send no command.</summary>
    public static IReadOnlyList<KeySet> SilentSteps { get; } = [Values, Abort, Think];

    private static readonly string[] StepKinds =
        ["insert", "insertMany", "find", "update", "replace", "delete", "findAndModify", "count", "distinct", "aggregate", "runCommand"];

    /// <summary>What a step may do: most operations, without a weight, and with values from earlier steps.</summary>
    public static IReadOnlyList<KeySet> Steps { get; } =
    [
        .. StepKinds.Select(kind => Operations.First(of => of.Name == kind)).Select(of => of with
        {
            Keys =
            [
                .. of.Keys.Where(key => key.Name is not ("weight" or "think")),
                .. of.Name is "insert" or "insertMany"
                    ? [new Key(
                        "with", KeyKind.Document, "Fields that replace, or are added to, those of the collection's document.")]
                    : (Key[])[],
                .. StepKeys,
            ],
        }),
    ];

    private static readonly Key TimesKey = new("times", KeyKind.Count, "How many of them, each drawn anew [default: 1].");

    /// <summary>What a bulk is made of.</summary>
    public static IReadOnlyList<KeySet> BulkWrites { get; } =
    [
        BulkWrite("insert", "Inserts documents.", []),
        BulkWrite("update", "Changes one document, or many.",
            [FilterKey, WithKey, ManyKey, UpsertKey, ArrayFiltersKey, HintKey, CollationKey, KeyKey]),
        BulkWrite("replace", "Replaces a whole document.",
            [FilterKey, ReplacementKey, UpsertKey, HintKey, CollationKey, KeyKey]),
        BulkWrite("delete", "Deletes one document, or many.", [FilterKey, ManyKey, HintKey, CollationKey, KeyKey]),
    ];

    private static readonly Key[] BalancerKeys =
    [
        new("balancer", KeyKind.Text, "Replaces operations: sets the balancer of a sharded deployment to on, off, or a time window "
            + "HH:MM-HH:MM; now opens a window that closes when all is balanced. When the run ends, the balancer is restored."),
        new("within", KeyKind.Duration,
            "Of a balancer: waits until the collections are balanced, but no longer [default: 10m with now, otherwise it does not wait]."),
    ];

    /// <summary>A part of how a rate, or the number of threads, changes within a phase.</summary>
    public static KeySet Piece { get; } = new("piece", "A step, or a ramp from one value to another.",
    [
        new("at", KeyKind.Number, "The value throughout."),
        new("from", KeyKind.Number, "The value at its start [default: where the one before ended]."),
        new("to", KeyKind.Number, "The value at its end."),
        new("for", KeyKind.Duration, "How long; the last may leave it out, and holds its end from there on."),
    ]);

    public static IReadOnlyList<string> ArrivalKinds { get; } = ["constant", "poisson"];

    private static readonly Key ArrivalsKey = new("arrivals", KeyKind.Text,
        "Of a rate: evenly spaced, or at random as of many independent users [default: constant].") { Allowed = ArrivalKinds };

    private static readonly Key ThinkKey = new("think", KeyKind.Value, "How long each thread waits between a reply and its next operation, "
        + "such as 10ms; {mean: 10ms} draws the times (exponential). Not with a rate.");

    public static KeySet Connections { get; } = new("connections", "How the threads get their connections: one of these.",
    [
        new("pool", KeyKind.Count, "How many connections the threads share; a thread waits until one is free, and the wait is part of "
            + "an operation's latency."),
        new("churn", KeyKind.Text, "How often, such as 50/s, an operation is due that connects, logs in, does its work and closes; "
            + "replaces a rate. Opening the connection is part of the operation's latency."),
        new("storm", KeyKind.Count, "How many connections are opened at once when the group begins, and again when they are lost; "
            + "replaces threads, as each has one."),
    ]);

    private static readonly Key ConnectionsKey = new("connections", KeyKind.Mapping,
        "How its threads get their connections [default: each keeps one of its own].", Connections);

    public static KeySet Group { get; } = new("group", "Threads with a workload of their own, beside other groups of the same phase.",
    [
        new("name", KeyKind.Text, "Its name in results."),
        new("threads", KeyKind.Course, "How many, or how they change over time [default: 1].", Piece),
        new("duration", KeyKind.Duration, "How long, warm-up included. A group without duration and count ends with the others."),
        new("count", KeyKind.Count, "Operations over all its threads; --scale multiplies it."),
        new("warmup", KeyKind.Duration, "Left out of its results."),
        new("rate", KeyKind.Course, "Operations per second over all its threads, or how they change over time; "
            + "response time then counts from when each is due [default: as fast as possible].", Piece),
        ArrivalsKey,
        ThinkKey,
        ConnectionsKey,
        new("after", KeyKind.Duration, "Delay between the start of the phase and the start of this group."),
        new("operations", KeyKind.Mappings, "What its threads do."),
        .. BalancerKeys,
    ]);

    public static IReadOnlyList<string> Restarts { get; } = ["none", "warm", "cold", "kill"];

    private static readonly Key[] PhaseKeys =
    [
        new("name", KeyKind.Text, "Its name in results."),
        new("description", KeyKind.Text, "A line for tables and lists."),
        new("create", KeyKind.Text, "The collection to create anew, empty and with its indexes, as one timed operation; "
            + "without such a phase it is created before the first one."),
        new("load", KeyKind.Text, "The collection to load; the phase then has no operations."),
        new("check", KeyKind.Text,
            "The collection in which every document that was written must be found; missing ones end the run with exit code 5."),
        new("checks", KeyKind.Value, "In a phase that does nothing else: runs the file's checks, all of them or those in a list of "
            + "names; violations end the run with exit code 5."),
        new("ranges", KeyKind.Flag,
            "Of a load: each thread writes a contiguous range of the documents, not whichever come next [default: false]."),
        new("lap", KeyKind.Count, "Lap length in documents of a load, or operations of a phase with a count, such as 10k: "
            + "each thread's time per lap is recorded; --scale multiplies it."),
        new("restart", KeyKind.Text, "Before it begins, the run's own server is stopped and started again; cold also drops its files "
            + "from the page cache, kill ends it with kill -9 [default: none].") { Allowed = Restarts },
        new("threads", KeyKind.Course,
            "How many; a list gives a result for each, a list of mappings says how they change over time [default: 1].", Piece),
        new("duration", KeyKind.Duration, "How long, warm-up included [default: 30s, unless count is given]."),
        new("count", KeyKind.Count, "Operations over all threads; --scale multiplies it."),
        new("warmup", KeyKind.Duration, "Left out of the results [default: a quarter of the duration, none with count]."),
        new("until", KeyKind.Text, "Ends as soon as a percentile of each operation is known to this precision, such as 'p99 ±2 %' (half "
            + "its 95 % interval); duration is then the longest it may take [default: 10m]."),
        new("rate", KeyKind.Course, "Operations per second over all threads; response time then counts from when each is due. "
            + "A list gives a result for each, a list of mappings says how it changes over time [default: as fast as possible].", Piece),
        ArrivalsKey,
        ThinkKey,
        ConnectionsKey,
        new("pause", KeyKind.Duration, "Pause before the phase begins."),
        new("repeat", KeyKind.Count, "Number of times to run the phase; each run gives a result."),
        BatchKey with
        {
            Description = "Of a load: documents per command [default: 1000, or fewer if they would not fit into one message].",
        },
        OrderedKey with { Description = "Of a load: stop at the first error [default: false]." },
        WriteConcernKey with { Description = "Of a load." },
        new("sizes", KeyKind.Value, "true records when the phase is over the sizes of the collections that its operations read or write "
            + "[default: true for a load]; "
            + "a collection's name, in a phase that does nothing else, records that one's. Of a growth: the sizes at which it stops, "
            + "such as [1M, 2M, 5M, 10M], in place of to and step."),
        new("explain", KeyKind.Flag, "Before it begins and when it is over, the server explains each of its finds, aggregations, "
            + "counts, distincts, updates and deletes; the results have the index and the documents examined "
            + "[default: true]."),
        new("assert", KeyKind.Texts, "What must be true of the results, such as 'read.p99 < 10ms'; if not, the exit code is 99."),
        new("operations", KeyKind.Mappings, "What its threads do."),
        .. BalancerKeys,
        new("groups", KeyKind.Mappings, "Several groups of threads at once; replaces threads and operations.", Group),
    ];

    /// <summary>A phase that runs at each size of a growth.</summary>
    public static KeySet Each { get; } = new("phase", "Holds a workload for a time or a count, or records sizes.", PhaseKeys);

    public static KeySet Write { get; } = new("write", "One way of writing in a growth.",
    [
        new("name", KeyKind.Text, "Its name in results."),
        new("description", KeyKind.Text, "A line for tables and lists."),
        new("share", KeyKind.Number, "Its share of each step's documents is this over the sum of all shares [default: 1]."),
        new("threads", KeyKind.Count, "How many [default: 1]."),
        BatchKey with { Description = "Documents per command [default: 1]." },
        OrderedKey,
        WriteConcernKey,
    ]);

    public static KeySet Phase { get; } = new("phase", "Creates, loads or grows a collection, or holds a workload for a time or a count.",
    [
        .. PhaseKeys,
        new("grow", KeyKind.Value, "The collection that grows to a target in steps; or several with a multiplier each, such as {users: 1, "
            + "orders: 5}: at size 1M, 1M users and 5M orders."),
        new("to", KeyKind.Count, "Of a growth: documents at the end; --target overrides it, --scale multiplies it."),
        new("step", KeyKind.Count,
            "Of a growth: documents per step; --step overrides it, --scale multiplies it [default: a tenth of the target, 1M at most]."),
        new("writes", KeyKind.Mappings, "Of a growth: how documents are written, each way with its share of a step [default: one, "
            + "in batches of 1000, or fewer if they would not fit into one message].", Write),
        new("beside", KeyKind.Mappings, "Of a growth: groups of threads that read and update while documents are written.", Group),
        new("each", KeyKind.Mappings, "Of a growth: the phases that run at each size.", Each),
    ]);

    private static readonly Key[] OtherServers =
    [
        new("configServers", KeyKind.Count, "Config servers of a sharded cluster, 1 to 3; --config-servers overrides it [default: 1]."),
        new("arbiter", KeyKind.Flag,
            "Whether each replica set of 2 members has an arbiter beside them; --arbiter adds one [default: false]."),
    ];

    public static KeySet Cluster { get; } = new("cluster", "A sharded cluster that is started for the run.",
    [
        new("shards", KeyKind.Count, "How many; --shards overrides it."),
        new("members", KeyKind.Count, "Of each shard's replica set; --members overrides it [default: 1]."),
        .. OtherServers,
    ]);

    public static IReadOnlyList<string> Topologies { get; } = ["standalone", "replicaset", "sharded"];

    public static IReadOnlyList<string> Switch { get; } = ["on", "off"];

    public static KeySet Deployment { get; } = new("deployment", "A deployment that the scenario is run on.",
    [
        new("topology", KeyKind.Text, "One server, a replica set, or a sharded cluster [default: sharded with shards, "
            + "replicaset with members alone, else standalone].") { Allowed = Topologies },
        new("shards", KeyKind.Count, "How many; --shards overrides it."),
        new("members", KeyKind.Count,
            "Of each shard's replica set, or of the one; --members overrides it [default: 1 of a shard, 3 of a replica set]."),
        .. OtherServers,
        new("cache", KeyKind.Size,
            "Cache limit of each server, 64MB at least; --scale multiplies it, --cache overrides it [default: the server's own]."),
        new("memory", KeyKind.SizeOrNone, "Limit of each server's memory by the system, page cache included, or none; "
            + "--scale multiplies it down to 512MB, --memory-limit overrides it."),
        new("cpus", KeyKind.Count, "How many of the machine's CPUs each server may use; --cpus overrides it [default: all]."),
        new("tls", KeyKind.Text, "Whether servers take TLS connections only; --tls overrides it [default: off].") { Allowed = Switch },
        new("auth", KeyKind.Text, "Whether clients log in; --auth overrides it [default: off].") { Allowed = Switch },
        new("set", KeyKind.NamedMappings, "Values of parameters on this deployment; --set overrides them."),
    ]);

    /// <summary>A condition that the data must meet.</summary>
    public static KeySet Check { get; } = new("check", "A condition that the data must meet: an aggregation that must find nothing.",
    [
        new("name", KeyKind.Text, "What must hold, as a name for results and messages."),
        new("aggregate", KeyKind.Text, "The collection."),
        new("pipeline", KeyKind.Documents, "Its stages, without generated values: what they find violates the condition."),
        new("allowDiskUse", KeyKind.Flag, "Large sorts may use the disk."),
    ]);

    public static KeySet File { get; } = new("scenario", "A workload for MongoPerf.",
    [
        new("description", KeyKind.Text, "A sentence for lists and reports."),
        new("parameters", KeyKind.NamedMappings, "Values used as $(name), parts of them as $(name.part). A list, or a mapping of named "
            + "values, gives a result for each; --set name=value overrides one."),
        new("cluster", KeyKind.Mapping, "The cluster that it runs on, unless --uri, --cluster or --topology names a deployment.", Cluster),
        new("deployments", KeyKind.NamedMappings, "What it runs on, one after the other, by name; then they are compared. Not with --uri, "
            + "--cluster or --topology; --deployment picks some.", Deployment),
        new("data", KeyKind.NamedMappings, "The collections, by name.", Collection),
        new("defaults", KeyKind.Mapping, "Defaults for all operations; an operation can override them.", Defaults),
        new("maxErrors", KeyKind.Count, "Failed operations allowed before the exit code is 4 [default: 0]."),
        new("maxSkipped", KeyKind.Text,
            "Arrivals of a rate that may be skipped before the exit code is 4: a number, or a share such as 1% [default: 0]."),
        new("scalable", KeyKind.Flag, "false refuses --scale: what is done depends on the counts [default: true]."),
        new("onlyMongoDb", KeyKind.Flag,
            "true refuses the embedded and the null server: its result is to hold for MongoDB [default: false]."),
        new("mayWrite", KeyKind.Texts, "What its operations may write that the run does not create: DB.COLL, "
            + "DB.* for a whole database, or server for commands that act on all of it. --may-write must confirm each."),
        new("phases", KeyKind.Mappings, "What is done, one after the other.", Phase),
        new("checks", KeyKind.Mappings, "Conditions that the data must meet when the last phase is over, and wherever a phase asks "
            + "for them: violations end the run with exit code 5.", Check),
        new("figures", KeyKind.Mappings, "Additional charts for the report, placed before the standard ones.", FigureLanguage.Figure),
        new("tables", KeyKind.Mappings, "Additional tables for the report, placed before the standard ones.", FigureLanguage.Table),
    ]);

    private static KeySet Operation(string kind, string description, Key[] keys, KeyKind value = KeyKind.Text) => new(
        kind, description, [NamingKey(kind, value), .. keys, .. value == KeyKind.Mappings ? OperationKeys[..3] : OperationKeys]);

    private static KeySet BulkWrite(string kind, string description, Key[] keys) =>
        new(kind, description, [NamingKey(kind, KeyKind.Text), .. keys, TimesKey]);

    /// <summary>The key that says what is done, and to what.</summary>
    private static Key NamingKey(string kind, KeyKind value) => value switch
    {
        KeyKind.Text => new Key(kind, value, "The collection."),
        KeyKind.Mappings when kind == "steps" => new Key(kind, value, "The steps, in their order.") { Items = "step" },
        KeyKind.Mappings => new Key(kind, value, "The writes, in their order.") { Items = "write" },
        _ => new Key(kind, value, "The command, its name first."),
    };
}
