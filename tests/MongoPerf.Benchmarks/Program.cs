using BenchmarkDotNet.Running;
using MongoPerf.Benchmarks;

// "floor" compares whole processes with tests/floor/limit.c, "connections" ways to connect to one mongod; anything else are micro-benchmarks of the hot paths.
if (args is ["floor", .. var rest])
    return FloorComparison.Run(rest);
if (args is ["connections", .. var options])
    return ConnectionCost.Run(options);
BenchmarkSwitcher.FromAssembly(typeof(FloorComparison).Assembly).Run(args);
return 0;
