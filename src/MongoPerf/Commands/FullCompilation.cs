using MongoPerf.Deployments;
using MongoPerf.Options;
using MongoPerf.Platforms;

namespace MongoPerf.Commands;

/// <summary>
/// An installed program starts with quick compilation, so that commands answer at once. What measures is to be compiled fully before its
/// first call: on Linux the program then starts anew in its own place, with the same process number.
/// </summary>
/// <remarks>Elsewhere an installed program compiles fully from the beginning (Package.targets).</remarks>
internal static class FullCompilation
{
    private const string Variable = "DOTNET_TieredCompilation";
    private const string Setting = "System.Runtime.TieredCompilation";

    private static readonly string[] Measuring = ["agent", "calibrate", "null-server", "resume", "run", "series", "serve"];

    /// <summary>Does not return where the program starts anew.</summary>
    public static void Require(string[] args)
    {
        if (Platform.IsLinux && IsFor(args) && AppContext.TryGetSwitch(Setting, out bool isTiered) && isTiered
            && Environment.GetEnvironmentVariable(Variable) is null)
            SystemCalls.StartAnew([.. ThisProgram.Command, .. args], Variable, "0");
    }

    internal static bool IsFor(string[] args) =>
        CommandOf(args) is { } command && Measuring.Contains(command) && !args.Any(arg => arg is "--help" or "-h" or "-?");

    /// <summary>What is behind the one option that may come before a command, in all its spellings.</summary>
    private static string? CommandOf(string[] args) => args is [LanguageOption.Name, _, .. var rest] ? rest.FirstOrDefault()
        : args.FirstOrDefault(static arg => !arg.StartsWith(LanguageOption.Name, StringComparison.Ordinal));
}
