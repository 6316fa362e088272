using MongoPerf.Deployments;
using MongoPerf.Platforms;
using MongoPerf.Running.Secrets;

namespace MongoPerf.Running.Doctor;

/// <summary>What <c>doctor</c> is to look at.</summary>
public sealed record DoctorRequest
{
    /// <summary>Connection strings as typed.</summary>
    public required IReadOnlyList<string> Uris { get; init; }

    public string? PasswordFile { get; init; }

    /// <summary>The database that runs on the deployments would use.</summary>
    public required string Database { get; init; }

    public required string RunsFolder { get; init; }

    /// <summary>The value of <c>--mongod</c>; null when not given.</summary>
    public string? Mongod { get; init; }

    /// <summary>How long noise is listened to; 0 not at all.</summary>
    public required double Seconds { get; init; }
}

/// <summary>Looks at this machine, then at each deployment. Starts no server and writes nothing to any.</summary>
public static class DoctorSession
{
    /// <param name="request">What to look at.</param>
    /// <param name="stop">Ends waiting and listening.</param>
    public static IReadOnlyList<CheckGroup> Run(DoctorRequest request, CancellationToken stop)
    {
        (Check mongod, Version? version) = FindMongod(request.Mongod);
        List<Check> machine = [mongod, .. new MachineChecks(version).Run(request.RunsFolder)];
        if (request.Seconds > 0)
            machine.AddRange(MachineNoise.Measure(request.Seconds, stop).Checks());
        var deployments = new DeploymentChecks(new ConnectionSecrets(request.PasswordFile, SecretPrompt.Ask), request.Database);
        return [new CheckGroup("this machine", machine), .. request.Uris.Select(uri => deployments.Run(uri, stop))];
    }

    private static (Check Check, Version? Version) FindMongod(string? given)
    {
        try
        {
            return MongodProgram.Find(given) is { } program
                ? (Check.Ok("mongod", $"{program.Version} ({program.Path})"), program.Version)
                : (Check.Warning(
                    "mongod", "none found: runs without --uri use the embedded server, which is not MongoDB",
                    Platform.IsLinux ? "'mongoperf server install 8.0' installs one; --mongod names one"
                        : LinuxOnly.StartItYourself), null);
        }
        catch (DeploymentException e)
        {
            return (DeploymentChecks.Failed(e, "mongod"), null);
        }
    }
}
