using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using MongoPerf.Reports.Findings;
using MongoPerf.Reports.Phases;
using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>
/// A run as JSON, schema mongoperf/1. What has no value is null; fields are only ever added. Stored records are shown as they are.
/// </summary>
public static class JsonReport
{
    public const string Schema = "mongoperf/1";

    private static readonly JsonSerializerOptions Options = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
        WriteIndented = true,
        NewLine = "\n",
        // Relaxed: the file is read as JSON, never pasted into HTML, and 'it's' stays readable.
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        Converters = { new RoundedNumber() },
        TypeInfoResolver = new DefaultJsonTypeInfoResolver { Modifiers = { LeaveErrorsToThePhase } },
    };

    public static void Write(StoredRun run, TextWriter output)
    {
        using IDisposable english = Words.InEnglish();
        Dictionary<int, LapFigures> laps = LapFigures.Of(run).ToDictionary(one => one.Phase.Number);
        WriteValue(output, new
        {
            schema = Schema,
            notMongoDb = NotMongoDb.Of(run),
            run = RunOf(run),
            settings = SettingsOf(run.Settings),
            deployment = run.Deployment is { } deployment ? DeploymentOf(deployment) : null,
            environment = run.Environment,
            findings = RunFindings.Of(run),
            slowest = SlowestOf(SlowestSeconds.Of(run)),
            accounting = run.Accounting,
            errors = run.Errors,
            phases = run.Phases.Select(phase => PhaseOf(phase, laps.GetValueOrDefault(phase.Number), run.Environment?.Calibration)),
            collStats = ShardJson.CollStats(run),
            sharding = ShardJson.Sharding(run),
            replication = ReplicaLag.Of(run).Select(one => new
            {
                one.Member, millisecondsBehindAtEnd = one.AtEnd, mostMillisecondsBehind = one.Most,
            }),
            events = run.Events.Select(e => new { at = Time(e.AtMilliseconds), e.Kind, e.Text, e.Seconds }),
        });
    }

    /// <summary>Indented, members in camelCase, numbers rounded to a millionth, with a line feed at the end.</summary>
    public static void WriteValue(TextWriter output, object value)
    {
        output.Write(JsonSerializer.Serialize(value, Options));
        output.Write('\n');
    }

    public static DateTimeOffset Time(long milliseconds) => DateTimeOffset.FromUnixTimeMilliseconds(milliseconds);

    private static object SlowestOf(SlowestSeconds slowest)
    {
        return new { seconds = slowest.Seconds.Select(ValueOf), operations = slowest.Operations.Select(ValueOf) };

        static object ValueOf(SlowSecond one) => new
        {
            at = Time(one.At), one.Operation, one.Range, one.PerSecond, one.UsualPerSecond, one.P99Microseconds, one.UsualP99Microseconds,
            one.MaxMicroseconds, one.Coincided, one.Why,
        };
    }

    private static object RunOf(StoredRun stored)
    {
        RunInfo run = stored.Run;
        return new
        {
            run.Id, run.Seed, run.Version, run.BuildKind, run.CommandLine, state = stored.StateText,
            run.StoppedBecause, run.StartedAt, run.EndedAt,
            stored.DocumentsReached, run.Repeat, run.Part, run.Clients,
        };
    }

    /// <summary>What is null was left to the program.</summary>
    private static object SettingsOf(RunSettings settings)
    {
        DeploymentSettings on = settings.Deployment;
        PlanSettings plan = settings.Plan;
        return new
        {
            deployment = new
            {
                on.Name, topology = on.Topology?.Text(), on.Uri, on.CacheBytes, on.MemoryLimitBytes, on.Cpus, auth = on.Auth is true,
                tls = on.Tls is true, on.Shards, on.Members,
            },
            engine = settings.Engine.Text,
            data = new { settings.Data.Database, settings.Data.IsExisting, settings.Data.Sharding },
            plan = new
            {
                plan.Name, plan.Description, plan.Path, parameters = ParametersOf(plan.Parameters),
                changes = plan.Changes.Select(change => change.ToString()), plan.Set, plan.Overrides.Scale,
                plan.TargetDocuments, plan.VerifyShare, plan.MaxErrors, plan.MaxSkipped,
                plan.Replay?.MaxDifferent,
            },
        };
    }

    private static object DeploymentOf(DeploymentInfo d) => new
    {
        kind = JsonNamingPolicy.CamelCase.ConvertName(d.Kind.ToString()), topology = d.Topology.Text(), d.ServerVersion, d.StorageEngine,
        d.CacheBytes, d.MemoryLimitBytes,
        d.StandIn,
        d.Router, d.ShardCount, d.Members, d.Tls, d.Auth, d.Compressor, d.ServerApi, d.IsEmbedded, d.Address, d.Namespace, d.Remarks,
        d.Collections,
        access = d.Access is not { } access ? null : new
        {
            access.User, access.Roles, access.Routers,
            missing = access.Missing.Select(one => new
            {
                feature = JsonNamingPolicy.CamelCase.ConvertName(one.Feature.ToString()),
                why = JsonNamingPolicy.CamelCase.ConvertName(one.Why.ToString()), one.Role, one.Database,
            }),
        },
    };

    private static object PhaseOf(PhaseRecord phase, LapFigures? laps, ClientCalibration? calibration) => new
    {
        phase.Number,
        phase.Phase,
        phase.Description,
        kind = phase.Kind.ToString().ToLowerInvariant(),
        growth = phase.Growth is { } growth ? new { name = growth.Growth, growth.Step, growth.Documents } : null,
        parameters = ParametersOf(phase.Parameters),
        phase.Collection,
        phase.Documents,
        complete = phase.IsComplete,
        phase.StartSkewMilliseconds, phase.StartSkewUncertaintyMilliseconds,
        phase.Rate,
        notVerified = phase.NotVerified?.ToString(),
        operationsPerSecond = phase.OperationsPerSecond(),
        phase.Operations,
        phase.Totals,
        clientShares = calibration is null ? null : ClientShare.Of(phase, calibration).Select(one => new
        {
            one.Result.Operation, clientMicroseconds = one.ClientMicroseconds, microseconds = one.Microseconds, one.Share, one.Driver,
        }),
        groups = phase.Groups.Select(group => new
        {
            group.Name, group.Threads, group.Seconds,
            operationsPerThread = new { min = group.Least, group.Mean, max = group.Most, standardDeviation = group.Deviation },
            group.Accounting,
            group.Waiting,
            group.OversleptSeconds,
            group.Traffic,
        }),
        phase.Sizes,
        errors = phase.Operations.SelectMany(operation => operation.Errors.Select(error => new
        {
            operation.Operation, error.Code, error.Name, error.Count, error.FirstMessage, error.SlowestMicroseconds,
        })),
        assertions = phase.Assertions.Select(assertion => new
        {
            assertion.Text, assertion.Value, assertion.Holds, assertion.IsCheck, assertion.First,
        }),
        laps = laps is null ? null : LapsOf(laps),
    };

    private static object LapsOf(LapFigures laps) => new
    {
        laps.Length,
        of = laps.IsOfDocuments ? "documents" : "operations",
        firstSeconds = laps.First,
        medianSeconds = laps.Median,
        lastSeconds = laps.Last,
        slowestSeconds = laps.Slowest,
        firstTaskEndedSeconds = laps.Ends.Fastest,
        lastTaskEndedSeconds = laps.Ends.Slowest,
        tasks = laps.Tasks.Select(task => task.Select(lap => new { lap = lap.Number, lap.Done, lap.Seconds, lap.EndSeconds })),
    };

    private static Dictionary<string, string> ParametersOf(IEnumerable<ParameterValue> parameters) =>
        parameters.ToDictionary(parameter => parameter.Name, parameter => parameter.Value);

    /// <summary>A phase lists the errors of all its operations.</summary>
    private static void LeaveErrorsToThePhase(JsonTypeInfo type)
    {
        if (type.Type == typeof(OperationResult))
            type.Properties.Remove(type.Properties.Single(property => property.Name == "errors"));
    }

    /// <summary>JSON knows neither NaN nor infinity.</summary>
    private sealed class RoundedNumber : JsonConverter<double>
    {
        public override double Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) => reader.GetDouble();

        public override void Write(Utf8JsonWriter writer, double value, JsonSerializerOptions options)
        {
            if (double.IsFinite(value))
                writer.WriteNumberValue(Math.Round(value, 6));
            else
                writer.WriteNullValue();
        }
    }
}
