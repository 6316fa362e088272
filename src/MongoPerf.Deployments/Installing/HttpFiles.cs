using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Installing;

/// <summary>How much of a file is there.</summary>
/// <param name="Bytes">The size on disk in bytes.</param>
/// <param name="Total">Null while it is not known.</param>
public readonly record struct Transferred(long Bytes, long? Total);

/// <summary>
/// Fetches files by HTTP: tries again with growing pauses, continues where a transfer was cut. Proxies of the environment are used.
/// </summary>
/// <remarks>One thread.</remarks>
public sealed class HttpFiles : IDisposable
{
    /// <summary>Failures in a row, without a byte between them, after which it is given up.</summary>
    internal const int MostFailures = 6;

    private const int LargestTextBytes = 256 << 20;
    private static readonly TimeSpan SilenceLimit = TimeSpan.FromSeconds(60);

    private readonly HttpClient _client;
    private readonly Action<TimeSpan> _pause;
    private readonly Action<string> _tell;
    private readonly CancellationToken _stop;

    /// <param name="tell">Hears of each failure that is tried again.</param>
    /// <param name="stop">Ends everything; what is on disk stays for the next time.</param>
    /// <param name="pause">Waits between tries; null waits in real time.</param>
    public HttpFiles(Action<string> tell, CancellationToken stop, Action<TimeSpan>? pause = null)
    {
        _client = new HttpClient(new SocketsHttpHandler { ConnectTimeout = TimeSpan.FromSeconds(20) }) { Timeout = SilenceLimit };
        _client.DefaultRequestHeaders.UserAgent.ParseAdd("mongoperf");
        _tell = tell;
        _stop = stop;
        _pause = pause ?? (time => stop.WaitHandle.WaitOne(time));
    }

    public void Dispose() => _client.Dispose();

    /// <summary>A file of moderate size; null when there is none.</summary>
    /// <exception cref="DeploymentException">It can't be fetched.</exception>
    public byte[]? TryRead(Uri url) => Retry(url, () =>
    {
        using HttpResponseMessage response = Send(HttpMethod.Get, url, from: 0);
        if (IsMissing(response))
            return null;
        Require(response, url);
        using var content = new MemoryStream();
        Copy(response, content, total: null, _ => { });
        return content.ToArray();
    }, () => 0);

    public bool Exists(Uri url) => Retry(url, () =>
    {
        using HttpResponseMessage response = Send(HttpMethod.Head, url, from: 0);
        if (IsMissing(response))
            return false;
        Require(response, url);
        return true;
    }, () => 0);

    /// <summary>Brings a file; what an earlier try left of it is not fetched again.</summary>
    /// <param name="url">Where it lies.</param>
    /// <param name="path">Gets it; may hold its beginning.</param>
    /// <param name="begin">Told how much is to come, in bytes (null: not known), before it comes; may throw.</param>
    /// <param name="progress">Called for each piece.</param>
    /// <exception cref="DeploymentException">It is not there, or can't be fetched.</exception>
    public void Download(Uri url, string path, Action<long?> begin, Action<Transferred> progress) => Retry(url, () =>
    {
        long there = LengthOf(path);
        using HttpResponseMessage response = Send(HttpMethod.Get, url, there);
        if (response.StatusCode == HttpStatusCode.RequestedRangeNotSatisfiable)
        {
            // Either it was whole already, or what is there is something else's beginning.
            if (response.Content.Headers.ContentRange?.Length != there)
                File.Delete(path);
            return response.Content.Headers.ContentRange?.Length == there ? true
                : throw new IOException("the partial download did not match and was discarded");
        }

        if (IsMissing(response))
            throw new DeploymentException(
                Fault.WrongUsage, $"{url} not found (HTTP {(int)response.StatusCode})\nhint:  check the version and the mirror");
        Require(response, url);
        bool continues = response.StatusCode == HttpStatusCode.PartialContent && response.Content.Headers.ContentRange?.From == there;
        long start = continues ? there : 0;
        long? total = response.Content.Headers.ContentLength is { } length ? start + length : null;
        begin(total - start);
        using var file = new FileStream(path, continues ? FileMode.Append : FileMode.Create, FileAccess.Write);
        Copy(response, file, total, progress);
        return true;
    }, () => LengthOf(path));

