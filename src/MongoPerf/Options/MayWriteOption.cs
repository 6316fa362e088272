using System.CommandLine;
using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;

namespace MongoPerf.Options;

/// <summary><c>--may-write</c>.</summary>
internal static class MayWriteOption
{
    /// <summary>What was typed.</summary>
    /// <exception cref="UserException">It is not a name.</exception>
    public static IReadOnlyList<string> Read(ParseResult parsed, SharedOptions options)
    {
        try
        {
            return [.. (parsed.GetValue(options.MayWrite) ?? []).Select(WriteTargets.Parse)];
        }
        catch (FormatException e)
        {
            throw new UserException(ExitCode.WrongUsage, $"--may-write: {e.Message}");
        }
    }
}
