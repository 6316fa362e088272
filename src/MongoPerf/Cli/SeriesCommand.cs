using System.CommandLine;
using MongoPerf.Cli.Sessions;
using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Cli;

/// <summary><c>series</c>: the eight tests while the data grows.</summary>
internal static class SeriesCommand
{
    private static readonly string[] Formats = ["text", "json", "csv", "markdown"];

    public static Command Create()
    {
        var shared = new SharedOptions();
        Option<long?> target = OptionTypes.Count("--target", "Documents at the end, such as 1M or 500M (required)");
        Option<long?> step = OptionTypes.Count("--step", "Documents per step [default: a tenth to a hundredth of the target]");
        Option<IReadOnlyList<string>?> tests = OptionTypes.List("--tests", "Which of " + string.Join(", ", SeriesTests.All) + " to run [default: all]", "LIST", SharedOptions.ParseTest);
        Option<IReadOnlyList<int>?> shares = OptionTypes.Make<IReadOnlyList<int>?>("--shares", null, "Percent of a step's documents for unack/batch/safe [default: 20/60/20 under 10M, else 10/85/5]", "A/B/C", ParseShares);
        Option<double?> window = OptionTypes.Duration("--window", "Length of each query test, warm-up included [default: 5s under 100M, else 10s]");
        Option<double?> warmup = OptionTypes.Duration("--warmup", "Part of the window that is left out of the results [default: a quarter of it]");
        Option<string?> format = OptionTypes.Choice("--format", "What is printed at the end [default: text]", Formats);
        var command = new Command("series", "Grow a collection to a target and run the eight tests at each step") { target, step, tests, shares, window, warmup, format };
        SettingsReader.AddTo(command, shared);
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            long documents = parsed.GetValue(target) ?? throw new UserException(ExitCode.WrongUsage, "--target is missing: how many documents the series is to reach", "'mongoperf series --target 1M' takes a few minutes");
            if (documents > DocumentNumbers.Limit)
                throw new UserException(ExitCode.WrongUsage, $"--target is {documents:N0}, documents are numbered up to {DocumentNumbers.Limit:N0}");
            SeriesSettings shape = SettingsReader.Shape(documents, parsed.GetValue(tests) ?? SeriesTests.All);
            double seconds = Positive("--window", parsed.GetValue(window) ?? shape.WindowSeconds);
            double left = parsed.GetValue(warmup) ?? seconds / 4;
            if (left >= seconds)
                throw new UserException(ExitCode.WrongUsage, $"--warmup is {left:0.###} s, the window {seconds:0.###} s: nothing would be measured");
            IReadOnlyList<RunRequest> requests = SettingsReader.ReadAll("series", parsed, shared, shape with
            {
                StepDocumentCount = Math.Min(documents, parsed.GetValue(step) ?? shape.StepDocumentCount),
                Shares = parsed.GetValue(shares) ?? shape.Shares,
                WindowSeconds = seconds,
                WarmupSeconds = left,
            });
            string form = parsed.GetValue(format) ?? "text";
            return RunSequence.Run([.. requests.Select(r => r with { Output = r.Output with { Format = form } })], SettingsReader.Repeats(parsed, shared, requests.Count), SeriesSession.Start);
        }));
        return command;
    }

    private static double Positive(string name, double seconds) =>
        seconds > 0 ? seconds : throw new UserException(ExitCode.WrongUsage, $"{name} is 0, it must be longer");

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
