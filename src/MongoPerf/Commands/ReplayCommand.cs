using System.CommandLine;
using System.Globalization;
using MongoPerf.Load.Plans;
using MongoPerf.Options;
using MongoPerf.Running.Sessions;
using MongoPerf.Running.Systems;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Traffic.Replaying;

namespace MongoPerf.Commands;

/// <summary><c>replay FILE</c>: sends the requests of a recording to a deployment, at their times and on as many connections.</summary>
internal sealed class ReplayCommand
{
    private const string Phase = "replay";
    private const string Fastest = "max";

    private readonly SharedOptions _shared = new();

    private readonly Argument<string> _recording = new("RECORDING")
    {
        HelpName = "FILE",
        Description = "What 'record' wrote, or a server (4.2 and later) between startRecordingTraffic and stopRecordingTraffic",
    };

    private readonly Option<string?> _speed = OptionTypes.Make<string?>("--speed", null,
        "How many times as fast as recorded, or max: each request as soon as its connection has its last reply [default: 1]",
        "FACTOR|max", text =>
        {
            _ = Speed(text);
            return text;
        }).Suggesting(Fastest);

    private readonly Option<long?> _loop = OptionTypes.Make<long?>(
        "--loop", null, "Replay it N times, one after the other [default: 1]", "N", text => Quantities.ParseCount(text, 1, 1000));

    private readonly Option<string?> _only = OptionTypes.Choice(
        "--only", "Leave all others out: finds (with the rest of their cursors), or reads (what is known to change nothing)",
        "finds", "reads");

    private readonly Option<long?> _threads = OptionTypes.Make<long?>(
        "--threads", null, "Use at most N connections; recorded ones that were open at the same time share them [default: as recorded]",
        "N", text => Quantities.ParseCount(text, 1, 100_000));

    private readonly Option<bool> _dependencies = new("--dependencies")
    {
        Description = "Send no request before those it depends on were answered: on the same documents, one of the two a write, answered "
            + "before it came when recorded",
    };

    private readonly Option<string[]?> _database = new("--database")
    {
        Description = "Put the requests of one database to another one; repeat it for several",
        HelpName = "RECORDED=NAME",
        AllowMultipleArgumentsPerToken = false,
    };

    private readonly Option<string[]?> _write = new(ReplayedWrites.Option)
    {
        Description = "Confirm that the recording may write what the run does not create: a collection, DB.* for a whole database, or "
            + "server; repeat it for several. Databases that are empty need none",
        HelpName = "DB.COLL",
        AllowMultipleArgumentsPerToken = false,
    };

    /// <summary>Known, so that it is refused by name.</summary>
    private readonly Option<string?> _agents = new("--agents") { Hidden = true };

    private readonly Option<string?> _format = OptionTypes.Choice(
        "--format", "Output format of the results [default: text]", "text", "json", "csv", "markdown", "junit");

    public static Command Create() => new ReplayCommand().Build();

    private Command Build()
    {
        var command = new Command("replay", "Replay recorded traffic: the same requests, on as many connections, at the recorded times; "
            + "the result is a run like any other, with the replies that differ")
        {
            _recording, _shared.Uri, _shared.PasswordFile, _shared.Against, _shared.Repeat, _speed, _loop, _only, _threads,
            _dependencies, _database, _write,
            _shared.Mongod, _shared.Cache, _shared.Topology, _shared.ClusterFolder, _shared.Limits.MemoryLimit, _shared.Limits.Cpus,
            _shared.MaxErrors, _format, _shared.Out, _shared.Quiet, _shared.Full, _shared.NoTui, _shared.NoReport, _shared.Plots,
            _shared.Live, _shared.Otlp, _agents,
        };
        command.Runs(Run);
        return command;
    }

    private ExitCode Run(ParseResult parsed)
    {
        if (parsed.GetValue(_agents) is not null)
            throw new UserException(ExitCode.WrongUsage, "--agents: a recording is not divided among agents",
                "one client replays all of its connections; --threads folds them onto fewer");
        var options = new ReplayOptions
        {
            Speed = Speed(parsed.GetValue(_speed) ?? "1"),
            Only = parsed.GetValue(_only) switch
            {
                "finds" => ReplayedRequests.Finds,
                "reads" => ReplayedRequests.Reads,
                _ => ReplayedRequests.All,
            },
            Databases = Databases(parsed),
            Threads = (int?)parsed.GetValue(_threads),
            KeepsDependencies = parsed.GetValue(_dependencies),
        };
        IReadOnlyList<string> confirmed = Confirmed(parsed);
        using Recording recording = Recording.Open(parsed.GetValue(_recording)!);
        ReplayScript script = ReplayScriptReader.Read(recording, options);
        RequireMet(options, script);
        string about = Describe(script);
        if (!parsed.GetValue(_shared.Quiet))
            Console.Error.WriteLine($"{recording.Path}: {about}");
        RunRequest[] requests = [.. DeploymentChoice.OfOptions(parsed, _shared)
            .Select(choice => Make(parsed, script, about, confirmed, choice.Complete(parsed, _shared, isSharded: false)))];
        return RunSequence.Run(requests, PlanRequests.Repeats(parsed, _shared, requests.Length), PlanSession.Start);
    }

