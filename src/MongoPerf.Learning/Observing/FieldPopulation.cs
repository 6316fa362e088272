namespace MongoPerf.Learning.Observing;

/// <summary>What is known of a field from the data, without which few requests don't tell from how many keys they were drawn.</summary>
/// <param name="Documents">The collection's documents.</param>
/// <param name="Distinct">The field's different values.</param>
public readonly record struct FieldPopulation(double Documents, double Distinct);

/// <summary>What is known of a field when an operation's values of it are understood.</summary>
/// <param name="Population">Of the data; null for nothing.</param>
/// <param name="Keys">How all operations together draw it, which few values of one of them can't tell.</param>
internal readonly record struct KnownField(FieldPopulation? Population, KeyDistribution Keys);
