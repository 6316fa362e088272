using System.Globalization;
using System.Text.RegularExpressions;
using MongoPerf.Measurement;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Comparison;
using MongoPerf.Tests.Support;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Reports.Findings;

/// <summary>What a phase's seconds show, from the stored run to the sentence; and the verdicts that are findings.</summary>
public sealed class PhaseFindingTests
{
    [Theory]
    [InlineData(FindingIds.SlowDrift, "^q4's rate falls steadily, by 2[0-9](\\.[0-9])? % within 2 min 00 s$")]
    [InlineData(FindingIds.RateDrop,
        "^q4's rate drops at 1 min 1[0-9] s and stays (19|2[0-1])(\\.[0-9])? % lower: [0-9]+ instead of [0-9,]+ operations/s$")]
    [InlineData(FindingIds.RateDip,
        "^q4's rate is (19|2[0-1])(\\.[0-9])? % lower for 1[4-6](\\.[0-9])? s from (4[0-9](\\.[0-9])?|5[0-9](\\.[0-9])?) s on: ")]
    [InlineData(FindingIds.RateRise,
        "^q4's rate is (2[3-6])(\\.[0-9])? % higher for 1[4-6](\\.[0-9])? s from (4[0-9](\\.[0-9])?|5[0-9](\\.[0-9])?) s on: ")]
    [InlineData(
        FindingIds.SlowStart, "^q4's rate is (19|2[0-1])(\\.[0-9])? % lower in the first (1[8-9]|2[0-2])(\\.[0-9])? s after the warm-up: ")]
    public void A_change_of_a_rate_is_called_by_where_it_lies(string id, string text)
    {
        using var run = new ScriptedRun();
        run.Phase("q4", [.. Enumerable.Range(0, 120).Select(i => id switch
        {
            FindingIds.SlowDrift => 1000 * (1 - (0.25 * i / 120)),
            FindingIds.RateDrop => i < 75 ? 1000.0 : 800,
            FindingIds.RateDip => i is >= 50 and < 65 ? 800.0 : 1000,
            FindingIds.RateRise => i is >= 50 and < 65 ? 1250.0 : 1000,
            _ => i < 20 ? 800.0 : 1000,
        })]);
        Finding found = Assert.Single(run.Findings());
        Assert.Equal(id, found.Id);
        Assert.Matches(text, found.Text);
    }

    /// <summary>As a load that slows down for good behind the dip: the mean of all other seconds would be below the dip's.</summary>
    [Fact]
    public void A_dip_is_held_against_its_neighbours_where_the_rate_changes_elsewhere_too()
    {
        using var run = new ScriptedRun();
        run.Phase("q4", [.. Enumerable.Range(0, 120).Select(i => i >= 60 ? 300.0 : i is >= 30 and < 42 ? 700 : 1000)]);
        Finding dip = Assert.Single(run.Findings(), finding => finding.Id == FindingIds.RateDip);
        Match match = Regex.Match(dip.Text, "is ([0-9.]+) % lower for 12 s from .* on: ([0-9,]+) instead of ([0-9,]+) operations/s$");
        Assert.True(match.Success, dip.Text);
        double[] figures = [.. match.Groups.Values.Skip(1)
            .Select(group => double.Parse(group.Value, NumberStyles.Number, CultureInfo.InvariantCulture))];
        Assert.InRange(figures[0], 28, 32);
        Assert.InRange(figures[2], 950, 1050);
        Assert.Equal(1 - (figures[0] / 100), figures[1] / figures[2], 0.01);
    }

    /// <summary>
    /// Virtual machines share their hardware with others: all that runs on it gets slower together, and no counter of the machine tells.
    /// </summary>
    [Theory]
    [InlineData(0.7, "4[1-4]")]
    // Three fifths of the change, as logarithms: most of it. And three tenths.
    [InlineData(0.807, "2[2-5]")]
    [InlineData(0.9, null)]
    [InlineData(1.0, null)]
    public void A_rate_that_falls_as_the_clients_work_per_operation_takes_longer_has_slower_processors(double speed, string? percent)
    {
        using var run = new ScriptedRun();
        run.Phase("q4", [.. Enumerable.Range(0, 120).Select(i => i < 70 ? 1000.0 : 700)]);
        double used = 0;
        run.Host(0, 121, second =>
            [("client_cpu_user", used += second <= 70 ? 30_000 : 700 * 30 / speed), ("cpu_user", used), ("cpu_idle", 4e6 * second)]);
        Finding drop = Assert.Single(run.Findings());
        Assert.Equal(FindingIds.RateDrop, drop.Id);
        if (percent is not null)
            Assert.Matches(
                $"^the client's processors were slower \\(an operation took {percent}(\\.[0-9])? % more of their time\\)$", drop.Cause);
        else
            Assert.Null(drop.Cause);
    }

