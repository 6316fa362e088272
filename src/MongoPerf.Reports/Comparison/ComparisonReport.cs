namespace MongoPerf.Reports.Comparison;

/// <summary>What is reported of a comparison, and in which order.</summary>
public static class ComparisonReport
{
    /// <param name="comparison">What came of comparing the runs.</param>
    /// <param name="files">What was written, as its reader finds it.</param>
    /// <param name="typed">The runs, as commands take them; null for their ids.</param>
    public static Report Of(RunComparison comparison, IReadOnlyList<Fact>? files = null, string? typed = null)
    {
        IReadOnlyList<string> names = ComparisonTitle.Names(comparison);
        (CandidateComparison Comparison, string Name)[] candidates = [.. comparison.Candidates.Zip(names.Skip(1))];
        return new Report(
            Words.Of($"MongoPerf: {ComparisonTitle.Of(comparison)}"),
            [
                new Block.Paragraph(string.Join("; ", comparison.Sides.Zip(names)
                    .Where(one => one.Second != one.First.Id).Select(one => Words.Of(
                        $"{one.Second}: run {one.First.Name.Replace($" ({one.Second})", "", StringComparison.Ordinal)}"))), Tone.Soft)
                {
                    In = Media.Documents,
                },
            ],
            [
                new Section("Notes", [new Block.Cautions(comparison.Notes)]),
                new Section("Findings", [new Block.Findings(ComparisonAnswer.FindingsOf(comparison))]),
                .. candidates.SelectMany(one => Decision(one.Name, SingleOrSharded.Find(comparison, one.Comparison), candidates.Length)),
                .. candidates.Select(one => new Section(
                    $"{one.Name}: {ComparisonText.Overall(one.Comparison)}",
                    [
                        new Block.Facts([new Fact("compared", Words.Of(
                            $"{one.Comparison.Candidate.Name} against {comparison.Baseline.Name}: "
                                + $"{ComparisonText.Overall(one.Comparison)}"))]) { In = Media.Console },
                        new Block.Verdicts(ComparisonText.Verdicts(comparison, one.Comparison)),
                    ])),
                new Section("Explore", [new Block.Explore()]),
                new Section("What was compared", [new Block.Facts([.. Setup(comparison)])]),
                new Section("Charts", [new Block.Charts()]),
                new Section("Tables", [.. ComparisonTables.Of(comparison).Select(table => new Block.Table(table))]),
                new Section("Files", [new Block.Facts(files ?? [])]),
            ])
        {
            Answer = ComparisonAnswer.Of(
                comparison, names, files ?? [], typed ?? string.Join(' ', comparison.Sides.Select(side => side.Id))),
        }.Marked(comparison.Runs);
    }

    private static IEnumerable<Section> Decision(string name, SingleOrSharded? decision, int candidates)
    {
        if (decision is null)
            yield break;
        string title = decision.IsUndecided ? "Undecided" : "Decided";
        yield return new Section(
            candidates == 1 ? title : $"{Words.Of(title)}: {name}",
            [new Block.Paragraph(decision.Setting), new Block.Table(decision.Table), new Block.Paragraph(decision.Reservations)]);
    }

    /// <summary>How much the repeats of one run differ.</summary>
    public static Report Of(RepeatSpread spread) => new Report(
        Words.Of($"MongoPerf: repeats of {spread.Side.Id}"),
        [new Block.Facts([new Fact("repeats", spread.Side.Title)]), new Block.Cautions([.. spread.SlowStarts])],
        [Section.Of(ComparisonTables.Spread(spread))]).Marked(spread.Side.Stored);

    private static IEnumerable<Fact> Setup(RunComparison comparison) =>
    [
        new("baseline", comparison.Baseline.Title),
        .. comparison.Candidates.Select(candidate => new Fact("candidate", candidate.Candidate.Title)),
        .. comparison.Differences.Select(difference => difference.IsUnlike
            ? new Fact("UNLIKE", difference.ToString()) { Grade = Grade.Bad }
            : new Fact("differs", difference.ToString())),
        .. comparison.Candidates.SelectMany(ComparisonText.Bases).Distinct().Select(basis => new Fact("evidence", basis)),
        .. comparison.Candidates.Any(candidate => candidate.Operations.Count > 0)
            ? [new Fact("method", ComparisonText.Method(comparison))]
            : Array.Empty<Fact>(),
    ];
}
