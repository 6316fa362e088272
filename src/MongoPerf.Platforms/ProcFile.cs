using Microsoft.Win32.SafeHandles;

namespace MongoPerf.Platforms;

/// <summary>A small text file of /proc that is kept open and read again from its start, without allocating.</summary>
/// <remarks>
/// One thread. A file that is not there reads as empty for ever: what /proc holds does not come later. On other systems all are empty.
/// </remarks>
public sealed class ProcFile : IDisposable
{
    private readonly SafeFileHandle? _handle;

    public ProcFile(string path)
    {
        try
        {
            _handle = Platform.IsLinux ? File.OpenHandle(path) : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            _handle = null;
        }
    }

    /// <summary>Reads as much as <paramref name="buffer"/> holds.</summary>
    /// <returns>What was read, a part of the buffer; empty when the file can't be read.</returns>
    public ReadOnlySpan<byte> Read(Span<byte> buffer)
    {
        int length = 0;
        try
        {
            while (_handle is not null && length < buffer.Length)
            {
                int count = RandomAccess.Read(_handle, buffer[length..], length);
                if (count == 0)
                    break;
                length += count;
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return default;
        }

        return buffer[..length];
    }

    public void Dispose() => _handle?.Dispose();
}