    [Theory]
    [InlineData(40, 1000, 500)]
    [InlineData(36, 1000, 15)]
    public void A_rate_that_falls_early_has_dropped_even_to_a_few_operations(int fast, double before, double after)
    {
        using var run = new ScriptedRun();
        run.Phase("q4", [.. Enumerable.Range(0, 120).Select(i => i < fast ? before : after)]);
        Finding found = Assert.Single(run.Findings(), finding => finding.Id != FindingIds.FewSamples);
        Assert.Equal(FindingIds.RateDrop, found.Id);
        Assert.Matches("^q4's rate drops at .* and stays (50|98\\.5) % lower: ", found.Text);
    }

    /// <summary>
    /// As a real server was with a fifth of a core, three seconds of which lie below a tenth of the usual rate; and one whose index was
    /// dropped, where what is left of the rate falls on, and its seconds resemble each other.
    /// </summary>
    [Theory]
    [InlineData(FindingIds.RateDip, "q4's rate is 89 % lower for 10 s from ", new double[]
    {
        10019, 9816, 9859, 9709, 9642, 9879, 9535, 10157, 10664, 1791, 959, 1000, 1029, 1020, 952, 923, 930, 917, 991, 7998, 9348,
        9932, 9682, 9490, 9727, 9393,
    })]
    [InlineData(FindingIds.RateDrop, "q4's rate drops at ", new double[]
    {
        11365, 9615, 8269, 9102, 8283, 8756, 8564, 9056, 9425, 65, 66, 70, 55, 56, 58, 58, 51, 50, 51, 52, 47, 52, 53, 48, 54, 47,
    })]
    public void A_rate_near_a_tenth_or_a_hundredth_of_the_usual_one_is_low_and_no_stall(string id, string text, double[] rates)
    {
        using var run = new ScriptedRun();
        run.Phase("q4", rates);
        Finding found = Assert.Single(run.Findings());
        Assert.Equal(id, found.Id);
        Assert.StartsWith(text, found.Text, StringComparison.Ordinal);
    }

    /// <summary>
    /// As a real server was with a third of a core in every other four seconds. One of them lies below a tenth of the median: without it
    /// and the one behind it, the second half is out of step with the first.
    /// </summary>
    [Fact]
    public void A_period_goes_on_behind_a_second_that_almost_stood_still()
    {
        using var run = new ScriptedRun();
        run.Phase("q4",
        [
            8336, 7912, 1548, 1621, 1497, 2309, 8950, 7836, 7490, 8955, 1303, 1220, 1257, 1622, 7325, 8664, 8198, 7503,
            837, 482, 224, 680, 9238, 9373,
            9321, 8544, 1239, 1407, 1562, 2258, 8090, 6574, 7212, 6210, 1118, 1116, 1284, 1548, 7657, 7806, 8417, 7379, 1279,
            1260, 1262, 1831, 8966, 8120,
        ], noise: false);
        IReadOnlyList<Finding> found = [.. run.Findings()];
        Assert.Matches("^q4's rate swings by ±[0-9.]+ % every (8|8\\.0[0-9]|7\\.9[0-9]) s$",
            Assert.Single(found, finding => finding.Id == FindingIds.Period).Text);
        // An operation took a fifth of a millisecond there: it was no second of silence.
        Assert.Matches(
            "^q4 nearly stalled for 1 s at 2[0-9](\\.[0-9])? s$", Assert.Single(found, finding => finding.Id == FindingIds.Stall).Text);
    }

