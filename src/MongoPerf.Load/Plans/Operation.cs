using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Plans;

/// <summary>How safe a write is and where a read goes; null leaves it to the server.</summary>
public sealed record OperationConcerns
{
    public static OperationConcerns Default { get; } = new();

    /// <summary>The write concern, such as {w: 1, j: true}; w: 0 sends and waits for nothing.</summary>
    public BsonDocument? WriteConcern { get; init; }

    /// <summary>local, majority and so on.</summary>
    public string? ReadConcern { get; init; }

    public ReadPreference? ReadPreference { get; init; }

    /// <summary>The same with reads that go to other members.</summary>
    /// <param name="mode">The mode as the wire spells it.</param>
    /// <param name="tagSets">What <see cref="Wire.Connections.ReadPreference.TagSets"/> has.</param>
    /// <param name="maxStalenessSeconds">What <see cref="Wire.Connections.ReadPreference.MaxStalenessSeconds"/> has.</param>
    public OperationConcerns Preferring(
        string mode, IReadOnlyList<IReadOnlyDictionary<string, string>>? tagSets = null, int? maxStalenessSeconds = null) =>
        this with { ReadPreference = Wire.Connections.ReadPreference.Of(mode) with
        {
            TagSets = tagSets ?? [], MaxStalenessSeconds = maxStalenessSeconds,
        } };

    public bool IsUnacknowledged => WriteConcern?.FindInt64("w") == 0;
}

/// <summary>What MongoDB takes beside most commands; null leaves it out.</summary>
public sealed record CommandOptions
{
    public static CommandOptions None { get; } = new();

    /// <summary>How strings are compared and sorted, such as {locale: en, strength: 2}.</summary>
    public BsonDocument? Collation { get; init; }

    /// <summary>Variables of the command's expressions.</summary>
    public DocumentValue? Let { get; init; }

    /// <summary>How long the server may work on it.</summary>
    public int? MaxMilliseconds { get; init; }

    /// <summary>What the server's log, profiler and currentOp show of it.</summary>
    public LiteralValue? Comment { get; init; }
}

/// <summary>
/// What is done to a collection, in words that any executor can follow: one command and its reply, with values that are
/// drawn anew each time.
/// </summary>
/// <param name="Name">What it is called in results, such as read or update.</param>
/// <param name="Collection">Its name; of an administrative command maybe empty.</param>
public abstract record Operation(string Name, string Collection)
{
    /// <summary>Documents that a reply must have to count as full; 0 when any number will do.</summary>
    public virtual int FullReply => 0;

    /// <summary>It adds documents.</summary>
    public virtual bool Inserts => false;

    public virtual int DocumentsPerCommand => 1;

    /// <summary>Which documents it is about; null when it is about none.</summary>
    public KeyChoice? Choice { get; init; }

    /// <summary>Draws the number of the document that each operation is about, once its phase begins; null when there is none.</summary>
    public KeyChooser? Chooser { get; init; }

    /// <summary>How long a thread waits after it, in place of its group's time; null for that.</summary>
    public ThinkTime? Think { get; init; }

    public OperationConcerns Concerns { get; init; } = OperationConcerns.Default;

    public CommandOptions Options { get; init; } = CommandOptions.None;

    /// <summary>
    /// Where an operation that inserts takes its numbers from when the phase has no source of them. Readers see what was acknowledged.
    /// </summary>
    public KeySpace? Keys { get; init; }

    /// <summary>
    /// The phase's writes to the collection: for those who watch it, and for writes that have numbers of their own. Null where there are
    /// neither.
    /// </summary>
    public TrackedWrites? Tracked { get; init; }

    /// <summary>The same operation where it is not known which documents are there: neither its reply nor its effect is checked.</summary>
    public virtual Operation Unchecked => this;

    /// <summary>It may take longer than a reply otherwise may, such as an index build.</summary>
    public virtual bool IsLong => false;

    /// <summary>It only reads, so that a secondary may answer it.</summary>
    public virtual bool IsRead => false;

    /// <summary>Where it goes: reads as they say, or else as usual; writes to the primary.</summary>
    public ReadPreference PreferenceOr(ReadPreference usual) => IsRead ? Concerns.ReadPreference ?? usual : ReadPreference.Primary;

