using System.Diagnostics;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments;

/// <summary>Sees to it that a run's server is there when connections to it have broken: one restart, however many threads notice.</summary>
/// <param name="deployment">Running at first; during a run, nobody else starts or stops it.</param>
public sealed class ServerKeeper(IDeployment deployment)
{
    private readonly Lock _lock = new();
    private long _lookedAt = long.MinValue;
    private string? _failure;

    /// <summary>The server had ended and runs again. Raised on the thread that started it.</summary>
    public event Action? StartedAgain;

    /// <summary>
    /// Is called before each attempt to connect again: starts a server that has ended, and looks for the one among given ones that takes
    /// writes.
    /// </summary>
    /// <exception cref="ConnectionFailedException">There is none just now; the next attempt may find one.</exception>
    public void BeforeReconnect()
    {
        long asked = Stopwatch.GetTimestamp();
        lock (_lock)
        {
            // A thread that waited here while another looked uses the other's result.
            if (_lookedAt < asked)
                Look();
            if (_failure is not null)
                throw new ConnectionFailedException(deployment.Address, _failure);
        }
    }

    /// <summary>
    /// Starts again what has ended without a connection of ours breaking, such as a shard behind its router. Never throws.
    /// </summary>
    public void KeepUp()
    {
        if (deployment.IsRunning)
            return;
        lock (_lock)
            Look();
    }

    private void Look()
    {
        try
        {
            _failure = null;
            if (deployment.EnsureRunning())
                StartedAgain?.Invoke();
        }
        catch (Exception e) when (e is DeploymentException or IOException or UnauthorizedAccessException or OperationCanceledException)
        {
            // It becomes part of an event, behind the address: one line.
            string what = ConnectionFailedException.WhatOf(e, deployment.Address);
            _failure = string.Join(' ', what.Split('\n', StringSplitOptions.TrimEntries));
        }
        finally
        {
            _lookedAt = Stopwatch.GetTimestamp();
        }
    }
}
