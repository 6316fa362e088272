using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace MongoPerf.Platforms;

/// <summary>
/// Opening a FIFO waits for its writer, which may never come: it is opened without waiting, and asked again and again.
/// </summary>
[SupportedOSPlatform("linux")]
public sealed partial class PipeStream(SafeFileHandle handle, string path, TimeSpan nobodyLimit, TimeSpan silenceLimit) : Stream
{
    // Of Linux: open's O_RDONLY | O_NONBLOCK | O_CLOEXEC, lseek's SEEK_CUR, errno's EINTR and EAGAIN, poll's POLLIN.
    private const int OpenFlags = 0x800 | 0x80000;
    private const int SeekCurrent = 1;
    private const int Interrupted = 4;
    private const int TryAgain = 11;
    private const short Readable = 1;
    private const int WaitMilliseconds = 50;

    private bool _hasWriter;

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <returns>Null for what is no pipe, and for what can't be opened.</returns>
    public static PipeStream? TryOpen(string path, TimeSpan nobodyLimit, TimeSpan silenceLimit)
    {
        int file = OpenFile(path, OpenFlags);
        if (file < 0)
            return null;
        var handle = new SafeFileHandle(file, ownsHandle: true);
        if (Seek(handle, 0, SeekCurrent) < 0)
            return new PipeStream(handle, path, nobodyLimit, silenceLimit);
        handle.Dispose();
        return null;
    }

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override int Read(Span<byte> buffer)
    {
        long start = Environment.TickCount64;
        while (buffer.Length > 0)
        {
            nint read = ReadFile(handle, buffer, buffer.Length);
            int error = read < 0 ? Marshal.GetLastPInvokeError() : 0;
            if (error is not (0 or Interrupted or TryAgain))
                throw new IOException($"{path}: {Marshal.GetPInvokeErrorMessage(error)}");
            // Nothing to read, but somebody who may write; or the end, if somebody has been there.
            _hasWriter |= read > 0 || error == TryAgain;
            if (read > 0 || (read == 0 && _hasWriter))
                return (int)read;
            TimeSpan limit = _hasWriter ? silenceLimit : nobodyLimit;
            if (Environment.TickCount64 - start > limit.TotalMilliseconds)
                throw new TimeoutException($"{path} is a pipe, "
                    + $"and {(_hasWriter ? $"nothing came from it for {limit.TotalSeconds:0.#} s" : "nobody writes to it")}");
            if (error == TryAgain)
            {
                var wait = new PollFile { File = (int)handle.DangerousGetHandle(), Events = Readable };
                _ = Poll(ref wait, 1, WaitMilliseconds);
            }
            else
            {
                Thread.Sleep(WaitMilliseconds);
            }
        }

        return 0;
    }

    public override void Flush()
    {
    }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        handle.Dispose();
        base.Dispose(disposing);
    }

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int OpenFile(string path, int flags);

    [LibraryImport("libc", EntryPoint = "lseek", SetLastError = true)]
    private static partial long Seek(SafeFileHandle file, long offset, int whence);

    [LibraryImport("libc", EntryPoint = "read", SetLastError = true)]
    private static partial nint ReadFile(SafeFileHandle file, Span<byte> buffer, nint length);

    [LibraryImport("libc", EntryPoint = "poll")]
    private static partial int Poll(ref PollFile file, uint count, int milliseconds);

    /// <summary>struct pollfd.</summary>
    [StructLayout(LayoutKind.Sequential)]
    private struct PollFile
    {
        public int File;
        public short Events;
        public short Happened;
    }
}
