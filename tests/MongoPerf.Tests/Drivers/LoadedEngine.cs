using MongoPerf.Engine.Collections;
using MongoPerf.Engine.Executors;
using MongoPerf.Engine.Plans;

namespace MongoPerf.Tests.Drivers;

/// <summary>Stands for the official driver: what the library finds when this very assembly is taken for the one that was built.</summary>
public sealed class LoadedEngine : IClientEngine
{
    public string Version => "9.8.7";

    public void Check(Operation operation)
    {
        if (operation is DistinctValues)
            throw new OperationLimitException($"{operation.Name} is not possible here");
    }

    public IExecutorSource Open(ClientOptions options) => throw new NotSupportedException();
}
