using System.Text.Json;
using MongoPerf.Deployments.Installing;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>Calibrations in the user's cache, a small file for each CPU model: a home folder may be that of several machines.</summary>
/// <remarks>Only the owner reads and writes them. What anybody else could have written is not read.</remarks>
/// <param name="folder">Full path; need not exist.</param>
public sealed class CalibrationFolder(string folder)
{
    private const int MostBytes = 64 * 1024;
    private const int LongestName = 100;
    private const UnixFileMode OthersWrite = UnixFileMode.GroupWrite | UnixFileMode.OtherWrite;

    /// <returns>Null when the environment names no such folder: not even HOME is set.</returns>
    public static CalibrationFolder? OfUser() =>
        UserCache.Find(Environment.GetEnvironmentVariable) is { } cache ? new CalibrationFolder(Path.Combine(cache, "calibrations")) : null;

    /// <summary>The path for a CPU model, such as intel-r-xeon-r-cpu-2-60ghz.json.</summary>
    public string PathOf(string cpuModel)
    {
        string words = string.Concat(cpuModel.Take(LongestName).Select(c => char.IsAsciiLetterOrDigit(c) ? char.ToLowerInvariant(c) : ' '));
        return Path.Combine(folder, string.Join('-', words.Split(' ', StringSplitOptions.RemoveEmptyEntries)) + ".json");
    }

    /// <param name="cpuModel">The cpu model as the system names it.</param>
    /// <param name="problem">A line about a file that is there and can't be used; otherwise null.</param>
    /// <returns>Null when there is none for this model.</returns>
    public ClientCalibration? Find(string cpuModel, out string? problem)
    {
        string file = PathOf(cpuModel);
        problem = null;
        try
        {
            if (!File.Exists(file))
                return null;
            problem = FindFault(file);
            if (problem is not null)
                return null;
            var found = ClientCalibration.Read(File.ReadAllText(file));
            // Two names may differ in nothing but signs.
            return found.CpuModel == cpuModel ? found : null;
        }
        catch (Exception e) when (e is JsonException or IOException or UnauthorizedAccessException)
        {
            problem = $"{file}: {e.Message.ReplaceLineEndings(" ")} ('mongoperf calibrate' writes it anew)";
            return null;
        }
    }

    /// <summary>Makes the folder: whoever measures wants to know before whether it can be stored.</summary>
    /// <exception cref="UserException">The folder is not this user's alone, or can't be written.</exception>
    public void Prepare()
    {
        try
        {
            OwnFiles.MakeFolder(folder);
            if (FindFault(folder) is { } fault)
                throw new UserException(ExitCode.WrongUsage, $"calibrations can't be stored: {fault}",
                    "delete that folder; the next calibration makes it anew");
            string probe = Path.Combine(folder, $"probe.{Environment.ProcessId}");
            OwnFiles.Replace(probe, static _ => { }, isPrivate: true);
            File.Delete(probe);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or RunStoreException)
        {
            throw new UserException(ExitCode.WrongUsage, $"calibrations can't be stored: {e.Message}",
                "set XDG_CACHE_HOME to a folder that you can write to");
        }
    }

    /// <summary>Stores it in place of an older one for the same model, whole or not at all.</summary>
    /// <returns>The file, full path.</returns>
    /// <exception cref="UserException">As of <see cref="Prepare"/>.</exception>
    public string Save(ClientCalibration calibration)
    {
        Prepare();
        string file = PathOf(calibration.CpuModel);
        OwnFiles.Replace(file, output => output.Write(calibration.Write() + "\n"), isPrivate: true);
        return file;
    }

    /// <summary>Why a file, or the folder, is not to be trusted.</summary>
    private string? FindFault(string path)
    {
        if ((path != folder ? OwnFiles.FindFault(path) : OwnFiles.IsLink(path) ? "is a link" : null) is { } fault)
            return $"{path} {fault}";
        if (!OperatingSystem.IsWindows())
        {
            foreach (string one in (string[])[folder, path])
            {
                if ((File.GetUnixFileMode(one) & OthersWrite) != 0)
                    return $"other users can write to {one}";
            }
        }

        return path != folder && new FileInfo(path).Length > MostBytes ? $"{path} is larger than {MostBytes:N0} bytes" : null;
    }
}
