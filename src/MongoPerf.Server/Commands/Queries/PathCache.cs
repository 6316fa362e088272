using System.Text;
using MongoPerf.Server.Storage;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Field paths by their names, so that the same query makes no new ones. One thread (a session's own).</summary>
internal sealed class PathCache
{
    private const int MaximumPaths = 256;
    private readonly List<(byte[] Name, FieldPath Path)> _paths = [];

    public FieldPath Get(ReadOnlySpan<byte> name)
    {
        foreach ((byte[] known, FieldPath path) in _paths)
        {
            if (name.SequenceEqual(known))
                return path;
        }

        if (_paths.Count == MaximumPaths)
            _paths.Clear();
        string text = Encoding.UTF8.GetString(name);
        ProtocolLimits.RequirePath(text);
        var made = new FieldPath(text);
        _paths.Add((name.ToArray(), made));
        return made;
    }
}
