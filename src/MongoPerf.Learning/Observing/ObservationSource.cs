namespace MongoPerf.Learning.Observing;

/// <summary>Something that tells what a deployment did. It is only read, once, by one thread.</summary>
public abstract class ObservationSource
{
    /// <summary>The name by which servers know what 'learn' itself reads, which is not what they are for.</summary>
    public const string OwnApplication = "mongoperf learn";

    private readonly List<string> _notes = [];

    /// <summary>What it is, for people.</summary>
    public abstract string Name { get; }

    /// <summary>How long was observed, where the times of operations don't tell; known once all were read.</summary>
    public double? Seconds { get; private protected set; }

    /// <summary>Whether times are so exact that idle connections can be told from busy ones.</summary>
    public virtual bool HasPreciseTimes => false;

    /// <summary>Requests that it has read beside operations: of drivers, members and monitoring. Known once all were read.</summary>
    public double Others { get; private protected set; }

    /// <summary>Requests that it could not read. Known once all were read.</summary>
    public double NotUnderstood { get; private protected set; }

    /// <summary>What can't be learned from it, a sentence each; known once all was read.</summary>
    public IReadOnlyList<string> Notes => _notes;

    /// <summary>The operations, as they come.</summary>
    /// <exception cref="MongoPerf.Wire.Failures.MongoPerfException">It can't be read, or has none; says what to do about it.</exception>
    public abstract IEnumerable<ObservedOperation> Read();

    private protected void Note(string text) => _notes.Add(text);
}
