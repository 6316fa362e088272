using System.CommandLine;

namespace MongoPerf.Commands;

internal static class RunArgument
{
    public static Argument<string> Create() => new("RUN") { Description = "A run id, as shown by 'list runs', or a run folder" };
}
