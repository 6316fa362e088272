using System.CommandLine;
using MongoPerf.Load.Sharding;
using MongoPerf.Options;
using MongoPerf.Reports;
using MongoPerf.Reports.Plots;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Commands;

/// <summary><c>validate FILE</c>: checks a scenario or a plot without a server.</summary>
internal static class ValidateCommand
{
    public static Command Create()
    {
        Argument<string> file = ScenarioCommands.ScenarioArgument();
        Option<string?> format = OptionTypes.Choice("--format", "Output format [default: text]", "text", "json");
        Option<string?> files = FilesOption.Create();
        var command = new Command("validate", "Check a scenario file or a plot file") { file, format, files };
        command.Runs(parsed =>
        {
            bool isJson = parsed.GetValue(format) == "json";
            string name = parsed.GetValue(file)!;
            try
            {
                ScenarioFile? found = ScenarioFile.TryFind(name);
                // A pipe can be read only once.
                PlotFile? plot = found is null ? PlotFile.TryFind(name)
                    : IsPlot(found.ShownPath, found.Text) ? PlotFile.Of(found.ShownPath, found.Text) : null;
                if (plot is not null)
                    Validate(plot, isJson);
                else
                    Validate(FilesOption.In(parsed, files, found ?? ScenarioFile.Find(name)), isJson);
            }
            catch (UserException e) when (isJson)
            {
                WriteValidation(name, isValid: false, null, null, [], [], e.Message, e.Hint);
                throw;
            }
        });
        return command;
    }

    private static void Validate(ScenarioFile found, bool isJson)
    {
        ReadPlan read = PlanReader.Read(found, new PlanOverrides(), PlanRequests.DefaultSeed);
        var all = new List<ReadPlan> { read };
        foreach (ScenarioDeployment deployment in read.Deployments)
        {
            all.Add(PlanReader.Read(found, new PlanOverrides(), PlanRequests.DefaultSeed, deployment));
            if (deployment.Settings.Topology == Topology.Sharded)
                ShardLimits.Require(all[^1].Plan.Rounds, ShardKey.Parse(ShardKey.HashedId));
        }

        string[] warnings = [.. all.SelectMany(one => one.Warnings).Distinct()];
        string[] confirmations =
        [
            .. all.SelectMany(one => WritePermission.RequireListed(one, PlanRequests.DefaultDatabase))
                .Select(target => WritePermission.Option(target.Name!)).Distinct(),
        ];
        string confirm = confirmations.Length > 0 ? $"; a run must confirm what it may write: {string.Join(' ', confirmations)}" : "";
        int phases = read.Plan.Rounds.Sum(r => r.Phases.Count);
        if (isJson)
            WriteValidation(found.ShownPath, isValid: true, phases, read.Plan.TargetDocuments, warnings, confirmations, null, null);
        else
            ScenarioPrinter.WriteWarnings(warnings, Console.Out);
        if (!isJson)
            Console.WriteLine($"{found.ShownPath}: valid: {phases} {(phases == 1 ? "phase" : "phases")}, "
                + $"{read.Plan.TargetDocuments:N0} documents{confirm}");
    }

    private static void Validate(PlotFile found, bool isJson)
    {
        if (found.Name == PlotStyle.Name)
        {
            _ = PlotStyle.Current.With(found);
            if (!isJson)
                Console.WriteLine($"{found.ShownPath}: valid: a style file for plots");
            else
                WriteValidation(found.ShownPath, isValid: true, null, null, [], [], null, null);
            return;
        }

        PlotInfo plot = PlotReader.Read(found);
        if (isJson)
            WriteValidation(found.ShownPath, isValid: true, null, null, [], [], null, null);
        else
            Console.WriteLine($"{found.ShownPath}: valid: a plot over {plot.X} with "
                + $"{(plot.Figure?.Y.Count ?? plot.Panels.Count) switch { 1 => "1 panel", int panels => $"{panels} panels" }}");
    }

    /// <summary>Tells by its keys whether a file is a plot; what can't be read at all is taken for a scenario.</summary>
    private static bool IsPlot(string path, string text)
    {
        try
        {
            MappingNode top = ScenarioYaml.Read(path, text);
            return top.Find("phases") is null && top.Find("data") is null
                && top.Entries.Any(static entry => entry.Name is "x" or "y" or "panels" or "fontSizes" or "themes" or "colors");
        }
        catch (UserException)
        {
            return false;
        }
    }

    private static void WriteValidation(
        string file, bool isValid, int? phases, long? documents, IReadOnlyList<string> warnings, IReadOnlyList<string> confirmations,
        string? error, string? hint) =>
        JsonReport.WriteValue(Console.Out,
            new { schema = "mongoperf/validate/1", file, valid = isValid, phases, documents, warnings, confirmations, error, hint });
}