    [Theory]
    [InlineData(RunEvent.ColdStart, 8, true)]
    [InlineData(RunEvent.WarmStart, 8, true)]
    [InlineData(RunEvent.WarmStart, 2, false)]
    [InlineData(RunEvent.WarmStart, 0, false)]
    [InlineData(null, 8, false)]
    public void A_phase_warms_up_when_it_begins_on_a_server_that_was_just_started_and_takes_three_seconds(
        string? start, int slow, bool isFound)
    {
        using var run = new ScriptedRun();
        if (start is not null)
            run.Store.AddEvent(new RunEvent(ScriptedRun.At(0), start, "restarted"));
        run.Phase("q4", [.. Enumerable.Range(0, 40).Select(i => i < slow ? 400.0 : 1000)], warmup: 3);
        Finding? found = run.Findings().SingleOrDefault(finding => finding.Id == FindingIds.WarmUp);
        Assert.Equal(isFound, found is not null);
        if (isFound)
            Assert.Matches(
                $"^q4 takes [78] s to reach 90 % of its [0-9,]+ operations/s after a {start}: it begins at [34][0-9]{{2}}$", found!.Text);
    }

    /// <summary>
    /// Between sizes it falls by more and more: no power of the documents, and to a straight line's test all correlation.
    /// </summary>
    [Theory]
    [InlineData(-1, FindingIds.SizeDecline)]
    [InlineData(1, FindingIds.SizeRise)]
    public void A_rate_that_bends_smoothly_is_found_though_no_power_describes_it(int sign, string id)
    {
        using var run = new ScriptedRun(noise: new NoisySamples(5, 0.02, 0.2));
        for (int step = 1; step <= 12; step++)
            run.Size(step, "q5", [.. Enumerable.Repeat(2000 * Math.Exp(sign * ((0.04 * step) + (0.005 * step * step))), 5)]);
        Finding found = Assert.Single(run.Findings());
        Assert.Equal(id, found.Id);
        Assert.InRange(found.Rate!.Ratio, sign < 0 ? 0.3 : 2, sign < 0 ? 0.5 : 3.3);
    }

    /// <summary>As a real server did with a cache and memory that its data outgrew: a step, but not most of the fall.</summary>
    [Fact]
    public void A_rate_that_falls_before_and_behind_a_step_declines()
    {
        using var run = new ScriptedRun();
        double[] rates = [8977, 7390, 8586, 7840, 5751, 2358, 2313, 1581, 1535, 1034, 1028, 1305, 1075, 913];
        for (int step = 0; step < rates.Length; step++)
        {
            run.Size(step + 1, "q4", [.. Enumerable.Repeat(rates[step], 5)]);
            foreach (string steady in new[] { "q5", "q6", "q7", "batch", "safe", "count" })
                run.Size(step + 1, steady, [.. Enumerable.Repeat(1000.0, 5)]);
        }

        Finding found = Assert.Single(run.Findings());
        Assert.Equal(FindingIds.SizeDecline, found.Id);
        Assert.Matches("it is (89|90) % lower than at 100k$", found.Text);
    }

    /// <summary>The figures beside it are both ends' rates; a line through all sizes once said 56 % of rates that fell by 52 %.</summary>
    [Theory]
    [InlineData(3000, 1200, "falls steadily as the collection grows: at 1.8M documents it is 60 % lower than at 100k")]
    [InlineData(1500, 1450,
        "falls as the collection grows: by the trend over all sizes it is [0-9]+ % lower at 1.8M documents than at 100k")]
    [InlineData(1200, 3000,
        "rises as the collection grows, which its size does not explain: at 1.8M it is 2.5 times as high, compared with 100k")]
    [InlineData(1450, 1500, "rises as the collection grows, which its size does not explain: by the trend over all sizes it is "
        + "[0-9]+ % higher at 1.8M documents, compared with 100k")]
    public void How_much_a_rate_changes_is_what_the_rates_shown_say_or_the_trend_is_named(double first, double last, string text)
    {
        using var run = new ScriptedRun(noise: new NoisySamples(5, 0, 0));
        IEnumerable<double> between = Enumerable.Range(1, 16).Select(place => 2600.0 - (60 * place));
        double[] rates = [first, .. first > last ? between : between.Reverse(), last];
        foreach ((int place, double rate) in rates.Index())
            run.Size(place + 1, "q7", [.. Enumerable.Repeat(rate, 5)]);
        Finding found = Assert.Single(run.Findings(), finding => finding.Id is FindingIds.SizeDecline or FindingIds.SizeRise);
        Assert.Matches($"^q7's rate {text}$", found.Text);
        Assert.StartsWith($"{Units.Rate(first)} at 100k, ", found.Evidence[0].Text, StringComparison.Ordinal);
    }

