using System.Globalization;
using MongoPerf.Reports;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Claims;

/// <summary>What every run claims (<see cref="Claim"/>), held against runs that the engine makes of drawn scenarios.</summary>
public sealed class ClaimTests : IDisposable
{
    private const int Runs = 120;
    private const int Shown = 20;

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    /// <summary>
    /// MONGOPERF_DRAWN_RUNS=5000 draws as many; =17..17 draws one seed alone, with its scenario and its last screen.
    /// </summary>
    [Fact]
    public void Every_drawn_run_is_what_it_is_shown_as()
    {
        int[] asked = [.. (Environment.GetEnvironmentVariable("MONGOPERF_DRAWN_RUNS") ?? $"{Runs}").Split("..")
            .Select(number => int.Parse(number, CultureInfo.InvariantCulture))];
        (int first, int last) = asked is [var from, var to] ? (from, to) : (1, asked[0]);
        List<string> broken = [];
        JsonSchema schema = JsonSchema.Read("result");
        for (int seed = first; seed <= last; seed++)
        {
            using StoredRun run = StoredRun.Open(DrawnRun.Build(seed, _runs.Path));
            var shown = new ShownRun(run) { IsBrief = seed % 3 > 0 };
            broken.AddRange(Claim.Check(shown).Concat(schema.Check(shown.JsonText)).Select(what => $"seed {seed}: {what}"));
            if (asked.Length == 2)
                broken.Add($"{DrawnRun.TextOf(seed)}\n{shown.Answer}");
        }

        Assert.True(broken.Count == 0,
            $"{broken.Count} broken claims in {last - first + 1} runs:\n{string.Join('\n', broken.Take(Shown))}");
    }

    [Fact]
    public void A_seed_draws_the_same_run_each_time()
    {
        int last = int.Parse(Environment.GetEnvironmentVariable("MONGOPERF_DRAWN_TWICE") ?? "5", CultureInfo.InvariantCulture);
        for (int seed = 1; seed <= last; seed++)
        {
            string[] twice = [.. ((string[])["a", "b"]).Select(name =>
            {
                using StoredRun run = StoredRun.Open(DrawnRun.Build(seed, _runs.At(name)));
                using var text = new StringWriter();
                JsonReport.Write(run, text);
                return text.ToString();
            })];
            Assert.Equal(twice[0], twice[1]);
        }
    }
}
