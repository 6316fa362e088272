namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>Tests that load the machine: one class of them at a time.</summary>
[CollectionDefinition(Name)]
public sealed class HeavyTests
{
    public const string Name = "heavy";
}

/// <summary>Tests that start the program many times for a moment: one class of them at a time, beside a heavy one.</summary>
[CollectionDefinition(Name)]
public sealed class LightTests
{
    public const string Name = "light";
}
