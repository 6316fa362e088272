using System.Globalization;
using MongoPerf.Deployments.Installing;

namespace MongoPerf.Progress;

/// <summary>Shows how a transfer goes: in a terminal one line that changes, elsewhere a line every few seconds.</summary>
/// <remarks>One thread.</remarks>
internal sealed class DownloadProgress(TextWriter output, bool isTerminal, bool isQuiet) : IDisposable
{
    private const long TerminalMilliseconds = 200;
    private const long LineMilliseconds = 5000;

    private readonly long _interval = isTerminal ? TerminalMilliseconds : LineMilliseconds;
    private long _shownAt = Environment.TickCount64;
    private Transferred _shown;
    private bool _isOnLine;

    public void Show(Transferred now)
    {
        long time = Environment.TickCount64;
        long waited = time - _shownAt;
        bool isWhole = now.Bytes == now.Total;
        if (isQuiet || (waited < _interval && !(isTerminal && isWhole)))
            return;
        double perSecond =
            now.Bytes > _shown.Bytes && _shown.Bytes > 0 ? (now.Bytes - _shown.Bytes) * 1000.0 / Math.Max(1, waited) : double.NaN;
        string rate = double.IsNaN(perSecond) ? "" : $", {Megabytes(perSecond)} MB/s";
        string total = now.Total is { } all ? $" of {Megabytes(all)}" : "";
        string line = $"{Megabytes(now.Bytes)}{total} MB{rate}";
        output.Write(isTerminal ? "\r" + line.PadRight(40) : line + "\n");
        output.Flush();
        (_shownAt, _shown, _isOnLine) = (time, now, isTerminal);
    }

    public void Show(string line)
    {
        if (isQuiet)
            return;
        EndLine();
        output.WriteLine(line);
    }

    public void EndLine()
    {
        if (_isOnLine)
            output.WriteLine();
        _isOnLine = false;
    }

    public void Dispose() => EndLine();

    private static string Megabytes(double bytes) => (bytes / 1e6).ToString("0.0", CultureInfo.InvariantCulture);
}
