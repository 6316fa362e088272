using BenchmarkDotNet.Attributes;
using MongoPerf.Load.Keys;
using MongoPerf.Measurement;

namespace MongoPerf.Benchmarks;

/// <summary>What one drawn key costs, beside the operation that it is drawn for.</summary>
[MemoryDiagnoser]
public class KeyChoice
{
    private const int Keys = 1_000_000;
    private readonly KeySpace _growing = new(Keys);
    private readonly UniformKeys _uniform = new(new KeySpace(Keys));
    private readonly ZipfianKeys _zipfian = new(new KeySpace(Keys));
    private readonly ScrambledZipfianKeys _scrambled = new(new KeySpace(Keys), Keys);
    private readonly LatestKeys _latest = new(new KeySpace(Keys));
    private readonly ExponentialKeys _exponential = new(new KeySpace(Keys), 95, 0.8571428571);
    private readonly HotspotKeys _hotspot = new(new KeySpace(Keys), 0.2, 0.8);
    private LatestKeys _growingLatest = null!;
    private RandomStream _random = RandomStream.For(42, RandomPurpose.Choice, 0);

    [GlobalSetup]
    public void Prepare() => _growingLatest = new LatestKeys(_growing);

    [Benchmark]
    public long Uniform() => _uniform.Next(ref _random);

    [Benchmark]
    public long Zipfian() => _zipfian.Next(ref _random);

    [Benchmark]
    public long ScrambledZipfian() => _scrambled.Next(ref _random);

    [Benchmark]
    public long Latest() => _latest.Next(ref _random);

    /// <summary>An insert before each key: the distribution is adapted every time, and the acknowledgement is in it.</summary>
    [Benchmark]
    public long LatestWhileInserting()
    {
        _growing.Acknowledge(_growing.Take());
        return _growingLatest.Next(ref _random);
    }

    [Benchmark]
    public long Exponential() => _exponential.Next(ref _random);

    [Benchmark]
    public long Hotspot() => _hotspot.Next(ref _random);
}
