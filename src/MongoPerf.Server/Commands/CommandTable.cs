using System.Collections.Frozen;
using System.Diagnostics.CodeAnalysis;
using System.Text;
using MongoPerf.Server.Commands.Aggregation;
using MongoPerf.Server.Commands.Updates;
using MongoPerf.Server.Listening;

namespace MongoPerf.Server.Commands;

/// <summary>Every command this server knows, by name.</summary>
internal static class CommandTable
{
    private const int MaximumNameLength = 64;

    /// <summary>Every name, for the documentation.</summary>
    public static IEnumerable<string> Names => Entries.Keys;

    /// <summary>Whether a command may come as OP_QUERY.</summary>
    public static bool IsHandshake(ReadOnlySpan<byte> name) => TryFind(name, out CommandEntry? entry) && entry.IsHandshake;

    private static readonly FrozenDictionary<string, CommandEntry> Entries = new Dictionary<string, CommandEntry>
    {
        ["hello"] = new(HelloCommand.Execute, IsHandshake: true),
        ["isMaster"] = new(HelloCommand.Execute, IsHandshake: true),
        ["ismaster"] = new(HelloCommand.Execute, IsHandshake: true),
        ["buildInfo"] = new(HelloCommand.BuildInfo, IsHandshake: true),
        ["buildinfo"] = new(HelloCommand.BuildInfo, IsHandshake: true),
        ["ping"] = new(AdministrationCommands.Ping, IsForAnybody: true),
        ["startSession"] = new(SessionCommands.Start),
        ["endSessions"] = new(SessionCommands.Take),
        ["refreshSessions"] = new(SessionCommands.Take),
        ["killSessions"] = new(SessionCommands.Take),
        ["commitTransaction"] = new(SessionCommands.RefuseTransaction, TakesTransactionNumber: true),
        ["abortTransaction"] = new(SessionCommands.RefuseTransaction, TakesTransactionNumber: true),
        ["connectionStatus"] = new(LoginCommands.ConnectionStatus, IsForAnybody: true),
        ["saslStart"] = new(LoginCommands.Start, IsHandshake: true),
        ["saslContinue"] = new(LoginCommands.Continue, IsHandshake: true),
        ["authenticate"] = new(LoginCommands.Authenticate, IsHandshake: true),
        ["logout"] = new(LoginCommands.LogOut),
        ["createUser"] = new(LoginCommands.RefuseUsers),
        ["updateUser"] = new(LoginCommands.RefuseUsers),
        ["dropUser"] = new(LoginCommands.RefuseUsers),
        ["usersInfo"] = new(LoginCommands.RefuseUsers),
        ["fsync"] = new(AdministrationCommands.Fsync),
        ["shutdown"] = new(AdministrationCommands.Shutdown),
        ["getParameter"] = new(AdministrationCommands.GetParameter),
        ["getCmdLineOpts"] = new(AdministrationCommands.GetCommandLine),
        ["hostInfo"] = new(AdministrationCommands.HostInfo),
        ["whatsmyuri"] = new(AdministrationCommands.WhatsMyUri, IsForAnybody: true),
        ["currentOp"] = new(OperationCommands.CurrentOp),
        ["killOp"] = new(OperationCommands.KillOp),
        ["getLog"] = new(AdministrationCommands.GetLog),
        ["serverStatus"] = new(ServerStatusCommand.Execute),
        ["insert"] = new(InsertCommand.Execute, IsCounted: false, TakesTransactionNumber: true),
        ["update"] = new(UpdateCommand.Execute, IsCounted: false, TakesTransactionNumber: true),
        ["delete"] = new(DeleteCommand.Execute, IsCounted: false, TakesTransactionNumber: true),
        ["find"] = new(FindCommand.Execute, IsCounted: false, Concern: ReadConcernSupport.All, TakesTransactionNumber: true),
        ["getMore"] = new(CursorCommands.GetMore, IsCounted: false, Concern: ReadConcernSupport.All, TakesTransactionNumber: true),
        ["killCursors"] = new(CursorCommands.KillCursors),
        ["findAndModify"] = new(FindAndModifyCommand.Execute, TakesTransactionNumber: true),
        ["findandmodify"] = new(FindAndModifyCommand.Execute, TakesTransactionNumber: true),
        ["count"] = new(CountCommand.Execute, Concern: ReadConcernSupport.NotSnapshot, TakesTransactionNumber: true),
        ["distinct"] = new(DistinctCommand.Execute, Concern: ReadConcernSupport.All, TakesTransactionNumber: true),
        ["explain"] = new(ExplainCommand.Execute),
        ["aggregate"] = new(AggregateCommand.Execute, Concern: ReadConcernSupport.All, TakesTransactionNumber: true),
        ["create"] = new(CatalogCommands.Create, TakesTransactionNumber: true),
        ["drop"] = new(CatalogCommands.Drop),
        ["dropDatabase"] = new(CatalogCommands.DropDatabase),
        ["listCollections"] = new(CatalogCommands.ListCollections),
        ["listDatabases"] = new(CatalogCommands.ListDatabases),
        ["createIndexes"] = new(IndexCommands.CreateIndexes, TakesTransactionNumber: true),
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

    private static readonly FrozenDictionary<string, CommandEntry>.AlternateLookup<ReadOnlySpan<char>> ByName =
        Entries.GetAlternateLookup<ReadOnlySpan<char>>();

    /// <exception cref="CommandException">59, for a name that is not known.</exception>
    public static CommandEntry Find(ReadOnlySpan<byte> name) => TryFind(name, out CommandEntry? entry)
        ? entry
        : throw new CommandException(59, "CommandNotFound", $"no such command: '{Encoding.UTF8.GetString(name)}'");

    private static bool TryFind(ReadOnlySpan<byte> name, [NotNullWhen(true)] out CommandEntry? entry)
    {
        entry = null;
        Span<char> text = stackalloc char[MaximumNameLength];
        return name.Length <= MaximumNameLength && ByName.TryGetValue(text[..Encoding.ASCII.GetChars(name, text)], out entry);
    }
}
