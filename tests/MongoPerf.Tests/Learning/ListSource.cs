using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Writing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Learning;

/// <summary>Operations that a test made up.</summary>
internal sealed class ListSource(IEnumerable<ObservedOperation> operations, bool isPrecise = true) : ObservationSource
{
    public override string Name => "a test";

    public override bool HasPreciseTimes => isPrecise;

    /// <summary>A command by its JSON, so many times, 10 ms apart, with a value drawn for each.</summary>
    public static IEnumerable<ObservedOperation> Of(int count, Func<int, string> json, string connection = "1", double took = 500)
    {
        for (int i = 0; i < count; i++)
        {
            BsonDocument command = ExtendedJson.Parse(json(i).Replace('\'', '"'));
            (string _, BsonValue first) = command.First();
            yield return new ObservedOperation(i * 0.01, "shop", first.Type == BsonType.String ? first.ToString() : "", command, took)
            {
                Connection = connection,
            };
        }
    }

    public static OperationMix Mix(IEnumerable<ObservedOperation> operations, bool isPrecise = true)
    {
        var source = new ListSource(operations, isPrecise);
        return MixBuilder.Of(source).Finish(source, "shop", (_, _) => new FieldPopulation(1000, 1000));
    }

    public override IEnumerable<ObservedOperation> Read() => operations;
}

/// <summary>Data of a file with one collection, whose documents have the fields n, name and items.product.</summary>
internal sealed class OrdersData : IWrittenData
{
    public const string Text = """
        data:
          orders:
            count: 1000
            document: {_id: ^number, n: ^number, name: ^word, at: {^date: {start: 2024-01-01, step: 1s}}, items: [{product: {^int: [1,
                9]}}]}

        """;

    public string? CollectionOf(string collection) => collection == "orders" ? "orders" : null;

    public IEnumerable<string> TimeSeries => [];

    public string? SearchOf(string collection) => null;

    public string NameOf(string collection, string path) => path;

    public int? NamesAt(string collection, string path) => null;

    public string? FieldOf(string collection, string path) => path switch
    {
        "_id" or "n" or "name" or "at" => path,
        "items.product" => "items.0.product",
        _ => null,
    };

    public string? PlaceOf(string collection, string path) => path is "" or "at" ? "at" : null;

    public string? GeneratorOf(string collection, string path) => path switch { "name" => "^word", "at" => "{^point: {}}", _ => null };

    public string? ValueOf(string collection, string path, BsonValue value) => null;

    public string? BoundOf(string collection, string path, double least, double greatest) => null;

    public string? BoundAt(string collection, string path, double share) => null;

    public (string Lower, string Upper)? WindowOf(string collection, string path, (double Least, double Greatest) lower,
        (double Least, double Greatest) upper, double width) => null;

    public IReadOnlyList<(double Weight, double Share)> SharesOf(string collection, string path) => [(1, 0.001)];

    public long DocumentsOf(string collection) => 1000;

    public string? AbsentOf(string collection, string path) => null;

    public double ShareOf(string collection, string path, BsonValue value) => 0;

    public double DocumentsPerValue(string collection, string path) => 1;
}
