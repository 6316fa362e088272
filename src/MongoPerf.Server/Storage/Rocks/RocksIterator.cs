namespace MongoPerf.Server.Storage.Rocks;

/// <summary>Walks one column family in key order, over the state it had when the iterator was made. One thread.</summary>
/// <remarks>
/// Keys and values are RocksDB's own memory, valid until the next move. After <see cref="Dispose"/> the object may be opened again.
/// </remarks>
internal sealed unsafe class RocksIterator : IDisposable
{
    private nint _handle;

    public bool IsOpen => _handle != 0;

    /// <summary>Takes over a native iterator; an open one is disposed first.</summary>
    public void Open(nint handle)
    {
        Dispose();
        _handle = handle;
    }

    public bool Valid => RocksNative.IteratorValid(_handle) != 0;

    public ReadOnlySpan<byte> Key
    {
        get
        {
            nuint length;
            byte* start = RocksNative.IteratorKey(_handle, &length);
            return new ReadOnlySpan<byte>(start, (int)length);
        }
    }

    public ReadOnlySpan<byte> Value
    {
        get
        {
            nuint length;
            byte* start = RocksNative.IteratorValue(_handle, &length);
            return new ReadOnlySpan<byte>(start, (int)length);
        }
    }

    /// <summary>Moves to the first key that is not before <paramref name="key"/>.</summary>
    public void Seek(ReadOnlySpan<byte> key)
    {
        fixed (byte* start = key)
            RocksNative.IteratorSeek(_handle, start, (nuint)key.Length);
    }

    /// <summary>Moves to the last key that is not after <paramref name="key"/>.</summary>
    public void SeekForPrevious(ReadOnlySpan<byte> key)
    {
        fixed (byte* start = key)
            RocksNative.IteratorSeekForPrevious(_handle, start, (nuint)key.Length);
    }

    public void SeekToFirst() => RocksNative.IteratorSeekToFirst(_handle);

    public void SeekToLast() => RocksNative.IteratorSeekToLast(_handle);

    public void Next() => RocksNative.IteratorNext(_handle);

    public void Previous() => RocksNative.IteratorPrevious(_handle);

    /// <exception cref="StorageException">The walk ended early because of a read error.</exception>
    public void ThrowOnError()
    {
        byte* error = null;
        RocksNative.IteratorError(_handle, &error);
        RocksDatabase.ThrowOn(error);
    }

    public void Dispose()
    {
        if (_handle != 0)
            RocksNative.DestroyIterator(_handle);
        _handle = 0;
    }
}