    /// <summary>
    /// As acknowledged inserts did on a slow disk once memory was full: at first about level, then falling from size to size, but neither
    /// in a step nor all the way.
    /// </summary>
    [Theory]
    [InlineData(2990, "safe's rate falls beyond 700k documents: at 1M it is 64 % lower")]
    [InlineData(5600, null)]
    public void A_rate_that_is_level_at_first_and_then_falls_to_half_or_less_is_found(double last, string? text)
    {
        using var run = new ScriptedRun();
        double[] rates = [9437, 8900, 9600, 8800, 8300, 7800, 8100, 6900, Math.Max(5500, last), last];
        for (int step = 0; step < rates.Length; step++)
        {
            run.Size(step + 1, "safe", [.. Enumerable.Repeat(rates[step], 5)]);
            foreach (string steady in new[] { "q4", "q5", "q6", "q7", "batch", "unack" })
                run.Size(step + 1, steady, [.. Enumerable.Repeat(1000.0, 5)]);
        }

        Finding? found = run.Findings().SingleOrDefault();
        Assert.Equal(text, found?.Text);
        if (found is null)
            return;
        Assert.Equal((FindingIds.SizeDecline, 700_000L, 1_000_000L), (found.Id, found.Range!.FromDocuments, found.Range.ToDocuments));
        Assert.InRange(found.Rate!.Ratio, 0.4, 0.6);
    }

    /// <summary>
    /// Unacknowledged writes leave as the sockets take them, in gushes, while the server takes them steadily: "insert stalled 57 times" was
    /// said of such a one.
    /// </summary>
    [Theory]
    [InlineData(false, 1250, FindingIds.Stall)]
    [InlineData(true, 1250, null)]
    [InlineData(true, 500, FindingIds.RateDrop)]
    public void What_nobody_answers_is_judged_by_what_arrives_where_that_is_known(bool isCounted, double later, string? id)
    {
        using var run = new ScriptedRun();
        double[] sent = [.. Enumerable.Range(0, 60).Select(second => second % 2 == 0 ? 2500.0 : 0)];
        run.Phase("unack", sent, ofResult: result => result with { Unacknowledged = new UnacknowledgedResult(75_000, 75_000, 0, 0.2) },
            noise: false);
        var random = new RandomStream(3);
        double total = 0;
        if (isCounted)
        {
            run.Server(0, 62, second =>
            {
                total += (second <= 30 ? 1250 : later) * (0.97 + (0.06 * random.NextDouble()));
                return [("cache_max", 1e9), ("documents_inserted", total)];
            });
        }

        Finding? found = run.Findings().FirstOrDefault(finding => finding.Id is FindingIds.Stall or FindingIds.RateDrop
            or FindingIds.RateDip or FindingIds.RateRise or FindingIds.SlowStart or FindingIds.SlowDrift);
        Assert.Equal(id, found?.Id);
        if (id == FindingIds.RateDrop)
            Assert.InRange(found!.Rate!.Ratio, 0.35, 0.45);
    }

    /// <summary>As flushes and compactions do: the rate is low while much is written.</summary>
    [Theory]
    [InlineData(8, "the server's writes to its files vary with the same period")]
    [InlineData(13, null)]
    public void What_the_server_writes_is_named_when_it_swings_as_often_as_the_rate(int every, string? cause)
    {
        using var run = new ScriptedRun();
        run.Phase("safe", [.. Enumerable.Range(0, 96).Select(i => 1000 * (1 + (0.3 * Math.Sin(2 * Math.PI * i / 8))))]);
        double written = 0;
        run.Server(0, 97, second =>
        [
            ("block_written", written += 40e6 * (1 - Math.Sin(2 * Math.PI * second / every))),
            ("tickets_read_available", 128),
            ("tickets_write_available", 128),
            ("cache_max", 1e9),
            ("connections_available", 1000),
        ]);
        Finding found = Assert.Single(run.Findings());
        Assert.Equal((FindingIds.Period, cause), (found.Id, found.Cause));
        Assert.Matches("every (8|8\\.0[0-9]|7\\.9[0-9]) s$", found.Text);
    }

