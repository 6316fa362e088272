using System.Text.RegularExpressions;
using MongoPerf.Input;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Drivers;

/// <summary>Why the executor could not be built, in one line.</summary>
internal static partial class DriverBuildError
{
    private const string Hint = $"{DriverLibrary.SourceVariable}=FOLDER (or a feed's address) names a source of MongoDB.Driver's packages, as 'dotnet nuget add source' does; --engine wire needs none";

    /// <param name="output">Of the build.</param>
    /// <param name="log">The file that has all of it.</param>
    public static UserException Explain(string output, string log)
    {
        Match error = FirstError().Match(output);
        if (!error.Success)
        {
            return output.Contains("SDK", StringComparison.Ordinal)
                ? new UserException(ExitCode.WrongUsage, "--engine driver builds an executor and needs the .NET 10 SDK; only the runtime is installed", "install the SDK (https://dot.net/download), or use --engine wire")
                : new UserException(ExitCode.WrongUsage, $"--engine driver: the executor of MongoDB.Driver can't be built; {log} says why");
        }

        string code = error.Groups["code"].Value;
        string text = ForeignText.OneLine(Secrets().Replace(error.Groups["text"].Value, "//***@").Trim(), 300);
        return code.StartsWith("NU", StringComparison.Ordinal)
            ? new UserException(ExitCode.WrongUsage, $"--engine driver: the package MongoDB.Driver can't be restored: {text} ({code})", Hint)
            : new UserException(ExitCode.WrongUsage, $"--engine driver: the executor of MongoDB.Driver can't be built: {text} ({code})", $"{log} has the whole output of the build");
    }

    [GeneratedRegex(@"error (?<code>[A-Z]+\d+): (?<text>[^\[\r\n]*)")]
    private static partial Regex FirstError();

    /// <summary>Who logs in at a feed.</summary>
    [GeneratedRegex(@"//[^/@\s]+@")]
    private static partial Regex Secrets();
}
