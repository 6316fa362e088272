namespace MongoPerf.EndToEnd.Tests.Support;

// One class of each of the first three runs at a time, so three in all. They take about as long as each other: a new class goes where it fits,
// or where least is.

/// <summary>Tests that load the machine.</summary>
[CollectionDefinition(Name)]
public sealed class HeavyTests
{
    public const string Name = "heavy";
}

/// <summary>Tests that start the program many times for a moment.</summary>
[CollectionDefinition(Name)]
public sealed class LightTests
{
    public const string Name = "light";
}

/// <summary>Tests that mostly wait: for servers that come back, and for members that agree on a primary.</summary>
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
