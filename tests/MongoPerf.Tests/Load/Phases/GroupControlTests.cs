using MongoPerf.Load.Phases;
using MongoPerf.Measurement;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>Nobody waits for a turn that will bring nothing.</summary>
public sealed class GroupControlTests : PhaseTest
{
    /// <summary>Only a wait that is never ended takes so long.</summary>
    private static readonly TimeSpan Never = TimeSpan.FromSeconds(60);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Workers_that_wait_for_their_turn_end_with_the_last_operation_or_the_group(bool isStopped)
    {
        var control = new GroupControl(Queries with { Threads = 2, Count = 2 }, SystemClock.Instance, Log);
        IParker parker = control.CreateParker();
        var waiting = new Thread(() =>
        {
            while (control.HasOperationsLeft)
                parker.ParkUntil(long.MaxValue);
        })
        { IsBackground = true };
        waiting.Start();
        Assert.True(control.MayStart(0));
        if (isStopped)
            control.Stop();
        else
            Assert.True(control.MayStart(0));
        Assert.True(waiting.Join(Never));
        Assert.False(control.MayStart(0));
    }
}
