using MongoPerf.Reports.Explore;

namespace MongoPerf.Commands.Live;

/// <summary>
/// All that a page needs to be told that comes now or comes back: the last whole plot, and what came since. Safe for all threads.
/// </summary>
internal sealed class LiveHistory
{
    private readonly Lock _lock = new();
    private readonly List<LiveMessage> _messages = [];
    private TaskCompletionSource _changed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private LiveMessage? _status;
    private long _first;

    public void Add(IReadOnlyList<LiveMessage> messages)
    {
        if (messages.Count == 0)
            return;
        TaskCompletionSource changed;
        lock (_lock)
        {
            foreach (LiveMessage message in messages)
                Add(message);
            changed = _changed;
            _changed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        }

        changed.SetResult();
    }

    /// <param name="next">Number of the first message that is wanted; 0 for all there are.</param>
    /// <returns>The messages, the number of the one after them, and a task that ends when there are more.</returns>
    public (IReadOnlyList<LiveMessage> Messages, long Next, Task Changed) ReadFrom(long next)
    {
        lock (_lock)
        {
            int skipped = (int)Math.Max(0, next - _first);
            LiveMessage[] messages = [.. _messages.Skip(skipped)];
            // Who comes in later gets the latest of each.
            if (next == 0 && _status is not null)
                messages = [.. messages.Where(static message => message.Name != "status"), _status];
            return (messages, _first + _messages.Count, _changed.Task);
        }
    }

    private void Add(LiveMessage message)
    {
        if (message.Name == "status")
            _status = message;
        if (message.Name == "plot")
        {
            _first += _messages.Count;
            _messages.Clear();
        }

        _messages.Add(message);
    }
}
