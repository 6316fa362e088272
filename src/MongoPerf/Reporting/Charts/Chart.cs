namespace MongoPerf.Reporting.Charts;

/// <summary>One picture: its data and what its template is told.</summary>
/// <param name="Name">Of all its files: NAME.gp, NAME.settings.gp, NAME.png.</param>
/// <param name="Title">As the picture has it.</param>
/// <param name="HowToRead">A sentence for the report.</param>
/// <param name="Settings">Loaded by the template.</param>
/// <param name="Tables">Its data files.</param>
internal sealed record Chart(string Name, string Title, string HowToRead, GnuplotSettings Settings, IReadOnlyList<ChartTable> Tables)
{
    /// <summary>The template of all charts of its kind, which a NAME.gp of two lines loads behind the settings.</summary>
    public required string SharedTemplate { get; init; }
}

/// <summary>Charts that are drawn into one folder.</summary>
/// <param name="Charts">In the order of the report.</param>
/// <param name="SharedTemplates">Templates that theirs load.</param>
/// <param name="PictureNames">Pictures of an earlier report that may be there, as file patterns without their ending.</param>
/// <param name="Command">Draws them again.</param>
internal sealed record ChartSet(IReadOnlyList<Chart> Charts, IReadOnlyList<string> SharedTemplates, IReadOnlyList<string> PictureNames, string Command);
