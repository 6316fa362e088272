using System.Text.Json;
using MongoPerf.Measurement;
using MongoPerf.Reports;
using MongoPerf.Reports.Findings;
using MongoPerf.Reports.Phases;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>What reports show of a phase whose operations were due at times of their own.</summary>
public sealed class RatedReportTests : IDisposable
{
    private static readonly GroupTraffic Carried = new(1000, 200, 200, 1100, 1100);

    private readonly TemporaryFolder _runs = new();

    private static readonly OperationResult Rated = RunParts.Result("find", 8) with
    {
        ResponseMicroseconds = RunParts.Latency(5000),
        LatenessMicroseconds = RunParts.Latency(30),
        ClientLatenessMicroseconds = RunParts.Latency(2),
    };

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void A_table_without_room_keeps_response_and_service_time()
    {
        using StoredRun run = Stored(Rated, new ClientWaiting(0, 0));
        ReportTable table = PhaseTables.Of(run).First();
        Assert.Superset(new HashSet<string> { "response p99.9", "response max", "lateness p99" }, table.Columns.ToHashSet());
        string[] kept = [.. table.Within(60).SelectMany(part => part.Columns).Select(column => column.Replace('\n', ' '))];
        Assert.Superset(new HashSet<string> { "response p50", "response p99", "service p50", "service p99" }, kept.ToHashSet());
        Assert.DoesNotContain("response p95", kept);
    }

    [Fact]
    public void The_json_has_lateness_beside_response_and_service_time()
    {
        using StoredRun run = Stored(Rated, new ClientWaiting(3, 0.5));
        var text = new StringWriter();
        JsonReport.Write(run, text);
        JsonElement phase = JsonDocument.Parse(text.ToString()).RootElement.GetProperty("phases")[0];
        JsonElement result = phase.GetProperty("operations")[0];
        Assert.Equal((100, 5000, 30), (Median("latencyMicroseconds"), Median("responseMicroseconds"), Median("latenessMicroseconds")));
        Assert.Equal(3, phase.GetProperty("groups")[0].GetProperty("waiting").GetProperty("arrivals").GetInt32());

        double Median(string name) => result.GetProperty(name).GetProperty("p50").GetDouble();
    }

