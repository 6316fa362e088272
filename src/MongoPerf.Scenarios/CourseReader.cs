using MongoPerf.Load.Plans;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads when a group's operations are due, and how many of its threads are at work.</summary>
/// <param name="reader">The reader of the phase or the group; lists of single values have been resolved to one of them.</param>
/// <param name="name">The name of the phase and the group, for messages.</param>
internal sealed class CourseReader(MappingReader reader, string name)
{
    private const double LeastRate = 1e-6;
    private const double MostRate = 1e9;

    /// <summary>The key's value is a list of values that gives a result for each, and not its course over time.</summary>
    public static bool IsSweep(ScenarioNode? node) =>
        node is SequenceNode { Items.Count: > 0 } list && list.Items.Any(item => item is not MappingNode);

    /// <summary>The group with its threads, its connections, its rate and its times to think.</summary>
    public PhaseGroup AddTo(PhaseGroup group) =>
        ConnectionsReader.AddTo(reader, name, WithCourse(group), PhaseReader.MostThreads);

    private PhaseGroup WithCourse(PhaseGroup group)
    {
        RatePlan? rate = Rate();
        ThinkTime? think = Think();
        if (rate is not null && (think ?? group.Operations.FirstOrDefault(o => o.Operation.Think is not null)?.Operation.Think) is not null)
            throw MappingReader.Wrong(
                reader.Find("think") ?? reader.Find("rate") ?? reader.Node, $"{name}: think is not allowed with a rate",
                "a rate says when operations are due, whatever the threads do in between");
        if (rate is null && reader.Find("arrivals") is { } arrivals)
            throw MappingReader.Wrong(arrivals, $"{name}: arrivals is not allowed without a rate", "such as rate: 1000");
        if (Pieces("threads", 0, PhaseReader.MostThreads) is not { } pieces)
            return group with { Threads = (int)(reader.Count("threads", 1, PhaseReader.MostThreads) ?? 1), Rate = rate, Think = think };
        ThreadStep[] steps = [.. StepsOf(pieces)];
        int most = steps.Max(step => step.Threads);
        return most > 0
            ? group with { Threads = most, ThreadSteps = steps, Rate = rate, Think = think }
            : throw MappingReader.Wrong(reader.Find("threads")!, $"{name}: threads is 0 throughout");
    }

    private RatePlan? Rate()
    {
        bool isPoisson = reader.OneOf("arrivals", ScenarioLanguage.ArrivalKinds) == "poisson";
        if (Pieces("rate", LeastRate, MostRate) is { } pieces)
            return new RatePlan(pieces, isPoisson);
        return (reader.Number("rate", LeastRate, MostRate) ?? ConnectionsReader.ChurnOf(reader, name)) is { } steady
            ? (RatePlan)steady with { IsPoisson = isPoisson }
            : null;
    }

    private ThinkTime? Think()
    {
        if (reader.Find("think") is not { } node)
            return null;
        // Of a time that is no time the phase's key is the place.
        return node is MappingNode || reader.Duration("think") is not null ? ThinkReader.Read(node, name) : null;
    }

    /// <returns>Null when the value is no list.</returns>
    private RatePiece[]? Pieces(string key, double least, double most)
    {
        if (reader.Find(key) is not SequenceNode { Items: { Count: > 0 } items })
            return null;
        var pieces = new List<RatePiece>();
        foreach ((int i, ScenarioNode item) in items.Index())
        {
            var piece = new MappingReader(item, $"{name}: {key}", ScenarioLanguage.Piece);
            double? at = piece.Number("at", least, most);
            double? to = piece.Number("to", least, most);
            double? from = piece.Number("from", least, most) ?? (pieces.Count > 0 ? pieces[^1].To : null);
            if ((at is null) == (to is null) || (at is not null && piece.Find("from") is not null))
                throw MappingReader.Wrong(item, $"{name}: {key}: a piece has either at, or from and to",
                    $"such as {key}: [{{at: 100, for: 10s}}, {{from: 100, to: 500, for: 30s}}]");
            if (to is not null && from is null)
                throw MappingReader.Wrong(item, $"{name}: {key}: the first piece has no 'from'",
                    "only later ones begin where the one before ended");
            double? seconds = piece.Duration("for");
            if (seconds is not > 0 && (to is not null || i < items.Count - 1))
                throw MappingReader.Wrong(
                    item, $"{name}: {key}: a piece has no 'for'", "only the last may leave it out, when it is a step");
            pieces.Add(new RatePiece(at ?? from!.Value, at ?? to!.Value, seconds ?? 0));
        }

        return [.. pieces];
    }

    /// <summary>A thread comes or goes when the line has reached its number.</summary>
    private static IEnumerable<ThreadStep> StepsOf(IEnumerable<RatePiece> pieces)
    {
        double start = 0;
        int? now = null;
        foreach (RatePiece piece in pieces)
        {
            int from = (int)Math.Round(piece.From);
            int to = (int)Math.Round(piece.To);
            if (now != from)
                yield return new ThreadStep(start, from);
            for (int i = 1; i <= Math.Abs(to - from); i++)
                yield return new ThreadStep(start + (piece.Seconds * i / Math.Abs(to - from)), from + (i * Math.Sign(to - from)));
            start += piece.Seconds;
            now = to;
        }
    }
}
