using System.Text;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Sampling;

/// <summary>
/// The paths of <see cref="MetricCatalogue.Server"/> as a tree, so that a serverStatus reply is walked once and nothing is allocated.
/// </summary>
/// <remarks>Immutable after construction. Any numeric type is taken: servers choose by value and version.</remarks>
internal sealed class StatusTree
{
    // Where versions moved a figure; the first path that a reply has wins by being the only one there.
    private static readonly (string Metric, string Path)[] OtherPlaces =
    [
        ("cache_used", "mongoperfStorage.cacheBytesUsed"),
        ("cache_max", "mongoperfStorage.cacheBytesMax"),
        ("cache_dirty", "mongoperfStorage.dirtyBytes"),
        ("block_read", "mongoperfStorage.bytesRead"),
        ("block_written", "mongoperfStorage.bytesWritten"),
        ("tickets_read_out", "queues.execution.read.out"), // 8.0
        ("tickets_read_available", "queues.execution.read.available"),
        ("tickets_write_out", "queues.execution.write.out"),
        ("tickets_write_available", "queues.execution.write.available"),
        ("checkpoint_running", "wiredTiger.checkpoint.currently running"), // 7.1
        ("checkpoints", "wiredTiger.checkpoint.number of checkpoints started"),
        ("checkpoint_milliseconds", "wiredTiger.checkpoint.most recent time (msecs)"),
    ];

    private readonly Node _root = new([]);

    private StatusTree()
    {
    }

    /// <summary>The tree of the catalogue.</summary>
    public static StatusTree Catalogue { get; } = CreateFromCatalogue();

    /// <summary>Sets the columns that <paramref name="reply"/> has; the others are left as they are.</summary>
    /// <exception cref="BsonFormatException">The reply is no BSON.</exception>
    public void Fill(ReadOnlySpan<byte> reply, double[] values) => Fill(_root, reply, values);

    /// <summary>When the server read its counters, by its own clock; NaN where the reply has it not.</summary>
    /// <exception cref="BsonFormatException">The reply is no BSON.</exception>
    public static double FindUptimeMilliseconds(ReadOnlySpan<byte> reply)
    {
        var reader = new BsonReader(reply);
        while (reader.Read())
        {
            if (reader.IsNumber && reader.Name.SequenceEqual("uptimeMillis"u8))
                return reader.ToDouble();
        }

        return double.NaN;
    }

    private static StatusTree CreateFromCatalogue()
    {
        var tree = new StatusTree();
        for (int i = 0; i < MetricCatalogue.Server.Count; i++)
            tree.Add(MetricCatalogue.Server[i].Path, i);
        foreach ((string metric, string path) in OtherPlaces)
            tree.Add(path, MetricCatalogue.IndexOf(MetricCatalogue.Server, metric));
        return tree;
    }

    private void Add(string path, int column)
    {
        Node node = _root;
        foreach (string step in path.Split('.'))
            node = node.ChildNamed(Encoding.UTF8.GetBytes(step));
        node.Column = column;
    }

    private static void Fill(Node node, ReadOnlySpan<byte> document, double[] values)
    {
        var reader = new BsonReader(document);
        int left = node.Children.Count;
        while (left > 0 && reader.Read())
        {
            if (node.Find(reader.Name) is not { } child)
                continue;
            left--;
            if (reader.Type == BsonType.Document)
                Fill(child, reader.Value, values);
            else if (child.Column >= 0 && reader.IsNumber)
                values[child.Column] = reader.ToDouble();
            else if (child.Column >= 0 && reader.Type == BsonType.Boolean)
                values[child.Column] = reader.Boolean ? 1 : 0;
        }
    }

    private sealed class Node(byte[] name)
    {
        public List<Node> Children { get; } = [];

        public int Column { get; set; } = -1;

        private byte[] Name { get; } = name;

        public Node ChildNamed(byte[] name)
        {
            if (Find(name) is { } known)
                return known;
            var child = new Node(name);
            Children.Add(child);
            return child;
        }

        public Node? Find(ReadOnlySpan<byte> name)
        {
            foreach (Node child in Children)
            {
                if (name.SequenceEqual(child.Name))
                    return child;
            }

            return null;
        }
    }
}