    [Fact]
    public void Waiting_for_a_busy_connection_is_told_apart_from_the_server_s_time()
    {
        using StoredRun run = Stored(Rated, new ClientWaiting(120, 3.2));
        Verdict said = ArrivalVerdicts.Of(run).Last();
        Assert.StartsWith("q4: all 8 connections were busy for 3.2 s, so 120 arrivals had to wait in the client",
            said.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_client_that_was_late_itself_is_blamed_for_it_and_not_the_server()
    {
        using StoredRun run = Stored(Rated with { ClientLatenessMicroseconds = RunParts.Latency(500) }, new ClientWaiting(0, 0));
        Verdict said = ArrivalVerdicts.Of(run).Last();
        Assert.StartsWith("the client itself started operations late though a connection was free: p50 500 µs, p99 2 ms in q4;",
            said.Text, StringComparison.Ordinal);
    }

    /// <summary>Against response times of p50 5 ms and p99 20 ms.</summary>
    [Theory]
    [InlineData(500, true)]
    [InlineData(499, false)]
    public void Where_a_tenth_of_what_is_shown_is_the_clients_own_the_row_says_so(double late, bool isLimited)
    {
        LatencySummary own = RunParts.Latency(late) with { P50 = late + 0.5, P99 = 2000 };
        using StoredRun run = Stored(Rated with { ClientLatenessMicroseconds = own }, new ClientWaiting(0, 0));
        Verdict said = ArrivalVerdicts.Of(run).Last();
        Assert.Equal(isLimited, said.Finding == VerdictFinding.ClientLimit);
        Assert.Equal(isLimited ? ["q4"] : [], said.Operations);
        Assert.Equal(isLimited, RunFindings.Of(run).Any(finding => finding.Id == FindingIds.ClientLimit));
    }

    [Theory]
    [InlineData(8.1, true)]
    [InlineData(8.0, false)]
    [InlineData(null, false)]
    public void Threads_that_think_too_long_make_the_rate_the_clients(double? overslept, bool isLimited)
    {
        using StoredRun run = Stored(RunParts.Result("find", 8), null, overslept: overslept);
        Verdict? said = ArrivalVerdicts.Of(run).SingleOrDefault();
        Assert.Equal(isLimited, said is not null);
        if (said is null)
            return;
        Assert.StartsWith("q4: the client woke its 8 threads late from their time to think, which took 10.1 % of their time",
            said.Text, StringComparison.Ordinal);
        Assert.Equal(VerdictFinding.ClientLimit, said.Finding);
        Assert.Equal(["q4"], said.Operations);
        Assert.Equal("client-limited", FindingText.Word(RunFindings.Of(run).First(finding => finding.Id == FindingIds.ClientLimit)));
    }

    [Fact]
    public void Of_several_rates_the_one_with_the_latest_starts_is_named()
    {
        using StoredRun run = Stored(Rated with { ClientLatenessMicroseconds = RunParts.Latency(500) }, new ClientWaiting(0, 0),
            parameters: [new ParameterValue("rate", "2000")]);
        Assert.Contains("p99 2 ms in q4 (rate=2000);", ArrivalVerdicts.Of(run).Last().Text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_rate_is_explained_with_its_gap()
    {
        using StoredRun run = Stored(Rated, new ClientWaiting(0, 0));
        Assert.Equal(
            "ok: paced at 10 operations/s: service time counts from when an operation started, response time from when it was due; "
            + "at p99 they differ by 19.6 ms at most, in q4 (400 µs and 20 ms); "
            + "none of 100 arrivals was skipped",
            Text(Assert.Single(ArrivalVerdicts.Of(run))));
    }

    [Theory]
    [InlineData(0, "BAD: 7 of 107 arrivals were skipped: ", "(400 µs and 20 ms)")]
    [InlineData(7, "note: paced at 10 ", "; 7 of 107 arrivals were skipped because there was no time left for them")]
    public void Skipped_arrivals_are_bad_unless_they_are_allowed_and_counted_once(long allowed, string first, string end)
    {
        using StoredRun run = Stored(Rated, new ClientWaiting(0, 0), skipped: 7, allowed);
        string[] said = [.. ArrivalVerdicts.Of(run).Select(Text)];
        Assert.StartsWith(first, said[0], StringComparison.Ordinal);
        Assert.EndsWith(end, said[^1], StringComparison.Ordinal);
        Assert.Single(said, text => text.Contains("skipped", StringComparison.Ordinal));
    }

    [Fact]
    public void The_latency_log_has_response_times_and_lateness_under_tags_of_their_own()
    {
        using StoredRun run = Stored(Rated, new ClientWaiting(0, 0));
        var text = new StringWriter();
        SampleFiles.Write(run, TextWriter.Null, text);
        string[] lines = [.. text.ToString().Split('\n').Where(line => line.StartsWith("Tag=", StringComparison.Ordinal))];
        Assert.Equal(["Tag=find", "Tag=find.response", "Tag=find.lateness"], lines.Select(line => line.Split(',')[0]));
        LatencyHistogram response = HistogramEncoding.Decode(Convert.FromBase64String(lines[1].Split(',')[^1]));
        Assert.InRange(response.Maximum!.Value, 5000, 5005);
    }

    [Fact]
    public void Traffic_is_stored_and_shown_only_where_something_was_compressed()
    {
        using StoredRun run = Stored(Rated, new ClientWaiting(0, 0));
        Assert.Equal(Carried, run.Phases[0].Groups[0].Traffic);
        Assert.Null(ReportTables.Traffic(run));
    }

    private static string Text(Verdict verdict) => $"{verdict.Mark}: {verdict.Text}";

    private StoredRun Stored(
        OperationResult result, ClientWaiting? waiting, long skipped = 0, long allowed = 0, double? overslept = null,
        params ParameterValue[] parameters)
    {
        string folder = _runs.At("run");
        using (RunStore store = RunStore.Create(folder, RunParts.Run(),
            RunParts.Settings() with { Plan = RunParts.Settings().Plan with { MaxSkipped = new SkipLimit(allowed, 0) } }))
        {
            store.AddSample(RunParts.Sample(1, result.Operation) with
            {
                Phase = 1, IsWarmup = false, ResponseMicroseconds = result.ResponseMicroseconds,
                LatenessMicroseconds = result.LatenessMicroseconds,
                Histogram = Of(100), ResponseHistogram = Of(5000), LatenessHistogram = Of(30),
            });
            store.EndPhase(RunParts.Phase(1, "q4", result) with
            {
                Rate = 10, Parameters = parameters, Groups = [new GroupShare("", 8, 10, 100, 12, 13, 0.5,
                    new Accounting(100 + skipped, 100, 0, skipped)) { Waiting = waiting, Traffic = Carried, OversleptSeconds = overslept }],
            });
        }

        return StoredRun.Open(folder);
    }

    private static byte[] Of(double microseconds)
    {
        var histogram = new LatencyHistogram();
        histogram.Record(microseconds);
        return HistogramEncoding.EncodeCompressed(histogram);
    }
}