    /// <summary>On rented machines the hypervisor takes and gives cores: a rate that follows them is not the server's doing.</summary>
    [Theory]
    [InlineData(800, 1.0, 0.1, "other programs and virtual machines used 1 of 8 cores (0.1 otherwise)")]
    [InlineData(1250, 0.1, 1.2, "other programs and virtual machines used 0.1 of 8 cores (1.2 otherwise)")]
    [InlineData(800, 0.1, 1.2, null)]
    public void Cores_that_others_took_are_named_with_a_rate_that_changed_for_a_while(
        double rate, double during, double otherwise, string? cause)
    {
        using var run = new ScriptedRun();
        run.Phase("q4", [.. Enumerable.Range(0, 120).Select(i => i is >= 50 and < 65 ? rate : 1000)]);
        double stolen = 0, used = 0;
        run.Host(0, 121, second =>
        {
            bool isDuring = second is > 50 and <= 65;
            used += 1000 * (isDuring ? rate : 1000);
            return [("cpu_steal", stolen += 1e6 * (isDuring ? during : otherwise)), ("cpu_user", used), ("client_cpu_user", used),
                ("cpu_idle", 4e6 * second)];
        });
        Finding found = Assert.Single(run.Findings(), finding => finding.Id is FindingIds.RateDip or FindingIds.RateRise);
        Assert.Equal((cause, true), (found.Cause, found.IsCoincidence));
    }

    [Fact]
    public void Verdicts_that_are_findings_are_listed_and_a_clean_run_has_none()
    {
        using (var clean = new ScriptedRun())
        {
            clean.Phase("q4", [.. Enumerable.Repeat(1000.0, 20)]);
            Assert.Empty(RunFindings.Of(clean.End()));
        }

        using var run = new ScriptedRun(RunParts.Deployment() with { IsEmbedded = true }, RunParts.Run() with { BuildKind = "Debug" });
        run.Store.AddErrors([new ErrorCount(11000, "DuplicateKey", 3, "E11000 duplicate key", ["batch"])]);
        run.Host(0, 60, second => [("cpu_user", 6e6 * second), ("cpu_idle", 2e6 * second), ("client_cpu_user", 1e6 * second)]);
        PlanSummary index = new()
        {
            Index = "Number_1", Stages = "LIMIT > FETCH > IXSCAN", Returned = 10, KeysExamined = 10, DocumentsExamined = 10,
        };
        PlanSummary scan = new() { Stages = "LIMIT > COLLSCAN", Returned = 10, DocumentsExamined = 5000 };
        for (int step = 1; step <= 2; step++)
        {
            PlanSummary plan = step == 1 ? index : scan;
            run.Phase(
                "q5",
                [.. Enumerable.Repeat(1000.0, 10)],
                phase => phase with { Growth = new GrowthPoint("series", plan == index ? 1 : 2, plan == index ? 100_000 : 200_000) },
                result => result with { Plan = plan, ClientCpuCores = 7.5 });
        }

        ErrorCount nothing = new(0, ErrorCount.NothingChanged, 5, "replace changed nothing: matched 0 of 1 documents", []);
        run.Phase("change", [.. Enumerable.Repeat(1000.0, 10)], ofResult: result => result with { Errors = [nothing] });
        run.Phase("unack", [.. Enumerable.Repeat(1000.0, 10)],
            ofResult: result => result with { Unacknowledged = new UnacknowledgedResult(1000, 990, 10, 0.5) });
        Assert.Equal(
            [
                FindingIds.ClientLimit, FindingIds.DebugBuild, FindingIds.EmbeddedServer, FindingIds.FailedOperations,
                FindingIds.LostWrites, FindingIds.OtherLoad, FindingIds.PlanChanged,
                FindingIds.PlanScans, FindingIds.WrongEffect,
            ],
            RunFindings.Of(run.End()).Where(finding => finding.IsVerdict).Select(finding => finding.Id).Order(StringComparer.Ordinal));
    }
}
