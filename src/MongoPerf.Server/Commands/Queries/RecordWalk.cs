using System.Buffers;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Rocks;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Reads records whose numbers follow one another, upwards or downwards, as they were at the first read. One thread.</summary>
/// <remarks>
/// RocksDB steps back at several times the price of a step forward (in its memtables it searches from the top each time), so downwards
/// a stretch of records is read by steps forward and copied. After <see cref="Dispose"/> the object may be used again.
/// </remarks>
internal sealed class RecordWalk : IDisposable
{
    private const int FirstStretch = 8;
    private const int LongestStretch = 32;
    private const int StretchBytes = 64 << 10;

    private readonly RocksIterator _records = new();
    private readonly (int Start, int Length)[] _documents = new (int, int)[LongestStretch];
    private byte[]? _bytes;
    private long _iteratorAt;
    private long _current;
    private long _stretchFirst;
    private int _stretchLength;
    private bool _areLarge;
    private bool _isCopied;

    /// <summary>Valid until the next move.</summary>
    public ReadOnlySpan<byte> Document => _isCopied ? Copy(_current) : _records.Value;

    /// <summary>Goes to a record, cheaply when it is next to the one before.</summary>
    /// <returns>False when there is no such record.</returns>
    public bool MoveTo(Collection collection, long record)
    {
        bool isNew = !_records.IsOpen;
        if (isNew)
            collection.Iterate(index: null, _records);
        bool isBelow = record == _current - 1;
        _current = record;
        _isCopied = IsInStretch(record) || (isBelow && !_areLarge && TryReadStretch(record));
        if (_isCopied)
            return Copy(record).Length > 0;
        MoveIterator(record, isNew);
        return _iteratorAt == record;
    }

    public void Dispose()
    {
        _records.Dispose();
        if (_bytes != null)
            ArrayPool<byte>.Shared.Return(_bytes);
        _bytes = null;
        _stretchLength = 0;
        _current = 0;
        _areLarge = false;
    }

    private void MoveIterator(long record, bool isNew)
    {
        if (!isNew && _records.Valid && record == _iteratorAt + 1)
            _records.Next();
        else if (!isNew && _records.Valid && record == _iteratorAt - 1)
            _records.Previous();
        else
            Seek(record);
        // A step that met a gap stands elsewhere: the record is gone.
        NotePlace();
    }

    /// <summary>
    /// Copies the records up to this one. Each stretch is twice as long as the one before: the query may need only a few.
    /// </summary>
    /// <returns>False when they are too large; then none is copied in this walk any more.</returns>
    private bool TryReadStretch(long last)
    {
        int length = (int)Math.Min(last, _stretchLength == 0 ? FirstStretch : Math.Min(2 * _stretchLength, LongestStretch));
        _bytes ??= ArrayPool<byte>.Shared.Rent(StretchBytes);
        _documents.AsSpan(0, length).Clear();
        _stretchFirst = last - length + 1;
        _stretchLength = length;
        int used = 0;
        Seek(_stretchFirst);
        for (NotePlace(); _iteratorAt != 0 && _iteratorAt <= last; _records.Next(), NotePlace())
        {
            ReadOnlySpan<byte> document = _records.Value;
            if (!document.TryCopyTo(_bytes.AsSpan(used)))
            {
                _areLarge = true;
                _stretchLength = 0;
                return false;
            }

            _documents[_iteratorAt - _stretchFirst] = (used, document.Length);
            used += document.Length;
        }

        return true;
    }

    private bool IsInStretch(long record) => record >= _stretchFirst && record < _stretchFirst + _stretchLength;

    private ReadOnlySpan<byte> Copy(long record)
    {
        (int start, int length) = _documents[record - _stretchFirst];
        return _bytes.AsSpan(start, length);
    }

    private void Seek(long record)
    {
        Span<byte> key = stackalloc byte[RecordId.Size];
        RecordId.Write(key, record);
        _records.Seek(key);
    }

    private void NotePlace() => _iteratorAt = _records.Valid ? RecordId.Read(_records.Key) : 0;
}
