namespace MongoPerf.Reporting.Charts;

/// <summary>One picture: its data and what its template is told.</summary>
/// <param name="Name">Of all its files: NAME.gp, NAME.settings.gp, NAME.png.</param>
/// <param name="Title">As the picture has it.</param>
/// <param name="HowToRead">A sentence for the report.</param>
/// <param name="Settings">Loaded by the template.</param>
/// <param name="Tables">Its data files.</param>
internal sealed record Chart(string Name, string Title, string HowToRead, GnuplotSettings Settings, IReadOnlyList<ChartTable> Tables)
{
    /// <summary>The template that its script is made from; several charts of a run may have the same.</summary>
    public string Template { get; init; } = Name + ".gp";
}
