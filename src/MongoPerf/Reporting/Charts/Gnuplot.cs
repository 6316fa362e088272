using System.ComponentModel;
using System.Diagnostics;

namespace MongoPerf.Reporting.Charts;

/// <summary>The gnuplot program.</summary>
internal sealed class Gnuplot(string path)
{
    public const string Variable = "MONGOPERF_GNUPLOT";
    private static readonly TimeSpan TimeOut = TimeSpan.FromSeconds(60);

    public string Path { get; } = path;

    /// <summary>Named by MONGOPERF_GNUPLOT, else the first on PATH.</summary>
    /// <returns>Null with the reason in <paramref name="whyNot"/>.</returns>
    public static Gnuplot? Find(out string whyNot) =>
        Find(Environment.GetEnvironmentVariable(Variable), Environment.GetEnvironmentVariable("PATH"), out whyNot);

    public static Gnuplot? Find(string? named, string? searchPath, out string whyNot)
    {
        whyNot = "";
        if (!string.IsNullOrEmpty(named))
        {
            if (File.Exists(named))
                return new Gnuplot(System.IO.Path.GetFullPath(named));
            whyNot = $"{Variable} names '{named}', which is not a file";
            return null;
        }

        string[] folders = (searchPath ?? "").Split(System.IO.Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries);
        string? found = folders.Select(static folder => System.IO.Path.Combine(folder, "gnuplot")).FirstOrDefault(File.Exists);
        if (found is not null)
            return new Gnuplot(found);
        whyNot = "gnuplot not found on PATH";
        return null;
    }

    /// <summary>Runs one script in its folder.</summary>
    /// <returns>Null when it went well, else what went wrong, in one line.</returns>
    public string? Run(string folder, string script) => Run(folder, script, TimeOut);

    public string? Run(string folder, string script, TimeSpan timeOut)
    {
        // -d: no settings of the user's, nor of a file in the folder.
        var start = new ProcessStartInfo(Path, ["-d", script])
        {
            WorkingDirectory = folder,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        // Another's settings must not change the pictures.
        start.Environment["LC_ALL"] = "C.UTF-8";
        try
        {
            using var process = Process.Start(start) ?? throw new InvalidOperationException("it did not start");
            process.StandardInput.Close();
            // Both pipes are drained, or a talkative gnuplot would wait for ever.
            var output = process.StandardOutput.ReadToEndAsync();
            var errors = process.StandardError.ReadToEndAsync();
            if (!process.WaitForExit(timeOut))
            {
                process.Kill(entireProcessTree: true);
                return $"gnuplot did not finish {script} in {timeOut.TotalSeconds:0} s";
            }

            // A grandchild may keep a pipe open.
            Task.WaitAll([output, errors], TimeSpan.FromSeconds(5));
            return process.ExitCode == 0 ? null : $"gnuplot exited with code {process.ExitCode} on {script}{FirstLine(errors)}";
        }
        catch (Exception e) when (e is Win32Exception or InvalidOperationException or IOException or AggregateException)
        {
            return $"gnuplot ({Path}) could not be run: {e.Message}";
        }
    }

    private static string FirstLine(Task<string> errors)
    {
        if (!errors.IsCompletedSuccessfully)
            return "";
        var lines = errors.Result.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        // The message follows the line and a caret that points into it.
        string? line = lines.LastOrDefault(static candidate => candidate != "^");
        return line is null ? "" : ": " + line;
    }
}
