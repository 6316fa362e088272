using System.Security.Cryptography;
using System.Text;

namespace MongoPerf.Commands.Live;

/// <summary>What of a request is answered how. HTTP/1.1 as RFC 9110 and 9112 have it, as much as a page needs.</summary>
internal enum LiveAnswer
{
    Page,
    Events,

    /// <summary>What Prometheus reads.</summary>
    Metrics,

    /// <summary>400: not HTTP/1.x, or malformed.</summary>
    BadRequest,

    /// <summary>403: another site's page asks, or one that calls this address by another name.</summary>
    Forbidden,

    /// <summary>404, also for the address without its key.</summary>
    NotFound,

    /// <summary>405: neither GET nor HEAD.</summary>
    WrongMethod,
}

/// <summary>A request's head, judged. Pure.</summary>
/// <param name="Answer">What it gets.</param>
/// <param name="IsHead">The request is for the head without the body.</param>
internal readonly record struct LiveRequest(LiveAnswer Answer, bool IsHead)
{
    /// <summary>Behind the key.</summary>
    public const string MetricsPath = "/metrics";

    /// <summary>Bytes of a head; a longer one is refused.</summary>
    public const int MostBytes = 8192;

    /// <param name="head">Everything before the empty line.</param>
    /// <param name="port">The port that it came in on.</param>
    /// <param name="key">The key without which nothing is served: other users of this machine reach the port too.</param>
    public static LiveRequest Read(string head, int port, string key)
    {
        string[] lines = head.Split("\r\n");
        if (lines[0].Split(' ') is not [var method, var target, "HTTP/1.1" or "HTTP/1.0"])
            return new LiveRequest(LiveAnswer.BadRequest, false);
        bool isHead = method == "HEAD";
        if (!isHead && method != "GET")
            return new LiveRequest(LiveAnswer.WrongMethod, false);
        string[] hosts = [.. Values(lines, "Host")];
        if (hosts.Length != 1 || lines.Skip(1).Any(static line => line.IndexOf(':', StringComparison.Ordinal) < 1))
            return new LiveRequest(LiveAnswer.BadRequest, isHead);
        // A name that was made to lead here (DNS rebinding) is another one than these, and so is the origin of another site's page.
        if (!IsOurs(hosts[0], port) || Values(lines, "Origin")
            .Any(origin => !origin.StartsWith("http://", StringComparison.Ordinal) || !IsOurs(origin["http://".Length..], port)))
            return new LiveRequest(LiveAnswer.Forbidden, isHead);
        return new LiveRequest(AnswerTo(target, key), isHead);
    }

    private static LiveAnswer AnswerTo(string target, string key)
    {
        LiveAnswer found = LiveAnswer.NotFound;
        foreach ((string path, LiveAnswer answer) in new[]
        {
            ($"/{key}/", LiveAnswer.Page), ($"/{key}/events", LiveAnswer.Events), ($"/{key}{MetricsPath}", LiveAnswer.Metrics),
        })
        {
            if (CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(path), Encoding.UTF8.GetBytes(target)))
                found = answer;
        }

        return found;
    }

    private static bool IsOurs(string host, int port) =>
        host == $"127.0.0.1:{port}" || host.Equals($"localhost:{port}", StringComparison.OrdinalIgnoreCase)
        || (port == 80 && (host == "127.0.0.1" || host.Equals("localhost", StringComparison.OrdinalIgnoreCase)));

    private static IEnumerable<string> Values(string[] lines, string name) => lines.Skip(1)
        .Where(line => line.Length > name.Length && line[name.Length] == ':' && line.StartsWith(name, StringComparison.OrdinalIgnoreCase))
        .Select(line => line[(name.Length + 1)..].Trim());
}