    /// <summary>It changes what a collection holds.</summary>
    public virtual bool IsWrite => false;

    /// <summary>The collection that a write changes; empty where it may be any.</summary>
    public virtual string Written => Collection;

    /// <summary>
    /// The name in <see cref="Storage.MetricCatalogue.Server"/> of the server's count of such writes; null where the server has no count of
    /// its own.
    /// </summary>
    public virtual string? ServerCounter => null;

    /// <summary>Its replies tell whether it found any document.</summary>
    public virtual bool Finds => false;

    /// <summary>Its replies tell whether any document met its filter.</summary>
    public virtual bool Matches => false;

    /// <summary>Its replies tell whether it changed what it matched.</summary>
    public virtual bool Modifies => false;

    /// <summary>It takes documents away: how many are left the server must be asked.</summary>
    public virtual bool Removes => false;

    /// <summary>
    /// A router that is no mongos need not know it: in a sharded deployment those who hold the collection, or the config server, are told.
    /// </summary>
    public virtual bool IsForCluster => false;

    /// <summary>The commands that it is made of: itself, unless it is several.</summary>
    public virtual IReadOnlyList<Operation> Steps => [this];

    /// <summary>The operations that it is made of: itself, unless a file puts it together of others.</summary>
    public virtual IEnumerable<Operation> Leaves => [this];

    /// <summary>Whether it, or one that it is made of, inserts into a collection.</summary>
    public bool InsertsInto(string collection) => Leaves.Any(leaf => leaf.Inserts && leaf.Collection == collection);

    /// <summary>How many documents those of its leaves are about that are meant, all together.</summary>
    public virtual long DocumentsOf(Func<Operation, bool> isMeant) => Leaves.Where(isMeant).Sum(leaf => (long)leaf.DocumentsPerCommand);

    /// <summary>Names of the steps that are timed by themselves, each once; empty for an operation without steps.</summary>
    public virtual IReadOnlyList<string> TimedSteps => [];

    /// <summary>The same with each operation that it is made of changed.</summary>
    public virtual Operation Each(Func<Operation, Operation> change) => change(this);

    /// <summary>MongoDB's command, its name first, without <c>$db</c>.</summary>
    public abstract DocumentValue ToCommand();

    /// <summary>The command's elements as they are collected.</summary>
    private protected CommandBuilder Command(string name) => new CommandBuilder().AddLiteral(name, Collection);
}

/// <summary>Puts the elements of a command together; what is null is left out.</summary>
public sealed class CommandBuilder
{
    private readonly List<KeyValuePair<string, TemplateValue>> _elements = [];

    public CommandBuilder Add(string name, TemplateValue? value)
    {
        if (value is not null)
            _elements.Add(new(name, value));
        return this;
    }

    public CommandBuilder Add(string name, BsonDocument? document) =>
        document is null ? this : Add(name, new LiteralValue(new BsonValue(BsonType.Document, document.Memory)));

    /// <param name="name">The element's.</param>
    /// <param name="value">The value as <see cref="BsonDocument.Of"/> takes them; null is left out.</param>
    public CommandBuilder AddLiteral(string name, object? value) => value is null ? this : Add(name, new LiteralValue(Value(value)));

    public CommandBuilder AddFlag(string name, bool isSet) => isSet ? AddLiteral(name, true) : this;

    /// <summary>Adds the write concern of a write: a server refuses what is for reads.</summary>
    public CommandBuilder AddWriteConcern(OperationConcerns concerns) => Add("writeConcern", concerns.WriteConcern);

    /// <summary>Adds the concerns of a read: a server refuses a write concern.</summary>
    public CommandBuilder AddReadConcerns(OperationConcerns concerns) =>
        Add("readConcern", concerns.ReadConcern is null ? null : BsonDocument.Of(("level", concerns.ReadConcern)))
        .Add("$readPreference", concerns.ReadPreference?.Document);

    /// <summary>Adds the options of any command; its collation stands elsewhere in some.</summary>
    public CommandBuilder AddOptions(CommandOptions options) => Add("let", options.Let)
        .AddLiteral("maxTimeMS", options.MaxMilliseconds).Add("comment", options.Comment);

    public DocumentValue Build() => new(_elements);

    internal static BsonValue Value(object value) => BsonDocument.Of(("v", value)).First().Value;
}
