namespace MongoPerf.EndToEnd.Tests.Support;

// One class of each of the first five runs at a time, so five in all. A new class goes where it fits, or where least is.

/// <summary>Tests that load the machine, and of runs that are interrupted.</summary>
[CollectionDefinition(Name)]
public sealed class HeavyTests : ICollectionFixture<TestServers>
{
    public const string Name = "heavy";
}

/// <summary>Tests that start the program many times for a moment.</summary>
[CollectionDefinition(Name)]
public sealed class LightTests : ICollectionFixture<TestServers>
{
    public const string Name = "light";
}

/// <summary>Tests of what other programs see (the embedded server, connections, options), and the experiments.</summary>
[CollectionDefinition(Name)]
public sealed class OtherTests : ICollectionFixture<TestServers>
{
    public const string Name = "other";
}

/// <summary>Tests that kill and interrupt the program and its servers, and go on afterwards.</summary>
[CollectionDefinition(Name)]
public sealed class KillingTests : ICollectionFixture<TestServers>
{
    public const string Name = "killing";
}

/// <summary>Tests that mostly wait for members that agree on a primary.</summary>
[CollectionDefinition(Name)]
public sealed class WaitingTests
{
    public const string Name = "waiting";
}

/// <summary>Tests whose verdict is drawn from what was measured: they have the machine for themselves, when all others are done.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class MeasuringTests
{
    public const string Name = "measuring";
}
