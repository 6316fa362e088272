using MongoPerf.Measurement;

namespace MongoPerf.Load.Keys;

/// <summary>Every key that exists is as likely as any other.</summary>
public sealed class UniformKeys(KeySpace keys) : KeyChooser(keys)
{
    private protected override long Draw(ref RandomStream random) => random.NextLong(Count);
}
