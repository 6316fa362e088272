namespace MongoPerf.Learning.Sampling;

/// <summary>How much may be read of a deployment.</summary>
/// <param name="Documents">Documents of each collection, 100 or more.</param>
/// <param name="Bytes">Bytes of all collections together.</param>
/// <param name="Seconds">Time in all; a command that is running gets the rest of it.</param>
public sealed record SamplingBudget(long Documents = 20_000, long Bytes = 256L << 20, double Seconds = 120);

/// <summary>What was read.</summary>
/// <param name="Documents">Documents that were sent.</param>
/// <param name="Bytes">Their bytes.</param>
/// <param name="Commands">Commands, those that continue a cursor included.</param>
/// <param name="Seconds">Time in all.</param>
public sealed record SamplingCost(long Documents, long Bytes, long Commands, double Seconds);
