using MongoPerf.Engine.Documents.GridFs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Engine.Execution.GridFs;

/// <summary>Writes files: a file's chunks, then its document, counted and timed as one operation.</summary>
/// <param name="Test">Its name in results.</param>
/// <param name="Files">Which; numbers come from the phase's source.</param>
public sealed record GridFsWriteSpecification(string Test, GridFsFileSet Files) : OperationSpecification(Test);

/// <summary>Reads files whole: a file's document, then its chunks in order, counted and timed as one operation.</summary>
/// <param name="Test">Its name in results.</param>
/// <param name="Files">Which.</param>
/// <param name="Count">Files 0 to Count - 1 are there; drawn uniformly. 1 or more.</param>
public sealed record GridFsReadSpecification(string Test, GridFsFileSet Files, int Count) : OperationSpecification(Test);