    public static long LengthOf(string path) => File.Exists(path) ? new FileInfo(path).Length : 0;

    private static bool IsMissing(HttpResponseMessage response) => response.StatusCode is HttpStatusCode.NotFound or HttpStatusCode.Gone;

    private HttpResponseMessage Send(HttpMethod method, Uri url, long from)
    {
        using var request = new HttpRequestMessage(method, url);
        if (from > 0)
            request.Headers.Range = new RangeHeaderValue(from, null);
        return _client.Send(request, HttpCompletionOption.ResponseHeadersRead, _stop);
    }

    private static void Require(HttpResponseMessage response, Uri url)
    {
        if (response.IsSuccessStatusCode)
            return;
        string said = $"{url} answered HTTP {(int)response.StatusCode} {response.ReasonPhrase}";
        bool mayPass = (int)response.StatusCode >= 500
            || response.StatusCode is HttpStatusCode.RequestTimeout or HttpStatusCode.TooManyRequests;
        throw mayPass
            ? new IOException(said)
            : new DeploymentException(
                Fault.CannotConnect, $"{said}\nhint:  is access blocked? --mirror selects another site, or give a local archive");
    }

    private void Copy(HttpResponseMessage response, Stream target, long? total, Action<Transferred> progress)
    {
        using Stream source = response.Content.ReadAsStream(_stop);
        byte[] buffer = new byte[128 << 10];
        while (ReadSome(source, buffer) is > 0 and var read)
        {
            target.Write(buffer, 0, read);
            if (target is MemoryStream { Length: > LargestTextBytes })
                throw new IOException($"more than {LargestTextBytes:N0} bytes");
            progress(new Transferred(target.Position, total));
        }

        if (total is { } expected && target.Position < expected)
            throw new IOException($"the connection was cut at {target.Position:N0} of {expected:N0} bytes");
    }

    /// <summary>HttpClient's timeout ends with the headers; a server that falls silent after them must not block us forever.</summary>
    private int ReadSome(Stream source, byte[] buffer)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(_stop);
        limit.CancelAfter(SilenceLimit);
        try
        {
            return source.ReadAsync(buffer, limit.Token).AsTask().GetAwaiter().GetResult();
        }
        catch (OperationCanceledException) when (!_stop.IsCancellationRequested)
        {
            throw new IOException($"no data for {SilenceLimit.TotalSeconds:0} s");
        }
    }

    /// <param name="url">The url for texts.</param>
    /// <param name="action">What is tried.</param>
    /// <param name="progress">Grows when a try got further than the one before, though it failed.</param>
    private T Retry<T>(Uri url, Func<T> action, Func<long> progress)
    {
        int failures = 0;
        long reached = progress();
        while (true)
        {
            try
            {
                return action();
            }
            catch (Exception e) when (e is HttpRequestException or IOException or SocketException or TaskCanceledException
                && !_stop.IsCancellationRequested)
            {
                long now = progress();
                failures = now > reached ? 1 : failures + 1;
                reached = now;
                string cause = e is TaskCanceledException ? $"no answer within {SilenceLimit.TotalSeconds:0} s" : e.Message;
                if (failures >= MostFailures)
                {
                    throw new DeploymentException(
                        Fault.CannotConnect,
                        $"{url}: {cause}; tried {failures} times\n"
                        + "hint:  is this machine online? --mirror selects another site, or give a local archive", e);
                }

                var wait = TimeSpan.FromSeconds(Math.Min(8, 0.25 * Math.Pow(2, failures)));
                _tell($"{cause}; retrying in {wait.TotalSeconds:0.##} s");
                _pause(wait);
                _stop.ThrowIfCancellationRequested();
            }
        }
    }
}
