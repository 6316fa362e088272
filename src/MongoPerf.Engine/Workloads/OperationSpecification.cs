using System.Buffers.Binary;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Engine.Workloads;

/// <summary>What is done to a collection, in words that any executor can follow: one command and its reply.</summary>
/// <param name="Test">The name in options, results and files.</param>
public abstract record OperationSpecification(string Test)
{
    /// <summary>What is counted apart: the operations of a mix; itself otherwise.</summary>
    public virtual IReadOnlyList<OperationSpecification> Parts => [this];

    /// <summary>Documents that a reply must have to count as full; 0 when any number will do.</summary>
    public virtual int FullReply => 0;

    /// <summary>It adds documents.</summary>
    public virtual bool Inserts => false;

    public virtual int DocumentsPerCommand => 1;
}

/// <summary>Inserts generated documents; which numbers come next, a <see cref="NumberSource"/> says.</summary>
/// <param name="Test">unack, batch or safe, or a scenario's own name.</param>
/// <param name="BatchSize">Documents per command, 1 to maxWriteBatchSize.</param>
/// <param name="Acknowledged">False sends with w:0 and moreToCome and waits for nothing.</param>
/// <param name="Journal">True asks for j:true.</param>
/// <param name="Ordered">False lets the server go on after an error, and spread a batch over shards.</param>
public sealed record InsertSpecification(string Test, int BatchSize, bool Acknowledged, bool Journal, bool Ordered)
    : OperationSpecification(Test)
{
    public override bool Inserts => true;

    public override int DocumentsPerCommand => BatchSize;
}

/// <summary>A find whose filter holds values that are drawn anew for each operation.</summary>
/// <param name="Test">q4 to q7, or a scenario's own name.</param>
/// <param name="Filter">With placeholders of the right type where the parameters point.</param>
/// <param name="Limit">Documents at most; all come in one reply.</param>
public sealed record FindSpecification(string Test, BsonDocument Filter, int Limit) : OperationSpecification(Test)
{
    public override int FullReply => Limit;

    public BsonDocument? Sort { get; init; }

    public BsonDocument? Projection { get; init; }

    public int Skip { get; init; }

    public IReadOnlyList<DrawnParameter> Parameters { get; init; } = [];

    /// <summary>Whole documents come back, so that they can be compared with the generator's.</summary>
    public bool ReturnsWholeDocuments => Projection is null;

    /// <summary>The same query with the middle of each range drawn: what explain is asked about.</summary>
    public FindSpecification WithMiddleValues()
    {
        byte[] filter = Filter.Bytes.ToArray();
        foreach (DrawnParameter parameter in Parameters)
            BinaryPrimitives.WriteInt32LittleEndian(filter.AsSpan(BsonPath.ValueOffset(filter, parameter.Path, BsonType.Int32)), parameter.Range / 2);
        return this with { Filter = new BsonDocument(filter) };
    }

    /// <summary>The find command, without <c>$db</c>. Field order is that of MongoDB's own clients.</summary>
    public BsonDocument ToCommand(string collection)
    {
        var writer = new BsonWriter(512);
        writer.StartDocument();
        writer.WriteString("find"u8, collection);
        writer.WriteDocument("filter"u8, Filter.Bytes);
        if (Sort is not null)
            writer.WriteDocument("sort"u8, Sort.Bytes);
        if (Skip > 0)
            writer.WriteInt32("skip"u8, Skip);
        if (Projection is not null)
            writer.WriteDocument("projection"u8, Projection.Bytes);
        writer.WriteInt32("limit"u8, Limit);
        writer.WriteBoolean("singleBatch"u8, true);
        writer.End();
        return new BsonDocument(writer.ToArray());
    }
}

/// <summary>An int32 in the filter, uniform over 0 ≤ v &lt; <paramref name="Range"/>.</summary>
/// <param name="Path">Such as <c>Number.$gte</c>.</param>
/// <param name="Range">Above the greatest value.</param>
public sealed record DrawnParameter(string Path, int Range);
