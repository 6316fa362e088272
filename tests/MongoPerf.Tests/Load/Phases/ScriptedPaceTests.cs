using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>A recording's operations, each of which is due at a time of its own.</summary>
public sealed class ScriptedPaceTests : PhaseTest
{
    /// <summary>The seconds of a phase show the times that its figures are of: from when operations were due.</summary>
    [Fact]
    public void Samples_have_the_times_from_when_operations_were_due()
    {
        const int Count = 5;
        var runner = new GroupRunner(Clock, (_, _) => new Recorded(new ScriptedExecutor(Clock, _ => Scripted.Ok(1.5)), Count));
        GroupResult result = runner.Run(Queries with { Script = new ScriptPlan(Count, Seconds: 1) }, Log, CancellationToken.None);
        Assert.Equal(Count, result.Operations);
        Assert.Equal(Count, result.Parts[0].Response!.TotalCount);
        Sample[] samples = [.. Log.Intervals.SelectMany(interval => interval.Samples).Where(sample => sample.Operations > 0)];
        Assert.All(samples, sample => Assert.True(sample.ResponseMicroseconds!.Max >= sample.LatencyMicroseconds.Max));
        // One a second, of which each takes one and a half.
        Assert.Equal(3_500_000, samples.Max(sample => sample.ResponseMicroseconds!.Max)!.Value, 10_000.0);
    }

    /// <summary>An operation for each second.</summary>
    private sealed class Recorded(ScriptedExecutor executor, int count) : IOperationExecutor, IScriptedOperation
    {
        private IPreparedOperation? _operation;
        private int _taken;

        public IReadOnlyList<IPreparedOperation> Operations => [_operation!];

        public IReadOnlyList<int> Parts => [0];

        public int Drawn => 0;

        public int Part => 0;

        public ServerError? LastError => _operation!.LastError;

        public void Connect() => executor.Connect();

        public IPreparedOperation Prepare(Operation operation, OperationContext context) => executor.Prepare(operation, context);

        public IScriptedOperation PrepareScript(int worker)
        {
            _operation = executor.Prepare(Queries.Operations[0].Operation, new OperationContext(42, 0, null));
            return this;
        }

        public bool TryTake(out double seconds)
        {
            seconds = _taken++;
            return _taken <= count;
        }

        public bool Draw() => _operation!.Draw();

        public OperationOutcome Execute() => _operation!.Execute();

        public VerificationOutcome Verify() => _operation!.Verify();

        public void Complete() => _operation!.Complete();

        public void Abort() => executor.Abort();

        public void Dispose() => executor.Dispose();
    }
}
