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
        ["hello"] = new(HelloCommand.Execute, IsHandshake: true, IsStable: true),
        ["isMaster"] = new(HelloCommand.Execute, IsHandshake: true),
        ["ismaster"] = new(HelloCommand.Execute, IsHandshake: true),
        ["buildInfo"] = new(HelloCommand.BuildInfo, IsHandshake: true),
        ["buildinfo"] = new(HelloCommand.BuildInfo, IsHandshake: true),
        ["ping"] = new(AdministrationCommands.Ping, IsForAnybody: true, IsStable: true),
        ["startSession"] = new(SessionCommands.Start),
        ["endSessions"] = new(SessionCommands.Take, IsStable: true),
        ["refreshSessions"] = new(SessionCommands.Take, IsStable: true),
        ["killSessions"] = new(SessionCommands.Take),
        ["commitTransaction"] = new(SessionCommands.RefuseTransaction, TakesTransactionNumber: true, IsStable: true),
        ["abortTransaction"] = new(SessionCommands.RefuseTransaction, TakesTransactionNumber: true, IsStable: true),
        ["connectionStatus"] = new(LoginCommands.ConnectionStatus, IsForAnybody: true),
        ["saslStart"] = new(LoginCommands.Start, IsHandshake: true, IsStable: true),
        ["saslContinue"] = new(LoginCommands.Continue, IsHandshake: true, IsStable: true),
        ["authenticate"] = new(LoginCommands.Authenticate, IsHandshake: true, IsStable: true),
        ["logout"] = new(LoginCommands.LogOut),
        ["createUser"] = new(LoginCommands.RefuseUsers),
        ["updateUser"] = new(LoginCommands.RefuseUsers),
        ["dropUser"] = new(LoginCommands.RefuseUsers),
        ["usersInfo"] = new(LoginCommands.RefuseUsers),
        ["fsync"] = new(AdministrationCommands.Fsync),
        ["shutdown"] = new(AdministrationCommands.Shutdown),
        ["getParameter"] = new(ParameterCommands.Get),
        ["setParameter"] = new(ParameterCommands.Set),
        ["getCmdLineOpts"] = new(AdministrationCommands.GetCommandLine),
        ["hostInfo"] = new(AdministrationCommands.HostInfo),
        ["whatsmyuri"] = new(AdministrationCommands.WhatsMyUri, IsForAnybody: true),
        ["currentOp"] = new(OperationCommands.CurrentOp),
        ["killOp"] = new(OperationCommands.KillOp),
        ["getLog"] = new(AdministrationCommands.GetLog),
        ["serverStatus"] = new(ServerStatusCommand.Execute),
        ["insert"] = new(InsertCommand.Execute, IsCounted: false, TakesTransactionNumber: true, IsStable: true),
        ["update"] = new(UpdateCommand.Execute, IsCounted: false, TakesTransactionNumber: true, IsStable: true),
        ["delete"] = new(DeleteCommand.Execute, IsCounted: false, TakesTransactionNumber: true, IsStable: true),
        ["find"] = new(
            FindCommand.Execute, IsCounted: false, Concern: ReadConcernSupport.All, TakesTransactionNumber: true, IsStable: true),
        ["getMore"] = new(
            CursorCommands.GetMore, IsCounted: false, Concern: ReadConcernSupport.All, TakesTransactionNumber: true, IsStable: true),
        ["killCursors"] = new(CursorCommands.KillCursors, IsStable: true),
        ["findAndModify"] = new(FindAndModifyCommand.Execute, TakesTransactionNumber: true, IsStable: true),
        ["findandmodify"] = new(FindAndModifyCommand.Execute, TakesTransactionNumber: true),
        ["count"] = new(CountCommand.Execute, Concern: ReadConcernSupport.NotSnapshot, TakesTransactionNumber: true, IsStable: true),
        ["distinct"] = new(DistinctCommand.Execute, Concern: ReadConcernSupport.All, TakesTransactionNumber: true),
        ["explain"] = new(ExplainCommand.Execute, IsStable: true),
        ["aggregate"] = new(AggregateCommand.Execute, Concern: ReadConcernSupport.All, TakesTransactionNumber: true, IsStable: true),
        ["create"] = new(CatalogCommands.Create, TakesTransactionNumber: true, IsStable: true),
        ["collMod"] = new(CollModCommand.Execute, IsStable: true),
        ["renameCollection"] = new(RenameCommand.Execute),
        ["drop"] = new(CatalogCommands.Drop, IsStable: true),
        ["dropDatabase"] = new(CatalogCommands.DropDatabase, IsStable: true),
        ["listCollections"] = new(CatalogCommands.ListCollections, IsStable: true),
        ["listDatabases"] = new(CatalogCommands.ListDatabases, IsStable: true),
        ["createIndexes"] = new(IndexCommands.CreateIndexes, TakesTransactionNumber: true, IsStable: true),
        ["listIndexes"] = new(IndexCommands.ListIndexes, IsStable: true),
        ["dropIndexes"] = new(IndexCommands.DropIndexes, IsStable: true),
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
