using MongoPerf.Running.Sessions;

namespace MongoPerf.Tests.Running.Sessions;

public sealed class StopSignalsTests
{
    /// <summary>timeout(1) signals a program and then its process group, so that the program is signalled twice at once.</summary>
    [Fact]
    public void Signals_within_a_second_are_one_and_a_later_one_ends_the_program()
    {
        using var signals = new StopSignals();

        Assert.Equal([true, false, false, null, null], ((long[])[5000, 5000, 5999, 6000, 90_000]).Select(signals.IsFirst));
    }
}
