using MongoPerf.Load.Collections;
using MongoPerf.Load.Executors;
using MongoPerf.Load.Plans;

namespace MongoPerf.Tests.Support;

/// <summary>Stands for the official driver.</summary>
public sealed class FakeEngine : IClientEngine
{
    public string Version => "9.8.7";

    public void Check(Operation operation)
    {
        if (operation is DistinctValues)
            throw new OperationLimitException($"{operation.Name} is not possible here");
    }

    public IExecutorSource Open(ClientOptions options) => throw new NotSupportedException();
}
