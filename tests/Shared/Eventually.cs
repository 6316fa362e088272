using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace MongoPerf.Testing;

/// <summary>
/// Waits for what another thread or process does where nothing tells of it; the one place where tests ask again and again.
/// </summary>
public static class Eventually
{
    /// <summary>Far longer than a busy machine needs. A test fails when it is over; none passes because of it.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    private const int PauseMilliseconds = 2;

    public static void Is(Func<bool> isSo, [CallerArgumentExpression(nameof(isSo))] string what = "")
    {
        for (long start = Stopwatch.GetTimestamp(); !isSo();)
        {
            RequireTime(start, what);
            Thread.Sleep(PauseMilliseconds);
        }
    }

    public static Task IsAsync(Func<bool> isSo, [CallerArgumentExpression(nameof(isSo))] string what = "") =>
        IsAsync(() => Task.FromResult(isSo()), what);

    public static async Task IsAsync(Func<Task<bool>> isSo, [CallerArgumentExpression(nameof(isSo))] string what = "")
    {
        for (long start = Stopwatch.GetTimestamp(); !await isSo();)
        {
            RequireTime(start, what);
            await Task.Delay(PauseMilliseconds);
        }
    }

    private static void RequireTime(long start, string what) =>
        Assert.True(Stopwatch.GetElapsedTime(start) < Patience, $"a minute has passed, and this is not so: {what}");
}
