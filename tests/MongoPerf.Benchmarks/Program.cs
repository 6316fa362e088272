using BenchmarkDotNet.Running;
using MongoPerf.Benchmarks;

// "floor" compares whole processes with tests/floor/limit.c; anything else are micro-benchmarks of the hot paths.
if (args is ["floor", .. var rest])
    return FloorComparison.Run(rest);
BenchmarkSwitcher.FromAssembly(typeof(FloorComparison).Assembly).Run(args);
return 0;
