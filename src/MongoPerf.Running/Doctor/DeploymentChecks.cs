using System.Text.Json;
using MongoPerf.Deployments;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Systems;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Running.Doctor;

/// <summary>Whether a deployment can be reached, what its user may do there, its clock, and what its servers complain of.</summary>
/// <param name="secrets">Completes connection strings.</param>
/// <param name="database">The database that runs would use.</param>
internal sealed class DeploymentChecks(ConnectionSecrets secrets, string database)
{
    private const int LongestWarning = 200;
    private const int MostWarnings = 30;
    private const double MostSkewMilliseconds = 1000;

    /// <param name="uri">As typed.</param>
    /// <param name="stop">Ends every wait.</param>
    public CheckGroup Run(string uri, CancellationToken stop)
    {
        string title = Masking.MaskArgument(uri);
        try
        {
            DatabaseSystem system = DatabaseSystems.Of(uri);
            string whole = secrets.Complete(uri);
            title = system.Mask(whole);
            (IReadOnlyList<ServerAddress> hosts, ConnectionSettings connections) = system.Read(whole, EngineKind.Wire, stop);
            connections = connections with { Stop = stop };
            using IDeployment deployment = system.Open(new DeploymentRequest
            {
                Settings = new DeploymentSettings(), Hosts = hosts, Connections = connections, DataFolder = "", RunFolder = "",
            });
            deployment.EnsureRunning();
            Inspection inspection = system.Inspect(deployment, connections, $"{database}.*");
            return new CheckGroup(title, [Server(inspection, deployment), .. OfUser(system, deployment, connections, inspection.Rights)]);
        }
        catch (Exception e) when (FailureReport.Classify(e) is not null && !stop.IsCancellationRequested)
        {
            return new CheckGroup(title, [Failed(e)]);
        }
    }

    /// <summary>A failure as a line: details and hint may follow its message on lines of their own.</summary>
    public static Check Failed(Exception failure, string subject = "server")
    {
        string[] lines = failure.Message.Split('\n');
        string? hint = FailureReport.Classify(failure)?.Hint
            ?? lines.FirstOrDefault(line => line.StartsWith("hint:", StringComparison.Ordinal))?["hint:".Length..].Trim();
        return Check.Problem(subject, Masking.Shown(lines[0]), hint is null ? null : Masking.Shown(hint));
    }

    private static Check Server(Inspection inspection, IDeployment deployment)
    {
        DeploymentInfo info = inspection.Info;
        string kind = info.IsEmbedded ? "embedded server, not MongoDB" : info.OtherSystem ?? "MongoDB";
        string found = string.Join(", ", new[]
        {
            $"{kind} {info.ServerVersion} at {deployment.Address}", info.ShapeText, info.Tls is true ? "TLS" : null,
            inspection.IsOnThisMachine ? "on this machine" : null,
        }.OfType<string>());
        return inspection.TakesWrites ? Check.Ok("server", found)
            : Check.Warning("server", $"{found}: takes no writes", "name the primary, or the whole set without directConnection");
    }

    private IEnumerable<Check> OfUser(
        DatabaseSystem system, IDeployment deployment, ConnectionSettings connections, UserRights rights)
    {
        if (system != DatabaseSystems.MongoDb)
            yield break;
        using MongoConnection connection = MongoConnection.Open(deployment.Address, connections);
        BsonDocument tried = connection.RunUnchecked(database, BsonDocument.Of(("listCollections", 1), ("nameOnly", true)));
        if (rights.User is null && ServerError.From(tried).MeansForbidden)
        {
            yield return Check.Problem("user", "nobody is logged in, and the server asks for a login",
                "name a user: --uri mongodb://USER@HOST --password-file FILE");
            yield break;
        }

        foreach (Check check in RightsChecks.Run(
            rights, database, deployment.Cluster is not null, deployment.Cluster is { Shards.Count: > 0 } cluster ? cluster.Direct : null))
            yield return check;
        if (system.CompareClock(deployment, connections) is { } clock)
            yield return Clock(clock);
        BsonDocument log = connection.RunUnchecked("admin", BsonDocument.Of(("getLog", "startupWarnings")));
        string[] warnings = [.. WarningsIn(log)];
        foreach (string warning in warnings.Take(MostWarnings))
            yield return Check.Warning("server says", warning, null);
        if (warnings.Length > MostWarnings)
            yield return Check.Warning("server says", $"{warnings.Length - MostWarnings:N0} more warnings", "read the server's log");
    }

    private static Check Clock(ClientClock clock)
    {
        string found = $"{Math.Abs(clock.OffsetMilliseconds):0.###} ms {(clock.OffsetMilliseconds < 0 ? "behind" : "ahead of")} this "
            + $"machine's, ± {clock.UncertaintyMilliseconds:0.###} ms";
        return Math.Abs(clock.OffsetMilliseconds) - clock.UncertaintyMilliseconds > MostSkewMilliseconds
            ? Check.Warning(
                "its clock", $"{found}: the server's log and other machines' figures don't fit the report's times",
                "run NTP on both machines")
            : Check.Ok("its clock", found);
    }

    /// <summary>Since 4.4 each is a JSON document; before, a line with its text behind the last bracket.</summary>
    internal static IEnumerable<string> WarningsIn(BsonDocument reply)
    {
        foreach (string line in (reply.FindDocument("log") ?? BsonDocument.Empty).Select(item => item.Value.ToString()))
        {
            string text = line;
            try
            {
                using JsonDocument entry = JsonDocument.Parse(line);
                text = entry.RootElement.TryGetProperty("msg", out JsonElement message) ? message.GetString() ?? "" : "";
            }
            catch (Exception e) when (e is JsonException or InvalidOperationException)
            {
                text = text[(text.LastIndexOf("] ", StringComparison.Ordinal) + 1)..].Trim().TrimStart('*').Trim();
            }

            if (text.Length > 0)
                yield return ForeignText.OneLine(text, LongestWarning);
        }
    }
}
