using BenchmarkDotNet.Running;
using MongoPerf.Benchmarks;

// "floor" compares whole processes with tests/floor/limit.c, "crowd" with tests/floor/crowd.c, "proxy" a recording proxy with
// tests/floor/proxy.c, "connections" ways to connect to one mongod, "conformance" what is measured of a server whose delays are known;
// anything else are micro-benchmarks of the hot paths.
if (args is ["floor", .. var rest])
    return FloorComparison.Run(rest);
if (args is ["crowd", .. var crowd])
    return CrowdComparison.Run(crowd);
if (args is ["proxy", .. var choices])
    return ProxyCost.Run(choices);
if (args is ["connections", .. var options])
    return ConnectionCost.Run(options);
if (args is ["conformance", .. var only])
    return Conformance.Run(only);
BenchmarkSwitcher.FromAssembly(typeof(FloorComparison).Assembly).Run(args);
return 0;
