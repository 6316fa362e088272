using System.CommandLine;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Installing;
using MongoPerf.Options;
using MongoPerf.Progress;
using MongoPerf.Reports;
using MongoPerf.Running.Sessions;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>server install|list|remove</c>: real MongoDB servers for runs that start their own.</summary>
internal static class ServerCommand
{
    public static Command Create() => new("server", "Install official MongoDB servers (mongod and mongos) for runs to start")
    {
        Install(), List(), Remove(),
    };

    private static InstalledServers Servers => InstalledServers.Of(Environment.GetEnvironmentVariable)
        ?? throw new UserException(ExitCode.WrongUsage, "no folder for servers: neither HOME nor XDG_CACHE_HOME is set",
            $"set {InstalledServers.Variable} to one");

    private static Command Install()
    {
        var what = new Argument<string>(
            "VERSION|ARCHIVE") { Description = "A version (8.0.4), a series (8.0: its newest version), or a local mongodb-linux-….tgz" };
        Option<Uri?> mirror = OptionTypes.Make<Uri?>(
            "--mirror", null, "Download site, laid out like https://fastdl.mongodb.org [default: MongoDB's own]", "URL", ParseMirror);
        Option<string?> sha256 = OptionTypes.Make<string?>("--sha256", null,
            "Expected checksum of the archive [default: the published one; a local archive is not checked]", "HEX", text =>
                Checksum.IsSha256(text) ? text : throw new FormatException($"'{text}' is not a SHA-256; allowed: 64 hexadecimal digits"));
        Option<string?> platform = OptionTypes.Text(
            "--platform", "Use the archive for another system, such as debian12, ubuntu2204 or rhel93 [default: this system]", "NAME");
        Option<bool> quiet = new SharedOptions().Quiet;
        var command = new Command(
            "install", "Download, verify and unpack a server; runs use it from then on") { what, mirror, sha256, platform, quiet };
        command.Runs(parsed =>
        {
            LinuxOnly.Require("server install", LinuxOnly.StartItYourself);
            using var signals = new StopSignals("stopping");
            using var progress = new DownloadProgress(Console.Error, !Console.IsErrorRedirected, parsed.GetValue(quiet));
            using var http = new HttpFiles(progress.Show, signals.Token);
            var installer = new ServerInstaller(Servers, http, progress.Show, progress.Show, signals.Token);
            string asked = parsed.GetValue(what)!;
            InstalledServer server;
            if (IsFile(asked))
            {
                if ((parsed.GetValue(mirror)?.ToString() ?? parsed.GetValue(platform)) is not null)
                    throw new UserException(
                        ExitCode.WrongUsage, $"{asked} is a local archive; --mirror and --platform only apply to downloads");
                server = installer.InstallArchive(Path.GetFullPath(asked), parsed.GetValue(sha256));
            }
            else
            {
                SystemPlatform system = ReadPlatform(parsed.GetValue(platform));
                server = installer.Install(CheckVersion(asked), new ReleaseSource(http, parsed.GetValue(mirror)),
                    parsed.GetValue(sha256), system);
            }

            progress.EndLine();
            WriteChosen(server);
        });
        return command;
    }

    private static Command List()
    {
        var command = new Command("list", "Installed servers");
        command.Runs(_ =>
        {
            string? chosen = Servers.Chosen?.Version;
            ListReport.WriteServers(Servers.List().Select(s => (s.Version, s.Version == chosen, s.Mongod, s.Mongos)), Console.Out);
            NotePrecedence();
        });
        return command;
    }

    private static Command Remove()
    {
        var version = new Argument<string>("VERSION") { Description = "A version from 'server list'" };
        var command = new Command("remove", "Delete an installed server") { version };
        command.Runs(parsed =>
        {
            string asked = parsed.GetValue(version)!;
            IReadOnlyList<InstalledServer> servers = Servers.List();
            InstalledServer server = servers.FirstOrDefault(s => s.Version == asked) ?? throw new UserException(
                ExitCode.WrongUsage, $"MongoDB {asked} is not installed in {Servers.Folder}",
                servers.Count > 0
                    ? $"installed: {string.Join(", ", servers.Select(s => s.Version))}"
                    : "none is installed; 'mongoperf server install 8.0' installs one");
            using var signals = new StopSignals("stopping");
            using var http = new HttpFiles(Console.Error.WriteLine, signals.Token);
            InstalledServer? next = new ServerInstaller(Servers, http, Console.Error.WriteLine, _ => { }, signals.Token).Remove(server);
            Console.WriteLine($"MongoDB {server.Version} deleted from {server.Folder}");
            if (next is not null)
                WriteChosen(next);
        });
        return command;
    }

    private static void WriteChosen(InstalledServer server)
    {
        Console.WriteLine($"MongoDB {server.Version} in {server.Folder}: runs that start their own server now use it");
        if (server.Mongos is null)
            Console.WriteLine("its archive has no mongos; clusters use a mongod as router");
        NotePrecedence();
    }

    private static void NotePrecedence()
    {
        if (Environment.GetEnvironmentVariable(MongodProgram.Variable) is { Length: > 0 } named)
            Console.Error.WriteLine($"note: {MongodProgram.Variable} is set to {named}, which takes precedence");
    }

    private static bool IsFile(string asked) =>
        File.Exists(asked) || asked.Contains('/', StringComparison.Ordinal) || asked.EndsWith(".tgz", StringComparison.Ordinal);

    private static string CheckVersion(string asked) => ReleaseNumber.CanBeAsked(asked)
        ? asked
        : throw new UserException(ExitCode.WrongUsage, $"'{asked}' is not a version such as 8.0 or 8.0.4, nor an existing archive");

    private static SystemPlatform ReadPlatform(string? name) => name is null ? SystemPlatform.Current : SystemPlatform.Current.As(name)
        ?? throw new UserException(ExitCode.WrongUsage, $"--platform: '{name}' is not a known system",
            "such as debian12, ubuntu2204, rhel93, amazon2023 or suse15");

    private static Uri? ParseMirror(string text) =>
        Uri.TryCreate(text, UriKind.Absolute, out Uri? url) && url.Scheme is "http" or "https"
            ? url
            : throw new FormatException($"'{text}' is not an http or https URL");
}
