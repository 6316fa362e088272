using MongoPerf.Reports.Comparison;

namespace MongoPerf.Tests.Reports.Comparison;

/// <summary>A replay against what it replays is called slower or faster only beyond what the recording's clock can tell.</summary>
public sealed class RecordedTimeTests
{
    [Theory]
    // A server's own file has whole milliseconds: 2 ms may have been anything from 1 to 3.
    [InlineData(1000, 2000, 2900, Outcome.Undecided)]
    [InlineData(1000, 2000, 3100, Outcome.Slower)]
    [InlineData(1000, 2000, 1100, Outcome.Undecided)]
    [InlineData(1000, 2000, 900, Outcome.Faster)]
    [InlineData(1000, 2000, 2000, Outcome.Undecided)]
    [InlineData(1000, 0, 900, Outcome.Undecided)]
    [InlineData(1000, 0, 1100, Outcome.Slower)]
    // Against a second a millisecond is nothing.
    [InlineData(1000, 1_000_000, 1_049_000, Outcome.Equivalent)]
    [InlineData(1000, 1_000_000, 1_051_000, Outcome.Slower)]
    [InlineData(1000, 1_000_000, 950_000, Outcome.Faster)]
    // Runs of before don't tell; 0 may be anything that a server does within a millisecond.
    [InlineData(0, 0, 900, Outcome.Undecided)]
    [InlineData(0, 2000, 2110, Outcome.Slower)]
    // A proxy's has microseconds.
    [InlineData(1, 2000, 2090, Outcome.Equivalent)]
    [InlineData(1, 2000, 2110, Outcome.Slower)]
    [InlineData(1, 2000, 1900, Outcome.Faster)]
    public void A_difference_counts_beyond_the_threshold_and_a_step_of_the_recording(
        double resolution, double recorded, double replayed, Outcome expected)
    {
        Assert.Equal(expected, Time(100_000).Outcome(0.05));
        // One in a hundred of 999 replies is fewer than ten.
        Assert.Equal(Outcome.Undecided, Time(999).Outcome(0.05));

        RecordedTime Time(long replies) => new("replay", "find", 99, replies, recorded, replayed, resolution);
    }
}
