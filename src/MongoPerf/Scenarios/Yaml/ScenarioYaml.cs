using MongoPerf.Cli;
using YamlDotNet.Core;
using YamlDotNet.RepresentationModel;

namespace MongoPerf.Scenarios.Yaml;

/// <summary>Reads YAML 1.2 into nodes that know their place.</summary>
internal static class ScenarioYaml
{
    private const int MostNodes = 200_000;

    /// <param name="file">As errors are to name it.</param>
    /// <param name="text">One document.</param>
    /// <exception cref="UserException">No YAML, no mapping, several documents; says where.</exception>
    public static MappingNode Read(string file, string text)
    {
        YamlStream stream = Load(file, text);
        if (stream.Documents.Count != 1)
            throw new UserException(ExitCode.WrongUsage, $"{file}: the file holds {(stream.Documents.Count == 0 ? "nothing" : $"{stream.Documents.Count} documents")}, one is expected", "'mongoperf new my.yaml' writes a file to start from");
        int left = MostNodes;
        return Convert(file, stream.Documents[0].RootNode, ref left) is MappingNode root
            ? root
            : throw new UserException(ExitCode.WrongUsage, $"{file}:1: a mapping with 'data' and 'phases' is expected", "'mongoperf new my.yaml' writes a file to start from");
    }

    private static YamlStream Load(string file, string text)
    {
        try
        {
            var stream = new YamlStream();
            stream.Load(new StringReader(text));
            return stream;
        }
        catch (YamlException e)
        {
            // Its own text begins with the place again.
            string what = e.InnerException?.Message ?? e.Message;
            throw new UserException(ExitCode.WrongUsage, $"{file}:{e.Start.Line}: no YAML: {what[(what.LastIndexOf("): ", StringComparison.Ordinal) is var at && at >= 0 ? at + 3 : 0)..]}");
        }
    }

    private static ScenarioNode Convert(string file, YamlNode node, ref int left)
    {
        var position = new Position(file, (int)node.Start.Line, (int)node.Start.Column);
        // Aliases may name a node many times over: a small file must not become a huge tree.
        if (--left < 0)
            throw new UserException(ExitCode.WrongUsage, $"{position}: more than {MostNodes:N0} values");
        switch (node)
        {
            case YamlScalarNode scalar:
                RequireNoTag(position, scalar.Tag);
                return new ScalarNode(position, scalar.Value ?? "", scalar.Style is not (ScalarStyle.Plain or ScalarStyle.Any));
            case YamlSequenceNode sequence:
                RequireNoTag(position, sequence.Tag);
                var items = new List<ScenarioNode>();
                foreach (YamlNode item in sequence.Children)
                    items.Add(Convert(file, item, ref left));
                return new SequenceNode(position, items);
            case YamlMappingNode mapping:
                RequireNoTag(position, mapping.Tag);
                return ConvertMapping(file, position, mapping, ref left);
            default:
                throw new UserException(ExitCode.WrongUsage, $"{position}: unexpected {node.NodeType}");
        }
    }

    private static MappingNode ConvertMapping(string file, Position position, YamlMappingNode mapping, ref int left)
    {
        var entries = new List<MappingEntry>();
        foreach ((YamlNode key, YamlNode value) in mapping.Children)
        {
            if (Convert(file, key, ref left) is not ScalarNode name)
                throw new UserException(ExitCode.WrongUsage, $"{position}: a key is a text");
            entries.Add(new MappingEntry(name, Convert(file, value, ref left)));
        }

        return new MappingNode(position, entries);
    }

    private static void RequireNoTag(Position position, TagName tag)
    {
        if (!tag.IsEmpty && !tag.IsNonSpecific)
            throw new UserException(ExitCode.WrongUsage, $"{position}: the tag {tag.Value} is not known here", "types are written as values: {$numberLong: 5}, or as generators: {^long: [0, 9]}");
    }
}
