using MongoPerf.Server.Storage.Keys;

namespace MongoPerf.Server.Storage;

/// <summary>The unique keys of a write batch that is not written yet, so that it cannot hold one twice. Reused; one thread.</summary>
internal sealed class PendingKeys
{
    private const int FirstSlots = 64;
    private const int KeptSlots = 64 << 10;
    private const int KeptBytes = 4 << 20;

    private KeyBuffer _bytes = new();
    private Slot[] _slots = new Slot[FirstSlots];
    private int _count;
    private int _generation = 1;

    public void Clear()
    {
        if (_slots.Length > KeptSlots || _bytes.Capacity > KeptBytes)
        {
            _slots = new Slot[FirstSlots];
            _bytes = new KeyBuffer();
        }

        _bytes.Clear();
        _count = 0;
        // Slots of older generations count as empty: nothing is wiped for a batch of one.
        _generation++;
    }

    public bool Contains(int index, ReadOnlySpan<byte> key) =>
        _count > 0 && _slots[Find(index, key, Hash(index, key))].Generation == _generation;

    public void Add(int index, ReadOnlySpan<byte> key)
    {
        if (2 * (_count + 1) > _slots.Length)
            Enlarge();
        uint hash = Hash(index, key);
        _slots[Find(index, key, hash)] = new Slot(_generation, hash, index, _bytes.Length, key.Length);
        _bytes.Add(key);
        _count++;
    }

    private int Find(int index, ReadOnlySpan<byte> key, uint hash)
    {
        int mask = _slots.Length - 1;
        int at = (int)hash & mask;
        while (_slots[at].Generation == _generation)
        {
            Slot slot = _slots[at];
            if (slot.Hash == hash && slot.Index == index && _bytes.Written.Slice(slot.Start, slot.Length).SequenceEqual(key))
                break;
            at = (at + 1) & mask;
        }

        return at;
    }

    private void Enlarge()
    {
        Slot[] old = _slots;
        _slots = new Slot[2 * old.Length];
        foreach (Slot slot in old)
        {
            if (slot.Generation == _generation)
                _slots[Find(slot.Index, _bytes.Written.Slice(slot.Start, slot.Length), slot.Hash)] = slot;
        }
    }

    private static uint Hash(int index, ReadOnlySpan<byte> key)
    {
        var hash = new HashCode();
        hash.Add(index);
        hash.AddBytes(key);
        return (uint)hash.ToHashCode();
    }

    private readonly record struct Slot(int Generation, uint Hash, int Index, int Start, int Length);
}
