using System.CommandLine;
using System.Globalization;
using MongoPerf.Commands.Agents;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Growth;
using MongoPerf.Options;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>series</c>: runs scenarios/series.yaml; each option sets one of its parameters.</summary>
internal static class SeriesCommand
{
    private static readonly string[] Formats = ["text", "json", "csv", "markdown", "junit"];

    public static Command Create()
    {
        var shared = new SharedOptions();
        var agents = new AgentOptions();
        Option<long?> target = OptionTypes.Count("--target", "Number of documents to reach, such as 1M or 500M (required)");
        Option<long?> step = OptionTypes.Count("--step", "Documents per step [default: a tenth of the target, at most 1M]");
        Option<IReadOnlyList<string>?> tests = OptionTypes.List(
            "--tests", "Phases to run: unack, batch, safe, q4, q5, q6, q7, size [default: all]", "PHASE[,PHASE…]", text => text);
        tests.CompletionSources.Add(_ => SeriesScenario.Phases(SeriesScenario.Find()).Select(phase => phase.Name));
        Option<IReadOnlyList<int>?> shares = OptionTypes.Make<IReadOnlyList<int>?>("--shares", null,
            "Shares of unack/batch/safe in a step, in percent [default: 20/60/20 under 10M, else 10/85/5]", "A/B/C", ParseShares);
        Option<double?> window = OptionTypes.Duration(
            "--window", "Length of each query phase, warm-up included [default: 0.5s under 100k, 5s under 100M, else 4s]");
        Option<double?> warmup = OptionTypes.Duration("--warmup", "Part of the window excluded from results [default: a quarter]");
        var dryRun = new Option<bool>(
            "--dry-run") { Description = "Check everything and show what would run and how long it would take, without running it" };
        Option<string?> format = OptionTypes.Choice("--format", "Output format of the results [default: text]", Formats);
        var command = new Command("series", "Grow a collection to a target and measure inserts and queries at each step "
            + "(scenarios/series.yaml)") { target, step, tests, shares, window, warmup, dryRun, format };
        shared.AddTo(command);
        agents.AddTo(command);
        command.Runs(parsed =>
        {
            ScenarioFile file = SeriesScenario.Find();
            long documents = parsed.GetValue(target) ?? throw new UserException(ExitCode.WrongUsage,
                "--target is missing: the number of documents to reach", "'mongoperf series --target 1M' takes a few minutes");
            if (documents > DocumentNumbers.Limit)
                throw new UserException(ExitCode.WrongUsage, $"--target is {documents:N0}; allowed: up to {DocumentNumbers.Limit:N0}");
            if (parsed.GetValue(step) is { } given && given > documents)
                throw new UserException(ExitCode.WrongUsage, $"--step is {given:N0}, which is above --target ({documents:N0})",
                    "without --step there are ten, of a million documents at most");
            IReadOnlyList<string> phases = parsed.GetValue(tests) is { } chosen ? CheckTests(chosen, file) : [];
            bool isFirstLook = SeriesScenario.IsFirstLook(documents, parsed.GetValue(window), parsed.GetValue(warmup));
            double seconds = isFirstLook ? SeriesScenario.ShortWindow
                : Positive("--window", parsed.GetValue(window) ?? SeriesScenario.DefaultWindow(documents));
            double left = parsed.GetValue(warmup) ?? seconds / 4;
            if (left >= seconds)
                throw new UserException(
                    ExitCode.WrongUsage, $"--warmup is {left:0.###} s of a window of {seconds:0.###} s, which leaves nothing to measure");
            IReadOnlyList<int> parts = parsed.GetValue(shares) ?? SeriesScenario.DefaultShares(documents);
            var overrides = new PlanOverrides
            {
                Phases = phases,
                Parameters = new Dictionary<string, string>(SeriesScenario.Parameters(parsed, shared))
                {
                    ["collection"] = parsed.GetValue(shared.Collection) ?? "series",
                    ["target"] = Text(documents),
                    ["step"] = Text(parsed.GetValue(step) ?? GrowthSchedule.DefaultStep(documents)),
                    ["unack"] = Text(parts[0]),
                    ["batched"] = Text(parts[1]),
                    ["safe"] = Text(parts[2]),
                    ["window"] = Seconds(seconds),
                    ["warmup"] = Seconds(left),
                },
            };
            IReadOnlyList<RunRequest> requests = new PlanRequests(
                parsed, shared, file, overrides) { Format = parsed.GetValue(format) ?? "text", HidesChanges = true }.Read();
            if (isFirstLook && HasQuery(phases, file))
                requests = [.. requests.Select(NoteShortWindow)];
            int repeats = PlanRequests.Repeats(parsed, shared, requests.Count);
            if (!parsed.GetValue(dryRun))
                return agents.Run(parsed, requests, repeats);
            agents.Check(parsed, requests, repeats);
            ScenarioPrinter.WritePlan(requests, file, Console.Out);
            return ExitCode.Done;
        });
        return command;
    }

    private static RunRequest NoteShortWindow(RunRequest request)
    {
        var note = new StoredMessage(MessageCode.ShortWindow,
            Units.Duration(TimeSpan.FromSeconds(SeriesScenario.ShortWindow)), Units.Count(SeriesScenario.SmallTarget));
        return request with { Settings = request.Settings with { Plan = request.Settings.Plan with { Note = note } } };
    }

    private static bool HasQuery(IReadOnlyList<string> chosen, ScenarioFile file) => SeriesScenario.Phases(file)
        .Any(phase => phase.HasWindow && (chosen.Count == 0 || chosen.Contains(phase.Name)));

    private static IReadOnlyList<string> CheckTests(IReadOnlyList<string> chosen, ScenarioFile file)
    {
        string[] known = [.. SeriesScenario.Phases(file).Select(phase => phase.Name)];
        foreach (string name in chosen)
        {
            try
            {
                OptionTypes.OneOf(name, known);
            }
            catch (FormatException e)
            {
                throw new UserException(ExitCode.WrongUsage, $"--tests: {e.Message}");
            }
        }

        return chosen;
    }

    private static string Text(long value) => value.ToString(CultureInfo.InvariantCulture);

    private static string Seconds(double value) => value.ToString("0.######", CultureInfo.InvariantCulture) + "s";

    private static double Positive(string name, double seconds) =>
        seconds > 0 ? seconds : throw new UserException(ExitCode.WrongUsage, $"{name} is 0; it must be longer");

    private static IReadOnlyList<int> ParseShares(string text)
    {
        string[] parts = text.Split('/');
        var shares = new List<int>();
        foreach (string part in parts)
            shares.Add(int.TryParse(part, out int share) && share is >= 0 and <= 100 ? share : -1);
        return shares.Count == 3 && shares.Sum() == 100 && !shares.Contains(-1)
            ? shares
            : throw new FormatException($"'{text}' is not three percentages that add up to 100, such as 10/85/5");
    }
}
