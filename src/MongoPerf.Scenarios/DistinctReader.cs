using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;

namespace MongoPerf.Scenarios;

/// <summary>Reads <c>^distinct</c>: one of so many different values.</summary>
internal static class DistinctReader
{
    private const long MostValues = long.MaxValue / 2;

    /// <summary>The values depend on what makes them alone, so that data and operations have the same ones.</summary>
    public static TemplateValue Read(GeneratorReader reader, ulong salt, ValueSources sources)
    {
        long count = reader.Count("values", 1, MostValues) ?? throw reader.Wrong("'values' is missing: how many there are");
        KeyChoice choice = reader.Node("key") is { } key ? KeyChoiceReader.Read(key, sources.Scale) : KeyChoice.Uniform;
        if (choice is SequentialChoice)
            throw reader.Wrong("key is sequential, which depends on what was drawn before; a document depends on its number alone",
                "{^number: {cycle: …}} goes through numbers one after the other");
        TemplateValue value = new TemplateReader(null, sources).Value(reader.Require("of"), Generator.DistinctName);
        return KeyedValue.Of(new DocumentTemplate(DocumentValue.Empty, sources.Seed, Generator.DistinctName), value, choice, count, salt);
    }
}
