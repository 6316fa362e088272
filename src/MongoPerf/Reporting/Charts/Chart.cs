namespace MongoPerf.Reporting.Charts;

/// <summary>One picture: its data and what its template is told.</summary>
/// <param name="Name">Of the template and of all its files: NAME.gp, NAME.settings.gp, NAME.png.</param>
/// <param name="Title">As the picture has it.</param>
/// <param name="HowToRead">A sentence for the report.</param>
/// <param name="Settings">Loaded by the template.</param>
/// <param name="Tables">Its data files.</param>
internal sealed record Chart(string Name, string Title, string HowToRead, GnuplotSettings Settings, IReadOnlyList<ChartTable> Tables);
