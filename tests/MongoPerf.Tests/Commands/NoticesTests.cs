using MongoPerf.Commands;

namespace MongoPerf.Tests.Commands;

/// <summary>Whoever has something to say never waits for those who read it.</summary>
public sealed class NoticesTests
{
    [Fact]
    public void Lines_come_in_their_order_before_it_has_been_disposed_of()
    {
        var writer = new StringWriter();
        using (var notices = new Notices(writer))
        {
            for (int i = 0; i < 50; i++)
                notices.Say($"line {i}");
        }

        Assert.Equal(Enumerable.Range(0, 50).Select(i => $"line {i}"), writer.ToString().TrimEnd().Split(Environment.NewLine));
    }

    [Fact]
    public void Lines_that_nobody_reads_are_given_up()
    {
        using var writer = new BlockedWriter();
        var notices = new Notices(writer) { Patience = TimeSpan.FromMilliseconds(50) };
        for (int i = 0; i < 100_000; i++)
            notices.Say("line");
        Assert.False(notices.End());
        notices.Say("too late");
        Assert.Equal(0, writer.Written);
        writer.Release();
        // One was being printed, and some waited.
        Eventually.Is(() => writer.Written >= 100);
        Assert.InRange(writer.Written, 100, 101);
    }

    /// <summary>A pipe that is full until somebody reads it.</summary>
    private sealed class BlockedWriter : StringWriter
    {
        private readonly ManualResetEventSlim _isRead = new();
        private int _written;

        public int Written => Volatile.Read(ref _written);

        public void Release() => _isRead.Set();

        public override void WriteLine(string? value)
        {
            _isRead.Wait();
            Interlocked.Increment(ref _written);
        }
    }
}
