namespace MongoPerf.Learning.Observing;

/// <summary>What is known of a field from the data, without which few requests don't tell from how many keys they were drawn.</summary>
/// <param name="Documents">The collection's documents.</param>
/// <param name="Distinct">The field's different values.</param>
public readonly record struct FieldPopulation(double Documents, double Distinct);
