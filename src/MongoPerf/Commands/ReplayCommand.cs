using System.CommandLine;
using System.Globalization;
using MongoPerf.Commands.Agents;
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
    private const string Fastest = "max";

    /// <summary>Times, values that the server makes and an order that chance decides make a few replies differ.</summary>
    private const double MostDifferent = 0.05;

    /// <summary>So many times its share of the requests.</summary>
    private const double MostUneven = 1.5;

    private readonly SharedOptions _shared = new();
    private readonly AgentOptions _agents = new();

    private readonly Argument<string> _recording = new("RECORDING")
    {
        Description = "A file that 'record' wrote, or a server (4.2 and later) between startRecordingTraffic and stopRecordingTraffic",
    };

    private readonly Option<string?> _speed = OptionTypes.Make<string?>("--speed", null,
        "How many times as fast as recorded; max sends each request as soon as its connection has the reply to the one before [default: 1]",
        "FACTOR|max", text =>
        {
            _ = Speed(text);
            return text;
        }).Suggesting(Fastest);

    private readonly Option<long?> _rate = OptionTypes.Make<long?>(
        "--rate", null, "Requests per second on average, all connections together; sets the speed that has this rate", "RATE",
        text => Quantities.ParseCount(text));

    private readonly Option<long?> _copies = OptionTypes.Make<long?>(
        "--copies", null, "Replay each connection N times at once, as N times as many clients would; reads only [default: 1]", "N",
        text => Quantities.ParseCount(text, 1, ReplaySettings.MostCopies));

    private readonly Option<long?> _loop = OptionTypes.Make<long?>(
        "--loop", null, "Replay it N times, one after the other [default: 1]", "N",
        text => Quantities.ParseCount(text, 1, ReplaySettings.MostLoops));

    private readonly Option<string?> _only = OptionTypes.Choice(
        "--only", "Send only these: finds (with the rest of their cursors), or reads (what is known to change nothing)",
        "finds", "reads");

    private readonly Option<long?> _threads = OptionTypes.Make<long?>(
        "--threads", null, "Use at most N connections; recorded ones that were open at the same time share them [default: as recorded]",
        "N", text => Quantities.ParseCount(text, 1, ReplaySettings.MostConnections));

    private readonly Option<bool> _dependencies = new("--dependencies")
    {
        Description = "Send a request only after the replies to those it depends on: on the same documents, one of the two a "
            + "write, and answered before it was sent in the recording",
    };

    private readonly Option<string[]?> _database = new("--database")
    {
        Description = "Send the requests for one database to another; may be repeated",
        HelpName = "RECORDED=NAME",
        AllowMultipleArgumentsPerToken = false,
    };

    private readonly Option<string[]?> _write = new(ReplayedWrites.Option)
    {
        Description = "Let the recording write what the run does not create: a collection, DB.* for a whole database, or "
            + "server; may be repeated. Empty databases need no consent",
        HelpName = "DB.COLL",
        AllowMultipleArgumentsPerToken = false,
    };

    private readonly Option<double?> _maxDifferent = OptionTypes.Make<double?>("--max-different", null,
        "Replies that may differ from the recorded ones before the exit code is 9 [default: 5%]", "PERCENT", text => Share(text));

    private readonly Option<string?> _format = OptionTypes.Choice(
        "--format", "Output format of the results [default: text]", "text", "json", "csv", "markdown", "junit");

    public static Command Create() => new ReplayCommand().Build();

    private Command Build()
    {
        var command = new Command("replay", "Replay recorded traffic: the same requests, on as many connections, at the recorded times; "
            + "the result is a run like any other, with the replies that differ")
        {
            _recording, _shared.Uri, _shared.PasswordFile, _shared.Against, _shared.Repeat, _speed, _rate, _copies, _loop, _only,
            _threads, _dependencies, _database, _write,
            _shared.Mongod, _shared.Cache, _shared.Topology, _shared.ClusterFolder, _shared.Limits.MemoryLimit, _shared.Limits.Cpus,
            _shared.MaxErrors, _maxDifferent, _format, _shared.Out, _shared.Quiet, _shared.Full, _shared.NoTui, _shared.NoReport,
            _shared.Plots, _shared.Live, _shared.Otlp,
        };
        _agents.AddTo(command);
        command.Runs(Run);
        return command;
    }

    private ExitCode Run(ParseResult parsed)
    {
        int? clients = parsed.GetValue(_agents.Agents);
        ReplaySettings settings = Settings(parsed);
        if (clients is not null)
            RequireDivisible(settings, parsed);
        IReadOnlyList<string> confirmed = Confirmed(parsed);
        using Recording recording = Recording.Open(parsed.GetValue(_recording)!);
        ReplayScript script = ReplayScriptReader.Read(recording, settings with
        {
            ResolutionMicroseconds = recording.ResolutionMicroseconds, Hash = clients is null ? null : recording.Hash(),
        });
        RequireMet(script);
        RecordedPlan.Require(script);
        string about = Describe(script);
        if (!parsed.GetValue(_shared.Quiet))
            Console.Error.WriteLine($"{recording.Path}: {about}");
        if (clients is { } count)
            WarnOfUneven(script.Divide(count));
        RunRequest[] requests = [.. DeploymentChoice.OfOptions(parsed, _shared)
            .Select(choice => Make(parsed, script, about, confirmed, choice.Complete(parsed, _shared, isSharded: false)))];
        return _agents.Run(parsed, requests, PlanRequests.Repeats(parsed, _shared, requests.Length));
    }

    private ReplaySettings Settings(ParseResult parsed)
    {
        string? speed = parsed.GetValue(_speed);
        long? rate = parsed.GetValue(_rate);
        if (speed is not null && rate is not null)
            throw new UserException(ExitCode.WrongUsage, "--rate sets the speed, so --speed does not apply", "omit one of them");
        return new ReplaySettings
        {
            Speed = Speed(speed ?? "1"),
            Rate = rate,
            Copies = (int)(parsed.GetValue(_copies) ?? 1),
            Loops = (int)(parsed.GetValue(_loop) ?? 1),
            Only = parsed.GetValue(_only) switch
            {
                "finds" => ReplayedRequests.Finds,
                "reads" => ReplayedRequests.Reads,
                _ => ReplayedRequests.All,
            },
            Databases = Databases(parsed),
            Threads = (int?)parsed.GetValue(_threads),
            KeepsDependencies = parsed.GetValue(_dependencies),
            MaxDifferent = parsed.GetValue(_maxDifferent) ?? MostDifferent,
        };
    }

    private void RequireDivisible(ReplaySettings settings, ParseResult parsed)
    {
        if (settings.KeepsDependencies)
            throw new UserException(ExitCode.WrongUsage, "--dependencies does not apply with --agents: agents don't wait for one another's "
                + "requests", "omit one of them");
        if (parsed.HasTyped(_write))
            throw new UserException(ExitCode.WrongUsage, $"{ReplayedWrites.Option} does not apply with --agents",
                $"each agent confirms what it may write: {ReplayedWrites.OptionOfAgents}");
    }

    /// <summary>Of few connections, or such as belong together, one agent may have most.</summary>
    private static void WarnOfUneven(IReadOnlyList<ReplayScript> parts)
    {
        double share = parts.Max(part => part.Count) / (double)parts.Sum(part => part.Count);
        if (share * parts.Count > MostUneven)
            Console.Error.WriteLine($"note: one of the {parts.Count} agents replays {Units.Percent(share)} of the requests: no connection "
                + "is divided, and those that share cursors, transactions or ids stay together");
    }

    private RunRequest Make(
        ParseResult parsed, ReplayScript script, string about, IReadOnlyList<string> confirmed, DeploymentChoice deployment)
    {
        if (deployment.Uri is { } uri && DatabaseSystems.Of(uri) != DatabaseSystems.MongoDb)
            throw new UserException(ExitCode.WrongUsage, $"recordings are MongoDB's, and {DatabaseSystems.Of(uri).Name} is another system");
        if (deployment.Settings.Topology == Topology.Null)
            throw new UserException(ExitCode.WrongUsage, "the null deployment answers for the collections of a scenario, and a recording "
                + "has none", "omit --topology null");
        ReadPlan read = RecordedPlan.Of($"replay {Path.GetFileName(script.Recording.Path)}", about, script) with { MayWrite = confirmed };
        return new RunRequest
        {
            Settings = new RunSettings
            {
                Deployment = deployment.Settings,
                Engine = EngineSettings.Wire,
                Data = RecordedPlan.DataOf(script),
                Plan = new PlanSettings
                {
                    Name = read.Plan.Name,
                    Description = about,
                    Path = script.Recording.Path,
                    Text = TextOf(script),
                    Recording = script.Recording.Path,
                    Replay = script.Settings,
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
            ReplayedCollections = script.Collections,
            Output = PlanRequests.OutputOf(parsed, _shared, parsed.GetValue(_format) ?? "text"),
        };
    }

    /// <summary>What makes two replays the same work, wherever the recording lies.</summary>
    private static string TextOf(ReplayScript script)
    {
        ReplaySettings settings = script.Settings;
        double pace = settings.Rate ?? settings.Speed;
        return $"""
            recording: {Path.GetFileName(script.Recording.Path)}   # {script.Recording.Length} bytes, {script.Recording.Format}
            requests: {script.Count}
            connections: {script.Connections}{(settings.Copies == 1 ? "" : $"\ncopies: {settings.Copies}")}
            {(settings.Rate is null ? "speed" : "rate")}: {(double.IsFinite(pace) ? pace.ToString(CultureInfo.InvariantCulture) : Fastest)}
            loop: {settings.Loops}
            dependencies: {(settings.KeepsDependencies ? "kept" : "not kept")}
            only: {settings.Only.ToString().ToLowerInvariant()}
            databases: {(settings.Databases.Count == 0 ? "as recorded"
                : string.Join(", ", settings.Databases.Select(pair => $"{pair.Key}={pair.Value}")))}

            """;
    }

    private static string Describe(ReplayScript script)
    {
        string text = $"{Units.Counted(script.Count / script.Settings.Copies, "request")} on "
            + Units.Counted(script.RecordedConnections, "connection")
            + (script.Connections < script.RecordedConnections ? $" ({script.Connections:N0} at once)" : "")
            + $" in {Number(script.Seconds)} s, {script.Recording.Format}"
            + (script.Settings.Copies > 1 ? $"; {script.Settings.Copies} copies of each connection" : "")
            + (script.Settings.Rate is { } rate ? $"; at {rate:N0} per second, {Number(script.Speed)} times as fast as recorded" : "");
        if (script.LeftOut.Count > 0)
            text += $"; left out: {string.Join("; ", script.LeftOut.Select(one => $"{one.Count:N0} {one.Why}"))}";
        if (script.Recording.TruncatedAt is { } end)
            text += $"; the file ends within a record (at byte {end:N0}), which is left out";
        return text;
    }

    private static string Number(double value) => value.ToString("0.0##", CultureInfo.InvariantCulture);

    private static void RequireMet(ReplayScript script)
    {
        // A name that no request has is a mistake, and would put writes where nobody wants them.
        if (script.Settings.Databases.Keys.FirstOrDefault(name => !script.RecordedDatabases.Contains(name)) is { } unknown)
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
            if (!databases.TryAdd(names[0], Names.Database(names[1], "--database")))
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

    private static double Share(string text) =>
        double.TryParse(text.TrimEnd('%'), NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double percent)
            && percent is >= 0 and <= 100 ? percent / 100
        : throw new FormatException($"'{text}' is not valid; allowed: 0% to 100%, such as 5%");

    private static double Speed(string text) => text == Fastest ? double.PositiveInfinity
        : double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double factor)
            && factor is >= ReplaySettings.LeastSpeed and <= ReplaySettings.MostSpeed ? factor
        : throw new FormatException(
            $"'{text}' is not valid; allowed: a factor from {ReplaySettings.LeastSpeed} to {ReplaySettings.MostSpeed}, or {Fastest}");
}
