using System.Globalization;
using System.Text.RegularExpressions;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads how the threads of a group come by their connections.</summary>
internal static partial class ConnectionsReader
{
    private const string Pool = "pool";
    private const string Churn = "churn";
    private const string Storm = "storm";
    private const string Example = "such as connections: {pool: 20}, {churn: 50/s} or {storm: 2000}";

    /// <summary>More than a server logs in: each login is worth some milliseconds of a processor.</summary>
    private const double MostPerSecond = 100_000;

    /// <param name="reader">The reader of the phase or the group.</param>
    /// <param name="name">Its name, for messages.</param>
    /// <param name="group">The group with its operations.</param>
    /// <param name="most">How many connections there may be.</param>
    /// <returns>The group with its connections; with a churn it has a rate, with a storm its threads.</returns>
    public static PhaseGroup AddTo(MappingReader reader, string name, PhaseGroup group, int most)
    {
        if (reader.Find("connections") is not { } node)
            return group;
        var connections = new MappingReader(node, $"{name}: connections", ScenarioLanguage.Connections);
        string[] given = [.. ScenarioLanguage.Connections.Names.Where(key => connections.Find(key) is not null)];
        if (given is not [var kind])
            throw MappingReader.Wrong(node, $"{name}: connections has {(given.Length == 0 ? "nothing" : string.Join(" and ", given))}; "
                + $"expected one of {string.Join(", ", ScenarioLanguage.Connections.Names)}", Example);
        Refuse(reader, name, kind, kind == Churn ? "rate" : kind == Storm ? "threads" : null);
        if (group.Operations.SelectMany(item => item.Operation.Steps.Concat(item.Operation.Leaves))
            .FirstOrDefault(one => one.Concerns.IsUnacknowledged) is { } unacknowledged)
            throw MappingReader.Wrong(node, $"{name}: operation '{unacknowledged.Name}' is not acknowledged (w: 0), which is not allowed "
                + "with connections", "whether its writes have arrived is seen on their own connection, which others use by then");
        return kind switch
        {
            Pool => group with { Connections = Use(ConnectionKind.Pool, (int)connections.Count(Pool, 1, most)!) },
            Storm when (int)connections.Count(Storm, 1, most)! is var all =>
                group with { Connections = Use(ConnectionKind.Storm, all), Threads = all },
            _ => group with { Connections = Use(ConnectionKind.Churn, 0) },
        };

        ConnectionUse Use(ConnectionKind of, int count) => new(OperationResult.NameOf(of, group.Name), of, count);
    }

    /// <summary>How many connections are opened per second; null where none are opened for operations.</summary>
    /// <param name="reader">The reader of the phase or the group.</param>
    /// <param name="name">Its name, for messages.</param>
    public static double? ChurnOf(MappingReader reader, string name)
    {
        if (reader.Find("connections") is not MappingNode node
            || new MappingReader(node, $"{name}: connections", ScenarioLanguage.Connections).Text(Churn) is not { } text)
            return null;
        Match match = Form().Match(text);
        return match.Success
            && double.Parse(match.Groups["number"].Value, CultureInfo.InvariantCulture) is > 0 and <= MostPerSecond and var rate
            ? rate
            : throw MappingReader.Wrong(node.Find(Churn)!,
                $"{name}: connections: churn is '{text}'; expected connections per second such as 50/s, at most {MostPerSecond:N0}/s");
    }

    private static void Refuse(MappingReader reader, string name, string kind, string? key)
    {
        if (key is not null && reader.Find(key) is { } node)
            throw MappingReader.Wrong(node, $"{name}: {key} is not allowed with connections: {{{kind}: …}}, which says it itself",
                node.Position == Position.CommandLine ? $"leave --{key} out" : $"leave {key} out");
    }

    [GeneratedRegex(@"^\s*(?<number>[0-9]{1,9}(\.[0-9]{1,6})?)\s*(/\s*s)?\s*$", RegexOptions.CultureInvariant)]
    private static partial Regex Form();
}
