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
        foreach ((int i, Metric metric) in MetricCatalogue.Server.Index())
        {
            foreach (string path in metric.Places)
                tree.Add(path, i);
        }

        return tree;
    }

    private void Add(string path, int column)
    {
        Node node = _root;
        foreach (string step in path.Split('.'))
            node = node.ChildNamed(Encoding.UTF8.GetBytes(step));
        node.Column = column;
        node.IsState = path == MetricCatalogue.CheckpointState;
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
                values[child.Column] = child.IsState ? Math.Min(1, reader.ToDouble()) : reader.ToDouble();
            else if (child.Column >= 0 && reader.Type == BsonType.Boolean)
                values[child.Column] = reader.Boolean ? 1 : 0;
        }
    }

    private sealed class Node(byte[] name)
    {
        public List<Node> Children { get; } = [];

        public int Column { get; set; } = -1;

        /// <summary>Any value but 0 means yes.</summary>
        public bool IsState { get; set; }

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