    private RunRequest Make(
        ParseResult parsed, ReplayScript script, string about, IReadOnlyList<string> confirmed, DeploymentChoice deployment)
    {
        if (deployment.Uri is { } uri && DatabaseSystems.Of(uri) != DatabaseSystems.MongoDb)
            throw new UserException(ExitCode.WrongUsage, $"recordings are MongoDB's, and {DatabaseSystems.Of(uri).Name} is another system");
        if (deployment.Settings.Topology == Topology.Null)
            throw new UserException(ExitCode.WrongUsage, "the null deployment answers for the collections of a scenario, and a recording "
                + "has none", "omit --topology null");
        int loops = (int)(parsed.GetValue(_loop) ?? 1);
        var plan = new Plan($"replay {Path.GetFileName(script.Recording.Path)}", about, [new PlanRound([], PhasesOf(script, loops))]);
        var read = new ReadPlan(plan, null, null, [], [], []) { MayWrite = confirmed };
        return new RunRequest
        {
            Settings = new RunSettings
            {
                Deployment = deployment.Settings,
                Engine = EngineSettings.Wire,
                Data = new DataSettings { Database = script.Database, IsExisting = true },
                Plan = new PlanSettings
                {
                    Name = plan.Name,
                    Description = about,
                    Path = script.Recording.Path,
                    Text = TextOf(script, loops),
                    Recording = script.Recording.Path,
                    VerifyShare = 0,
                    MaxErrors = parsed.GetValue(_shared.MaxErrors) ?? 0,
                },
            },
            Plan = read,
            ReadPlan = _ => read,
            Seed = PlanRequests.DefaultSeed,
            DatabaseWasGiven = true,
            CommandLine = Masking.MaskCall(parsed.Tokens.Select(token => token.Value)),
            Engine = new ReplayEngine(script),
            Uri = deployment.Uri,
            PasswordFile = parsed.GetValue(_shared.PasswordFile),
            MayWrite = confirmed,
            ReplayedWrites = script.Writes,
            Output = PlanRequests.OutputOf(parsed, _shared, parsed.GetValue(_format) ?? "text"),
        };
    }

    private static Phase[] PhasesOf(ReplayScript script, int loops) =>
    [
        .. Enumerable.Range(1, loops).Select(loop => new Phase
        {
            Name = Phase,
            Groups = [script.Group],
            Parameters = loops == 1 ? [] : [new("loop", loop.ToString(CultureInfo.InvariantCulture))],
        }),
    ];

    /// <summary>What makes two replays the same work, wherever the recording lies.</summary>
    private static string TextOf(ReplayScript script, int loops) => $"""
        recording: {Path.GetFileName(script.Recording.Path)}   # {script.Recording.Length} bytes, {script.Recording.Format}
        requests: {script.Count}
        connections: {script.Connections}
        speed: {script.Options.Speed?.ToString(CultureInfo.InvariantCulture) ?? Fastest}
        loop: {loops}
        dependencies: {(script.Options.KeepsDependencies ? "kept" : "not kept")}
        only: {script.Options.Only.ToString().ToLowerInvariant()}
        databases: {(script.Options.Databases.Count == 0 ? "as recorded"
            : string.Join(", ", script.Options.Databases.Select(pair => $"{pair.Key}={pair.Value}")))}

        """;

    private static string Describe(ReplayScript script)
    {
        string text = $"{Units.Counted(script.Count, "request")} on {Units.Counted(script.RecordedConnections, "connection")}"
            + (script.Connections < script.RecordedConnections ? $" ({script.Connections:N0} at once)" : "")
            + $" in {script.Seconds.ToString("0.0##", CultureInfo.InvariantCulture)} s, {script.Recording.Format}";
        if (script.LeftOut.Count > 0)
            text += $"; left out: {string.Join("; ", script.LeftOut.Select(one => $"{one.Count:N0} {one.Why}"))}";
        if (script.Recording.TruncatedAt is { } end)
            text += $"; the file ends within a record (at byte {end:N0}), which is left out";
        return text;
    }

    /// <summary>A name that no request has is a mistake, and would put writes where nobody wants them.</summary>
    private static void RequireMet(ReplayOptions options, ReplayScript script)
    {
        if (options.Databases.Keys.FirstOrDefault(name => !script.RecordedDatabases.Contains(name)) is { } unknown)
            throw new UserException(ExitCode.WrongUsage, $"--database: the recording has no request to '{unknown}'; "
                + $"it has some to {string.Join(", ", script.RecordedDatabases)}", NearestName.Hint(unknown, script.RecordedDatabases));
    }

    private Dictionary<string, string> Databases(ParseResult parsed)
    {
        var databases = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (string pair in parsed.GetValue(_database) ?? [])
        {
            string[] names = pair.Split('=');
            if (names.Length != 2 || names[0].Length == 0)
                throw new UserException(
                    ExitCode.WrongUsage, $"--database: '{pair}' is not valid; expected RECORDED=NAME such as shop=shop_copy");
            if (!databases.TryAdd(names[0], Names.Database(names[1])))
                throw new UserException(ExitCode.WrongUsage, $"--database: '{names[0]}' is named twice");
        }

        return databases;
    }

    private IReadOnlyList<string> Confirmed(ParseResult parsed)
    {
        try
        {
            return [.. (parsed.GetValue(_write) ?? []).Select(WriteTargets.Parse)];
        }
        catch (FormatException e)
        {
            throw new UserException(ExitCode.WrongUsage, $"{ReplayedWrites.Option}: {e.Message}");
        }
    }

    /// <returns>Null for as fast as possible.</returns>
    private static double? Speed(string text) => text == Fastest ? null
        : double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double factor)
            && factor is >= 0.001 and <= 1000 ? factor
        : throw new FormatException($"'{text}' is not valid; allowed: a factor from 0.001 to 1000, or {Fastest}");
}
