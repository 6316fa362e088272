using MongoPerf.Engine.Measurement;

namespace MongoPerf.Engine.Keys;

/// <summary>Every key that exists is as likely as any other.</summary>
public sealed class UniformKeys(KeySpace keys) : KeyChooser
{
    public override long Next(ref RandomStream random) => random.NextLong(CountOf(keys));
}
