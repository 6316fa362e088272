namespace MongoPerf.Load.Documents.Rows;

/// <summary>Reads rows one after the other, from any place where one begins. One thread.</summary>
internal sealed class RowReader(RowFile file)
{
    private const int FirstBuffer = 32 * 1024;

    private byte[] _buffer = new byte[FirstBuffer];

    /// <summary>Of the buffer's first byte in the file.</summary>
    private long _bufferOffset;
    private int _filled;
    private bool _isAtEnd;

    /// <summary>Where the next row begins, blank lines before it included.</summary>
    private int _next;
    private int _start;
    private int _length;
    private long _lineOfNext = 1;

    /// <summary>Of the row in the file.</summary>
    public long Offset => _bufferOffset + _start;

    /// <summary>The line that the row begins on, counted from 1, where reading began with the file.</summary>
    public long Line { get; private set; }

    public ReadOnlySpan<byte> Row => _buffer.AsSpan(_start, _length);

    /// <summary>Goes to a place where a row begins.</summary>
    /// <param name="offset">In the file.</param>
    /// <param name="isFirst">It is the file's beginning: a byte order mark, and the names of columns, are passed over.</param>
    /// <returns>False for an empty file.</returns>
    public bool Start(long offset, bool isFirst = false)
    {
        if (offset >= _bufferOffset && offset < _bufferOffset + _filled)
        {
            _next = (int)(offset - _bufferOffset);
        }
        else
        {
            (_bufferOffset, _filled, _next, _isAtEnd) = (offset, 0, 0, false);
            Fill();
        }

        if (!isFirst)
            return true;
        _next = file.Format.Begin(file.Name, _buffer.AsSpan(0, _filled));
        return !file.Format.HasHeader || (MoveNext() && file.Format.ReadHeader(file.Name, Row));
    }

    /// <returns>False at the end of the file.</returns>
    /// <exception cref="RowFormatException">The row never ends, or is too long.</exception>
    public bool MoveNext()
    {
        while (true)
        {
            int end = 0;
            while (!file.Format.TryFindEnd(_buffer.AsSpan(_next, _filled - _next), _isAtEnd, ref end))
            {
                if (_isAtEnd)
                    throw new RowFormatException($"{file.Name}, line {_lineOfNext}: the quote that begins here never ends");
                if (_filled - _next > RowFile.MostRowBytes)
                    throw new RowFormatException(
                        $"{file.Name}, line {_lineOfNext}: longer than {RowFile.MostRowBytes / 1024 / 1024} MB, the limit for a row");
                Fill();
            }

            if (_isAtEnd && _next == _filled)
                return false;
            Line = _lineOfNext;
            (_start, _length) = (_next, end);
            _next = Math.Min(_filled, _next + end + 1);
            ReadOnlySpan<byte> row = Row;
            _lineOfNext += 1 + (file.Format.HasHeader ? row.Count((byte)'\n') : 0);
            if (row.EndsWith("\r"u8))
                row = Row[..--_length];
            if (!row.Trim(" \t"u8).IsEmpty)
                return true;
        }
    }

    /// <summary>Reads on, behind what is left of the buffer.</summary>
    private void Fill()
    {
        int left = _filled - _next;
        if (_next == 0 && left == _buffer.Length)
            Array.Resize(ref _buffer, 2 * _buffer.Length);
        else
            _buffer.AsSpan(_next, left).CopyTo(_buffer);
        _bufferOffset += _next;
        (_next, _filled) = (0, left);
        int read = file.ReadAt(_buffer.AsSpan(left), _bufferOffset + left);
        _filled += read;
        _isAtEnd = read == 0;
    }
}

/// <summary>One thread's place in a file of rows.</summary>
internal sealed class RowCursor(RowFile file)
{
    private readonly RowReader _reader = new(file);
    private long _row = -1;

    /// <param name="row">0-based.</param>
    public ReadOnlySpan<byte> Read(long row)
    {
        if (row == _row)
            return _reader.Row;
        RowMark mark = file.MarkOf(row);
        // Reading on is cheaper than beginning anew, if the mark lies behind.
        if (_row < 0 || row < _row || mark.Row > _row + 1)
        {
            _reader.Start(mark.Offset);
            _row = mark.Row - 1;
        }

        while (_row < row)
        {
            bool isThere;
            try
            {
                isThere = _reader.MoveNext();
            }
            catch (RowFormatException)
            {
                isThere = false;
            }

            if (!isThere)
            {
                _row = -1;
                throw file.Changed();
            }

            _row++;
        }

        return _reader.Row;
    }
}
