using System.CommandLine;
using MongoPerf.Deployments.Processes;
using MongoPerf.Options;
using MongoPerf.Running.Secrets;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary>Which of a scenario's deployments a call runs it on, and what the options make of them.</summary>
/// <param name="parsed">The call.</param>
/// <param name="shared">The command's shared options.</param>
/// <param name="picked">The value of <c>--deployment</c>; null for all.</param>
internal sealed class ScenarioDeployments(ParseResult parsed, SharedOptions shared, string? picked)
{
    /// <summary>The deployments in the file's order; empty when the call names the deployment itself, or the file none.</summary>
    /// <param name="all">Those of the file.</param>
    /// <param name="tell">Gets a line for each that this machine can't be.</param>
    /// <exception cref="UserException">No such deployment, an option that contradicts the file, or none that fits this machine.</exception>
    public IReadOnlyList<ScenarioDeployment> Choose(IReadOnlyList<ScenarioDeployment> all, Action<string> tell)
    {
        // What is typed wins over the environment.
        string? given = new Option[] { shared.Uri, shared.Against, shared.ClusterFolder, shared.Topology }
            .FirstOrDefault(parsed.HasTyped)?.Name ?? (picked is null && UriVariable.Value is not null ? "" : null);
        if (given is not null)
        {
            return picked is null ? []
                : throw new UserException(ExitCode.WrongUsage,
                    $"--deployment selects one of the scenario's own deployments and can't be combined with {given}", "omit one of them");
        }

        IReadOnlyList<ScenarioDeployment> chosen = picked is null ? all : Pick(all, picked);
        RefuseWhatDiffers(chosen);
        return WithEnoughCpus(chosen, tell);
    }

    /// <summary>The deployment as it is started: what is typed wins over the file.</summary>
    /// <param name="deployment">One of the chosen.</param>
    /// <param name="listed">Topologies of all that were chosen.</param>
    public IReadOnlyList<DeploymentChoice> Named(ScenarioDeployment deployment, IReadOnlyList<Topology> listed) =>
        new DeploymentChoice(deployment.Settings) { IsListed = true, Listed = listed, Scenario = deployment }
            .WithTyped(parsed, shared, deployment.Settings.Name);

    private static IReadOnlyList<ScenarioDeployment> Pick(IReadOnlyList<ScenarioDeployment> all, string picked)
    {
        string[] known = [.. all.Select(d => d.Settings.Name).OfType<string>()];
        // A name may hold commas.
        string[] names =
            known.Contains(picked) ? [picked] : picked.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
        foreach (string name in names.Where(n => !known.Contains(n)))
        {
            string allowed = known.Length == 0 ? "the scenario names no deployments" : $"allowed: {string.Join(", ", known)}";
            throw new UserException(ExitCode.WrongUsage, $"--deployment: no deployment '{name}'; {allowed}", NearestName.Hint(name, known));
        }

        return [.. all.Where(d => names.Contains(d.Settings.Name))];
    }

    /// <summary>One value for several deployments, of which each says its own, would make them alike.</summary>
    private void RefuseWhatDiffers(IReadOnlyList<ScenarioDeployment> chosen)
    {
        if (chosen.Count < 2)
            return;
        (Option Option, Func<DeploymentSettings, bool> Says)[] all =
        [
            .. shared.Cluster.All.Select(option => (option, (Func<DeploymentSettings, bool>)(_ => true))),
            (shared.Cache, d => d.CacheBytes is not null),
            (shared.Limits.MemoryLimit,
                d => d.MemoryLimitBytes is not null || parsed.GetValue(shared.Limits.MemoryLimit) is { Count: > 1 }),
            (shared.Limits.Cpus, d => d.Cpus is not null || parsed.GetValue(shared.Limits.Cpus) is { Count: > 1 }),
            (shared.Security.Tls, d => d.Tls is not null || parsed.GetValue(shared.Security.Tls) is { Count: > 1 }),
            (shared.Security.Auth, d => d.Auth is not null || parsed.GetValue(shared.Security.Auth) is { Count: > 1 }),
        ];
        if (all.FirstOrDefault(one => parsed.HasTyped(one.Option) && chosen.Any(d => one.Says(d.Settings))).Option is { } wrong)
        {
            throw new UserException(
                ExitCode.WrongUsage, $"{wrong.Name} applies to one deployment, but the scenario runs on {chosen.Count}: "
                    + $"{string.Join("; ", chosen.Select(d => d.Settings.Name))}",
                "--deployment selects one of them; --topology replaces them");
        }
    }

    private IReadOnlyList<ScenarioDeployment> WithEnoughCpus(IReadOnlyList<ScenarioDeployment> chosen, Action<string> tell)
    {
        if (parsed.HasTyped(shared.Limits.Cpus))
            return chosen;
        int there = CpuAffinity.Own.Count;
        List<ScenarioDeployment> fitting = [];
        foreach (ScenarioDeployment deployment in chosen)
        {
            if (deployment.Settings.Cpus is not { } cpus || cpus <= there)
                fitting.Add(deployment);
            else
                tell($"deployment '{deployment.Settings.Name}': needs {DeploymentText.Cpus(cpus)}, this machine has {there}; skipped");
        }

        return fitting.Count > 0 || chosen.Count == 0 ? fitting
            : throw new UserException(ExitCode.WrongUsage,
                $"this machine has too few CPUs ({there}) for any of the scenario's deployments", "--cpus gives them fewer");
    }
}
