using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>What phases may say of the data that the file describes.</summary>
public interface IWrittenData
{
    /// <summary>How the file names the collection; null where it has none, so that nothing can be done on it.</summary>
    string? CollectionOf(string collection);

    /// <summary>The time series, by their names in the deployment: what they take depends on the order in which they are written.</summary>
    IEnumerable<string> TimeSeries { get; }

    /// <summary>What a text search asks for that finds as many documents as it did; null where no field has a text index.</summary>
    string? SearchOf(string collection);

    /// <summary>How the file writes the names of a path: as they are, or hashed.</summary>
    /// <exception cref="NotWritableException">One of them is data.</exception>
    string NameOf(string collection, string path);

    /// <summary>
    /// What <c>^field</c> may name of that field, such as <c>items.0.product</c> for an element of an array; null where hardly a document
    /// has it, or only some elements do.
    /// </summary>
    string? FieldOf(string collection, string path);

    /// <summary>The field at the path, or the first of any for an empty one, if its values are points of GeoJSON; otherwise null.</summary>
    string? PlaceOf(string collection, string path);

    /// <summary>How many names a document has at a path where names are data; null where they are none.</summary>
    int? NamesAt(string collection, string path);

    /// <summary>The generator of the field's values, as flow YAML; null where the file has none.</summary>
    string? GeneratorOf(string collection, string path);

    /// <summary>What the file has in place of a value, wherever that stands; null where its generators may make anything of it.</summary>
    string? ValueOf(string collection, string path, BsonValue value);

    /// <summary>
    /// What the file has in place of bounds between these two, so that the same share of documents lies below; null where they lie too
    /// far apart for one, or the field has no numbers or dates.
    /// </summary>
    string? BoundOf(string collection, string path, double least, double greatest);

    /// <summary>What has this share of the file's documents below it, 0 to 1; null where its generators don't tell.</summary>
    string? BoundAt(string collection, string path, double share);

    /// <summary>
    /// What the file has in place of two bounds that hardly move, given the least and the greatest of each and how far they were apart, so
    /// that as many documents lie between them; null where they move.
    /// </summary>
    (string Lower, string Upper)? WindowOf(
        string collection, string path, (double Least, double Greatest) lower, (double Least, double Greatest) upper, double width);

    /// <summary>
    /// Which share of the deployment's documents has the value of one that is drawn, with how likely each share is; empty for no such
    /// collection.
    /// </summary>
    IReadOnlyList<(double Weight, double Share)> SharesOf(string collection, string path);

    /// <summary>The deployment's documents.</summary>
    long DocumentsOf(string collection);

    /// <summary>A generator of values that no document has; null where its type has none.</summary>
    string? AbsentOf(string collection, string path);

    /// <summary>The share of the deployment's documents that have the value.</summary>
    double ShareOf(string collection, string path, BsonValue value);

    /// <summary>How many documents have the same value of the field, on average; at least 1.</summary>
    double DocumentsPerValue(string collection, string path);
}
