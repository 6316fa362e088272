using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Sampling;

/// <summary>What the sampled documents of a collection have at one path; statistics only.</summary>
/// <param name="Path">Dotted, without positions in arrays.</param>
/// <param name="Presence">The share of documents (within arrays: of elements) that have the field, over 0 up to 1.</param>
/// <param name="Types">The share of each type among the values.</param>
/// <param name="Distinct">An estimate of how many different values the whole collection has.</param>
public sealed record FieldStatistics(string Path, double Presence, IReadOnlyDictionary<BsonType, double> Types, double Distinct);
