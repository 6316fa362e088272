using System.CommandLine;

namespace MongoPerf.Commands;

/// <summary>Makes the argument by which commands name one stored run.</summary>
internal static class RunArgument
{
    public static Argument<string> Create() => new("RUN") { Description = "A run id, as shown by 'list runs', or a run folder" };
}
