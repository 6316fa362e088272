using System.ComponentModel;
using System.Diagnostics;
using System.Text.RegularExpressions;
using MongoPerf.Deployments.Installing;
using MongoPerf.Deployments.Processes;
using MongoPerf.Platforms;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments;

/// <summary>A mongod program that runs on this machine.</summary>
/// <param name="Path">Full path.</param>
/// <param name="Version">The version as it says itself, such as 6.0.5.</param>
public sealed partial record MongodProgram(string Path, Version Version)
{
    public const string Variable = "MONGOPERF_MONGOD";

    private const int AnswerSeconds = 20;

    /// <summary>ETXTBSY of Linux.</summary>
    private const int TextFileBusy = 26;

    private const int BusyMilliseconds = 2000;

    /// <summary>What a program is asked with, so that all that it starts can be found.</summary>
    private const string CheckVariable = "MONGOPERF_CHECK";
    private static readonly Version Oldest = new(3, 6);

    /// <summary>
    /// Finds the one to start: what was given, else the variable MONGOPERF_MONGOD, else what <c>server install</c> brought,
    /// else the first in PATH.
    /// </summary>
    /// <remarks>
    /// An installed one comes before PATH: it was installed for MongoPerf, and "from then on" must hold where a system has
    /// a mongod of its own.
    /// </remarks>
    /// <param name="given">
    /// The value of <c>--mongod</c>: the program, the folder that it lies in, or the version of an installed one; null when not given.
    /// </param>
    /// <returns>Null when nothing names one, none is installed, and PATH has none.</returns>
    /// <exception cref="DeploymentException">One was named, or found, and does not run.</exception>
    public static MongodProgram? Find(string? given) => Find(given, Environment.GetEnvironmentVariable);

    internal static MongodProgram? Find(string? given, Func<string, string?> variable)
    {
        InstalledServers? installed = InstalledServers.Of(variable);
        if (given is { Length: > 0 })
            return Check(PathOf(given, installed), "--mongod");
        if (variable(Variable) is { Length: > 0 } named)
            return Check(named, Variable);
        if (installed?.Chosen is { } server)
            return Check(server.Mongod, "server install");
        return Platform.IsLinux && InPath(variable) is { } inPath ? Check(inPath, "PATH") : null;
    }

    /// <summary>
    /// Full paths of the programs that this machine starts without being told to: those among which <see cref="Find(string?)"/>
    /// chooses. None is run.
    /// </summary>
    public static IEnumerable<string> Own(Func<string, string?> variable) =>
        new[]
        {
            variable(Variable) is { Length: > 0 } named ? ProgramIn(named) : null,
            InPath(variable) is { } inPath ? ProgramIn(inPath) : null,
        }.OfType<string>()
            .Concat(InstalledServers.Of(variable)?.List().Select(server => server.Mongod) ?? []);

    private static string? InPath(Func<string, string?> variable) => (variable("PATH") ?? "")
        .Split(System.IO.Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
        .Select(folder => System.IO.Path.Combine(folder, "mongod"))
        .FirstOrDefault(File.Exists);

    private static string ProgramIn(string path) =>
        System.IO.Path.GetFullPath(Directory.Exists(path) ? System.IO.Path.Combine(path, "mongod") : path);

    /// <exception cref="DeploymentException">It is a version, which is not installed.</exception>
    private static string PathOf(string given, InstalledServers? installed)
    {
        if (File.Exists(given) || Directory.Exists(given))
            return given;
        if (installed?.Find(given) is { } server)
            return server.Mongod;
        return !ReleaseNumber.CanBeAsked(given) ? given : throw DeploymentException.WrongUsage(
            $"--mongod: '{given}' does not exist, and MongoDB {given} is not installed", $"'mongoperf server install {given}' installs it");
    }

    /// <summary>Asks a program for its version.</summary>
    /// <param name="path">The program or its folder.</param>
    /// <param name="source">Who named it, for texts.</param>
    /// <exception cref="DeploymentException">It is not there, or does not run.</exception>
    public static MongodProgram Check(string path, string source)
    {
        LinuxOnly.Require($"{source}: starting a mongod", LinuxOnly.StartItYourself);
        string full = ProgramIn(path);
        if (!File.Exists(full))
            throw DeploymentException.WrongUsage(
                $"{source}: {full} does not exist", "name a mongod, or omit it to use the embedded server");
        (int exitCode, string output) = RunForVersion(full, source);
        if (MissingLibrary().Match(output) is { Success: true } missing)
        {
            throw DeploymentException.WrongUsage(
                $"{source}: {full} does not run: shared library {missing.Groups[1].Value} is missing",
                "Debian 12: apt-get install libssl3 libcurl4 (mongod 4.4 and 5.0 need libssl1.1 of Debian 11)");
        }

        if (exitCode != 0 || VersionLine().Match(output) is not { Success: true } match)
            throw DeploymentException.WrongUsage($"{source}: {full} --version exited with code {exitCode}: {FirstLine(output)}",
                "use a mongod built for this system");
        var version = Version.Parse(match.Groups[1].Value);
        if (version < Oldest)
            throw new DeploymentException(
                Fault.CannotConnect, $"{source}: {full} is version {version}; allowed: {Oldest} or later\nhint:  use a newer mongod");
        return new MongodProgram(full, version);
    }

    internal static (int ExitCode, string Output) RunForVersion(string path, string source)
    {
        var start = new ProcessStartInfo(
            path, "--version") { RedirectStandardOutput = true, RedirectStandardError = true, RedirectStandardInput = true };
        string mark = Guid.NewGuid().ToString();
        start.Environment[CheckVariable] = mark;
        try
        {
            using Process process = Start(start);
            process.StandardInput.Close();
            Task<string> errors = process.StandardError.ReadToEndAsync();
            Task<string> output = process.StandardOutput.ReadToEndAsync();
            bool hasEnded = process.WaitForExit(TimeSpan.FromSeconds(AnswerSeconds));
            // Whatever it started ends with it; it would also hold the pipes.
            ProcessTable.System.KillMarked(CheckVariable, mark);
            if (!hasEnded)
                throw DeploymentException.WrongUsage(
                    $"{source}: {path} --version did not finish within {AnswerSeconds} s", "is it a mongod?");
            return (process.ExitCode,
                Task.WaitAll([output, errors], TimeSpan.FromSeconds(AnswerSeconds)) ? output.Result + errors.Result : "");
        }
        catch (Win32Exception e)
        {
            throw DeploymentException.WrongUsage($"{source}: {path} can't be run: {e.Message}",
                "is it a program for this system, and executable (chmod +x)?");
        }
    }

    /// <summary>
    /// A program that was just unpacked may still be open for writing: a process forked meanwhile keeps it so until it
    /// runs its own program.
    /// </summary>
    private static Process Start(ProcessStartInfo start)
    {
        long end = Environment.TickCount64 + BusyMilliseconds;
        while (true)
        {
            try
            {
                return Process.Start(start)!;
            }
            catch (Win32Exception e) when (e.NativeErrorCode == TextFileBusy && Environment.TickCount64 < end)
            {
                Thread.Sleep(10);
            }
        }
    }

    private static string FirstLine(string text) => text.Trim().Split('\n')[0] is { Length: > 0 } line ? line : "nothing";

    [GeneratedRegex(@"db version v(\d+\.\d+\.\d+)")]
    private static partial Regex VersionLine();

    [GeneratedRegex(@"error while loading shared libraries: ([^:\s]+)")]
    private static partial Regex MissingLibrary();
}
