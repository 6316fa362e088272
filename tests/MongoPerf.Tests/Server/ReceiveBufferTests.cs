using System.Runtime.InteropServices;
using MongoPerf.Server.Listening;

namespace MongoPerf.Tests.Server;

public sealed class ReceiveBufferTests
{
    private const int Budget = 1 << 20;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Budget_is_what_buffers_have_above_their_first_bytes_also_when_memory_runs_out(int seed)
    {
        var random = new Random(seed);
        var budget = new ByteBudget(Budget);
        List<ReceiveBuffer> buffers = [];
        int refused = 0;
        for (int i = 0; i < 2000; i++)
        {
            int at = random.Next(8);
            if (at >= buffers.Count)
                Try(() => buffers.Add(new ReceiveBuffer(budget, Allocate)));
            else if (random.Next(3) == 0)
                buffers[at].Shrink();
            else if (random.Next(4) == 0)
                End(at);
            else
                Grow(buffers[at]);
            Assert.Equal(buffers.Sum(buffer => (long)buffer.Length - ReceiveBuffer.FirstBytes), budget.Taken);
        }

        while (buffers.Count > 0)
            End(0);
        Assert.Equal(0, budget.Taken);
        Assert.NotEqual(0, refused);

        void End(int at)
        {
            buffers[at].Dispose();
            buffers[at].Dispose();
            buffers.RemoveAt(at);
        }

        void Grow(ReceiveBuffer buffer)
        {
            int length = buffer.Length;
            buffer.Span[length - 1] = (byte)length;
            int wanted = length + random.Next(1, Budget / 3);
            bool isGrown = buffer.TryGrow(wanted, length, TimeSpan.Zero);
            refused += isGrown ? 0 : 1;
            Assert.Equal(isGrown ? wanted : length, buffer.Length);
            Assert.Equal((byte)length, buffer.Span[length - 1]);
        }

        void Try(Action make)
        {
            try
            {
                make();
            }
            catch (OutOfMemoryException)
            {
                refused++;
            }
        }

        unsafe nint Allocate(int length) =>
            random.Next(5) == 0 ? throw new InsufficientMemoryException() : (nint)NativeMemory.Alloc((nuint)length);
    }
}
