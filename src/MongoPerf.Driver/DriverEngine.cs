using System.Reflection;
using MongoDB.Driver;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Executors;
using MongoPerf.Load.Plans;

namespace MongoPerf.Driver;

/// <summary>
/// Carries operations out through MongoDB.Driver. A method that names this type loads the driver when it is first called.
/// </summary>
public sealed class DriverEngine : IClientEngine
{
    /// <summary>Commands whose replies bring a cursor, which the driver's way of sending any command does not read on.</summary>
    private static readonly string[] CursorCommands = ["find", "aggregate", "listIndexes", "listCollections"];

    public string Version => typeof(MongoClient).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()
        ?.InformationalVersion.Split('+')[0] ?? "unknown";

    public void Check(Operation operation)
    {
        if (operation.Options.MaxMilliseconds is not null && operation.IsWrite
            && operation is not (FindAndModify or AggregateDocuments or DatabaseCommand))
            throw Refuse(operation, "it has no maxTimeMS for writes", "leave maxTimeMS out");
        if (operation is BulkWrite { Concerns.IsUnacknowledged: true })
            throw Refuse(operation, "w: 0 is possible for insert, update and delete only", "leave w: 0 out");
        if (operation is OperationSequence or CompositeOperation)
        {
            foreach (Operation step in operation.Steps)
                Check(step);
            return;
        }

        if (operation.Concerns.IsUnacknowledged && operation is not (InsertDocuments or UpdateDocuments or DeleteDocuments))
            throw Refuse(operation, "w: 0 is possible for insert, update and delete only", "leave w: 0 out");
        if (operation is DatabaseCommand { Arguments.Elements: [{ Key: var name }, ..] }
            && CursorCommands.Contains(name, StringComparer.OrdinalIgnoreCase))
            throw Refuse(operation, $"a command '{name}' is not read to the end of its cursor",
                "write find or aggregate as an operation of that kind");
        if (operation is UpdateDocuments { Many: true } update && UpdateCall.FormOf(update.Update) == UpdateForm.Replacement)
            throw Refuse(operation, "several documents can't be replaced by one", "change them by operators such as $set");
    }

    public IExecutorSource Open(ClientOptions options) => new DriverSession(options);

    private static OperationLimitException Refuse(Operation operation, string why, string hint) =>
        new($"{operation.Name} is not possible with MongoDB.Driver: {why}\nhint:  {hint}, or use --engine wire");
}
