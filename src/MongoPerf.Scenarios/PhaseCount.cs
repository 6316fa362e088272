using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Counts phases as they are read: a file whose parameters make millions of them is refused before it has taken minutes.</summary>
internal sealed class PhaseCount
{
    private const int Most = 10_000;

    private int _count;

    /// <param name="phase">The phase as it is written.</param>
    /// <exception cref="UserException">It is one too many.</exception>
    public void Add(ScenarioNode phase)
    {
        if (++_count > Most)
            throw MappingReader.Wrong(phase, $"the parameters' values make more than {Most:N0} phases, which is the limit",
                "use fewer values, here or with --set NAME=VALUE");
    }
}
