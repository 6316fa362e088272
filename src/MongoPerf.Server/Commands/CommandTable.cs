using System.Collections.Frozen;
using System.Text;
using MongoPerf.Server.Commands.Aggregation;
using MongoPerf.Server.Commands.Updates;
using MongoPerf.Server.Listening;

namespace MongoPerf.Server.Commands;

/// <summary>Every command this server knows, by name.</summary>
internal static class CommandTable
{
    private const int MaximumNameLength = 64;

    public delegate void Handler(CommandSession session, in CommandRequest request, ReplyWriter reply);

    /// <param name="Execute">Carries the command out.</param>
    /// <param name="IsHandshake">May come as OP_QUERY.</param>
    /// <param name="IsCounted">Counts under opcounters.command; the others have counters of their own.</param>
    public sealed record Entry(Handler Execute, bool IsHandshake = false, bool IsCounted = true)
    {
        /// <summary>As the client wrote it.</summary>
        public string Name { get; init; } = "";
    }

    private static readonly FrozenDictionary<string, Entry> Entries = new Dictionary<string, Entry>
    {
        ["hello"] = new(HelloCommand.Execute, IsHandshake: true),
        ["isMaster"] = new(HelloCommand.Execute, IsHandshake: true),
        ["ismaster"] = new(HelloCommand.Execute, IsHandshake: true),
        ["buildInfo"] = new(HelloCommand.BuildInfo, IsHandshake: true),
        ["buildinfo"] = new(HelloCommand.BuildInfo, IsHandshake: true),
        ["ping"] = new(AdministrationCommands.Ping),
        ["endSessions"] = new(AdministrationCommands.Ping),
        ["fsync"] = new(AdministrationCommands.Fsync),
        ["shutdown"] = new(AdministrationCommands.Shutdown),
        ["getParameter"] = new(AdministrationCommands.GetParameter),
        ["getCmdLineOpts"] = new(AdministrationCommands.GetCommandLine),
        ["hostInfo"] = new(AdministrationCommands.HostInfo),
        ["whatsmyuri"] = new(AdministrationCommands.WhatsMyUri),
        ["currentOp"] = new(OperationCommands.CurrentOp),
        ["killOp"] = new(OperationCommands.KillOp),
        ["getLog"] = new(AdministrationCommands.GetLog),
        ["serverStatus"] = new(ServerStatusCommand.Execute),
        ["insert"] = new(InsertCommand.Execute, IsCounted: false),
        ["update"] = new(UpdateCommand.Execute, IsCounted: false),
        ["delete"] = new(DeleteCommand.Execute, IsCounted: false),
        ["find"] = new(FindCommand.Execute, IsCounted: false),
        ["getMore"] = new(CursorCommands.GetMore, IsCounted: false),
        ["killCursors"] = new(CursorCommands.KillCursors),
        ["findAndModify"] = new(FindAndModifyCommand.Execute),
        ["findandmodify"] = new(FindAndModifyCommand.Execute),
        ["count"] = new(CountCommand.Execute),
        ["distinct"] = new(DistinctCommand.Execute),
        ["explain"] = new(ExplainCommand.Execute),
        ["aggregate"] = new(AggregateCommand.Execute),
        ["create"] = new(CatalogCommands.Create),
        ["drop"] = new(CatalogCommands.Drop),
        ["dropDatabase"] = new(CatalogCommands.DropDatabase),
        ["listCollections"] = new(CatalogCommands.ListCollections),
        ["listDatabases"] = new(CatalogCommands.ListDatabases),
        ["createIndexes"] = new(IndexCommands.CreateIndexes),
        ["listIndexes"] = new(IndexCommands.ListIndexes),
        ["dropIndexes"] = new(IndexCommands.DropIndexes),
        ["deleteIndexes"] = new(IndexCommands.DropIndexes),
        ["compact"] = new(MaintenanceCommands.Compact),
        ["validate"] = new(MaintenanceCommands.Validate),
        ["collStats"] = new(StatisticsCommands.CollStats),
        ["collstats"] = new(StatisticsCommands.CollStats),
        ["dbStats"] = new(StatisticsCommands.DbStats),
        ["dbstats"] = new(StatisticsCommands.DbStats),
    }.ToFrozenDictionary(pair => pair.Key, pair => pair.Value with { Name = pair.Key });

    private static readonly FrozenDictionary<string, Entry>.AlternateLookup<ReadOnlySpan<char>> ByName = Entries.GetAlternateLookup<ReadOnlySpan<char>>();

    /// <exception cref="CommandException">59, for a name that is not known.</exception>
    public static Entry Find(ReadOnlySpan<byte> name)
    {
        Span<char> characters = stackalloc char[MaximumNameLength];
        if (name.Length <= MaximumNameLength && ByName.TryGetValue(characters[..Encoding.ASCII.GetChars(name, characters)], out Entry? entry))
            return entry;
        throw new CommandException(59, "CommandNotFound", $"no such command: '{Encoding.UTF8.GetString(name)}'");
    }
}
