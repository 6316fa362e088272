using System.Buffers.Binary;
using System.Security.Cryptography;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>Reads <c>^distinct</c>: one of so many different values.</summary>
internal static class DistinctReader
{
    private const long MostValues = long.MaxValue / 2;

    /// <summary>Of more values some may be the same: to tell, all are made when the file is read.</summary>
    private const long MostCompared = 1_000_000;

    /// <summary>Where so many others are the same, too, the generator has hardly more values.</summary>
    private const int Attempts = 1000;

    /// <summary>The values depend on what makes them alone, so that data and operations have the same ones.</summary>
    public static TemplateValue Read(GeneratorReader reader, ulong salt, ValueSources sources)
    {
        long count = reader.Count("values", 1, MostValues) ?? throw reader.Wrong("'values' is missing: how many there are");
        KeyChoice choice = reader.Node("key") is { } key ? KeyChoiceReader.Read(key, sources.Scale) : KeyChoice.Uniform;
        if (choice is SequentialChoice)
            throw reader.Wrong("key is sequential, which depends on what was drawn before; a document depends on its number alone",
                "{^number: {cycle: …}} goes through numbers one after the other");
        TemplateValue value = new TemplateReader(null, sources).Value(reader.Require("of"), Generator.DistinctName);
        var template = new DocumentTemplate(DocumentValue.Empty, sources.Seed, Generator.DistinctName);
        if (reader.Text("draw") is { } draw)
            salt = Salt.Of($"{Generator.DistinctName} {draw}");
        return KeyedValue.Of(template, value, choice, count, salt, Different(template, value, count));
    }

    /// <summary>Of the numbers whose value an earlier number has, others that have one of their own.</summary>
    private static Dictionary<long, long> Different(DocumentTemplate template, TemplateValue value, long count)
    {
        var others = new Dictionary<long, long>();
        if (count > MostCompared)
            return others;
        var seen = new HashSet<ulong>();
        var writer = new BsonWriter();
        for (long i = 0; i < count; i++)
        {
            if (seen.Add(HashOf(i)))
                continue;
            for (int attempt = 1; attempt <= Attempts; attempt++)
            {
                long other = i + (attempt * count);
                if (other >= value.Limit || !seen.Add(HashOf(other)))
                    continue;
                others[i] = other;
                break;
            }

            // Nothing new will come.
            if (!others.ContainsKey(i))
                break;
        }

        return others;

        ulong HashOf(long number)
        {
            writer.Clear();
            writer.StartDocument();
            value.Write(writer, [], template.ContextOf(number));
            writer.End();
            return BinaryPrimitives.ReadUInt64LittleEndian(SHA256.HashData(writer.Written));
        }
    }
}
