namespace MongoPerf.Server.Storage.Rocks;

/// <summary>Changes that are written together; the native buffer is used again after <see cref="Clear"/>. One thread.</summary>
internal sealed unsafe class RocksBatch : IDisposable
{
    public nint Handle { get; private set; } = RocksNative.CreateBatch();

    /// <summary>Bytes of keys and values added since <see cref="Clear"/>.</summary>
    public long Bytes { get; private set; }

    public int Count { get; private set; }

    public void Clear()
    {
        RocksNative.ClearBatch(Handle);
        Bytes = 0;
        Count = 0;
    }

    public void Put(nint column, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        fixed (byte* keyStart = key)
        fixed (byte* valueStart = value)
            RocksNative.BatchPut(Handle, column, keyStart, (nuint)key.Length, valueStart, (nuint)value.Length);
        Bytes += key.Length + value.Length;
        Count++;
    }

    public void Delete(nint column, ReadOnlySpan<byte> key)
    {
        fixed (byte* keyStart = key)
            RocksNative.BatchDelete(Handle, column, keyStart, (nuint)key.Length);
        Bytes += key.Length;
        Count++;
    }

    public void Dispose()
    {
        if (Handle != 0)
            RocksNative.DestroyBatch(Handle);
        Handle = 0;
    }
}
