using System.CommandLine;
using MongoPerf.Scenarios;
using MongoPerf.Texts.Input;

namespace MongoPerf.Options;

/// <summary><c>--files</c>.</summary>
internal static class FilesOption
{
    public static Option<string?> Create() => OptionTypes.Folder(
        FilesFolder.Option,
        "Folder in which ^file looks for files, and an agent for a recording [default: the scenario's own; none for a stored scenario or "
        + "a coordinator's]");

    /// <summary>What was typed.</summary>
    /// <returns>None where nothing was.</returns>
    /// <exception cref="UserException">There is no such folder.</exception>
    public static FilesFolder Read(ParseResult parsed, Option<string?> option) =>
        parsed.GetValue(option) is not { } folder ? FilesFolder.None
        : Directory.Exists(folder) ? new FilesFolder(folder)
        : throw new UserException(ExitCode.WrongUsage, $"{FilesFolder.Option}: no folder '{folder}'");

    /// <summary>A file with the folder that was typed, or its own.</summary>
    public static ScenarioFile In(ParseResult parsed, Option<string?> option, ScenarioFile file) =>
        Read(parsed, option) is { FullPath: not null } typed ? file with { Data = typed } : file;
}
