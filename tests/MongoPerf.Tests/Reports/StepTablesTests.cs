using MongoPerf.Reports;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Findings;
using MongoPerf.Reports.Phases;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Findings;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>What reports say of operations that are made of steps, and of their transactions.</summary>
public sealed class StepTablesTests
{
    private static readonly LatencySummary Latency = new() { Mean = 500, P50 = 400, P95 = 900, P99 = 1200, Max = 3000 };

    [Fact]
    public void Each_step_has_a_row_and_transactions_a_table_of_their_own()
    {
        using ScriptedRun scripted = Run(new TransactionResult(1000, 3, 2, 1, 1, 0.02) { RolledBack = 12 });
        ReportTable[] tables = [.. StepTables.Of(scripted.End())];
        Assert.Equal(["Steps: each from its command to its reply", "Transactions"], tables.Select(table => table.Title));
        Assert.Equal(
            ["transfer", "transfer", "debit", "1,500", "1.5", "2", "500 µs", "400 µs", "900 µs", "1.2 ms", "3 ms"], tables[0].Rows[0]);
        Assert.Equal("commit", tables[0].Rows[1][2]);
        Assert.Equal(["transfer", "transfer", "1,000", "100", "12", "3", "2", "1", "1", "0.2 %"], tables[1].Rows[0]);
    }

    [Fact]
    public void A_transaction_of_which_nobody_knows_is_a_verdict()
    {
        using ScriptedRun scripted = Run(new TransactionResult(1000, 3, 2, 1, 1, 0.02));
        Verdict only = Assert.Single(StepTables.Verdicts(scripted.End()));
        Assert.StartsWith(
            "transfer: the outcome of 1 transaction is unknown: the connection broke during the commit", only.Text,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(10, 0.1, false)]
    [InlineData(60, 0.1, true)]
    [InlineData(10, 0.6, true)]
    public void Retries_are_a_finding_where_they_are_many_or_take_long(long retried, double seconds, bool isFinding)
    {
        using ScriptedRun scripted = Run(new TransactionResult(1000, retried, retried, 0, 0, seconds));
        Assert.Equal(isFinding, RunFindings.Of(scripted.End()).Any(finding => finding.Id == FindingIds.Retries));
    }

    [Fact]
    public void What_was_run_again_is_told_by_its_shares()
    {
        using ScriptedRun scripted = Run(new TransactionResult(900, 100, 100, 0, 0, 1.2));
        StoredRun run = scripted.End();
        Assert.Equal(
            "transfer: 100 of 1,000 attempts were retried after write conflicts or other transient errors (10 %; 900 transactions "
                + "committed); retries took 12 % of its threads' time",
            Assert.Single(StepTables.Verdicts(run)).Text);
        using var screen = new StringWriter();
        ConsoleReport.Write(RunReport.Of(run), screen, new ConsoleReportOptions { Width = 100 });
        Assert.Matches(@"operation +rate +p50 +p99 +max +retried +change", screen.ToString());
    }

    /// <summary>Attempts that were aborted for good are attempts too, and an attempt may take longer than what is measured.</summary>
    [Fact]
    public void Shares_of_retries_have_all_attempts_and_all_of_their_time_for_their_whole()
    {
        using ScriptedRun scripted = Run(new TransactionResult(0, 135, 18, 0, 0, 20.3) { Seconds = 29 });
        Assert.Equal("transfer: 18 of 135 attempts were retried after write conflicts or other transient errors (13.3 %; 0 transactions "
            + "committed); retries took 70 % of its transactions' time", Assert.Single(StepTables.Verdicts(scripted.End())).Text);
        using ScriptedRun old = Run(new TransactionResult(0, 135, 18, 0, 0, 20.3));
        Assert.EndsWith("retries took 100 % of its threads' time", Assert.Single(StepTables.Verdicts(old.End())).Text,
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_comparison_has_both_sides_retries()
    {
        using ScriptedRun one = Run(new TransactionResult(900, 100, 100, 0, 0, 1.2));
        using ScriptedRun other = Run(new TransactionResult(1000, 0, 0, 0, 0, 0));
        RunComparison comparison = RunComparer.Compare(
            [new ComparedSide([one.End()]), new ComparedSide([other.End()])], [], RunComparer.DefaultNoiseThreshold);
        ApprovedReports.Check(ComparisonReport.Of(comparison));
        ReportTable table = Assert.Single(
            ComparisonTables.Of(comparison), table => table.Title.StartsWith("Transactions", StringComparison.Ordinal));
        Assert.Equal(["transfer", "100", "0", "10 %", "0 %", "12 %", "0 %"], Assert.Single(table.Rows));
        using var json = new StringWriter();
        ComparisonJson.Write(comparison, json);
        Assert.Empty(JsonSchema.Read("comparison").Check(json.ToString()));
        Assert.Contains("\"retriedShare\": 0.1", json.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Samples_of_steps_are_read_where_they_are_asked_for_and_nowhere_else()
    {
        using ScriptedRun scripted = Run(new TransactionResult(1000, 0, 0, 0, 0, 0));
        scripted.Store.AddSample(RunParts.Sample(3, StepResult.KeyOf("transfer", "debit")));
        StoredRun run = scripted.End();
        Assert.DoesNotContain(run.ReadSamples(), sample => StepResult.IsKey(sample.Operation));
        using var output = new StringWriter();
        CsvReport.WriteSteps(run, output);
        Assert.Contains(",transfer,debit,", output.ToString(), StringComparison.Ordinal);
    }

    /// <summary>Ten seconds of one thread.</summary>
    private static ScriptedRun Run(TransactionResult transactions)
    {
        var run = new ScriptedRun();
        run.Phase("transfer", [.. Enumerable.Repeat(100.0, 10)], ofResult: result => result with
        {
            Threads = 1, Operations = 1000, Seconds = 10, Transactions = transactions,
            Steps = [new StepResult("debit", 1500, 2, Latency), new StepResult("commit", 1000, 0, Latency)],
        });
        return run;
    }
}
