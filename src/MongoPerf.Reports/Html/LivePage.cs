namespace MongoPerf.Reports.Html;

/// <summary>The page of a run that is under way: the Explore section without data, which come as events.</summary>
/// <param name="Html">The whole of it.</param>
/// <param name="Policy">Its Content Security Policy, for the head of the answer too.</param>
public sealed record LivePage(string Html, string Policy)
{
    /// <param name="run">Its id.</param>
    public static LivePage Of(string run)
    {
        HtmlExplore explore = HtmlExplore.Live;
        HtmlWriter html = HtmlPage.Begin(Words.Of($"MongoPerf live: {run}"), explore.Css, explore.Scripts, connects: true);
        html.Element("h1", Words.Of($"MongoPerf live: {run}"), "id", "live-title").Element("p", "", "class", "soft", "id", "live-on");
        html.Element("p", Words.Of("Connecting…"), "id", "live-status", "role", "status");
        html.Section("Explore");
        explore.Show(html);
        explore.Data(html);
        html.Close().Close();
        return new LivePage(html.ToString(), HtmlPage.Policy(explore.Scripts, connects: true));
    }
}
