using System.Globalization;
using MongoPerf.Learning.Comparing;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary>Prints how far a scenario is from a deployment.</summary>
internal static class DeviationTable
{
    /// <summary>Of more figures those that agree are only counted.</summary>
    private const int MostShown = 40;

    /// <summary>What deviates too much first, so that it is seen.</summary>
    public static void Write(IReadOnlyList<Deviation> all, TextWriter output)
    {
        (string Subject, string What, string There, string Here, string Share, string Verdict)[] rows =
        [
            ("", "", "deployment", "scenario", "deviation", ""),
            .. all.Where(one => all.Count <= MostShown || !one.IsWithin).OrderBy(one => one.IsWithin).Select(one =>
                (Masking.Shown(one.Subject), Masking.Shown(one.What), Text(one.Deployment), Text(one.Scenario), Text(one),
                    one.Limit is not { } limit ? "not judged" : one.IsByChance ? "by chance"
                    : one.IsWithin ? "" : string.Create(CultureInfo.InvariantCulture, $"over {limit + one.Chance:0 %}"))),
        ];
        int subject = rows.Max(row => row.Subject.Length);
        int what = rows.Max(row => row.What.Length);
        foreach ((string of, string figure, string there, string here, string share, string verdict) in rows)
            output.WriteLine($"{of.PadRight(subject)}  {figure.PadRight(what)}  {there,12}  {here,12}  {share,9}  {verdict}".TrimEnd());
        int wrong = all.Count(one => !one.IsWithin);
        int chance = all.Count(one => one.IsByChance);
        int judged = all.Count(one => one.Limit is not null) - chance;
        output.WriteLine((wrong == 0 ? $"all {judged:N0} judged figures are close enough"
            : $"{wrong:N0} of {judged:N0} judged figures deviate too much")
            + (chance > 0 ? $"; {chance:N0} more differ by no more than chance explains" : ""));
    }

    private static string Text(double? value) => value is not { } number ? "-"
        : number.ToString(number >= 1000 || number == Math.Floor(number) ? "N0" : "0.##", CultureInfo.InvariantCulture);

    private static string Text(Deviation one) => one.Share is not { } share ? one.Deployment is null ? "new" : "missing"
        : double.IsInfinity(share) ? "new" : share.ToString("+0.0 %;-0.0 %;0 %", CultureInfo.InvariantCulture);
}
