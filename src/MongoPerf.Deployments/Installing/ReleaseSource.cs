using System.Text.Json;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Deployments.Installing;

/// <summary>An archive to bring.</summary>
/// <param name="Url">Where it lies.</param>
/// <param name="Sha256">What it must have; null when it must be looked up beside the archive.</param>
public sealed record WantedArchive(Uri Url, string? Sha256);

/// <summary>Where archives come from: MongoDB's own servers, or a mirror of them.</summary>
/// <remarks>
/// A mirror holds what https://fastdl.mongodb.org holds, under the same paths (linux/mongodb-linux-….tgz and the same name with .sha256),
/// and, if it has them, current.json and full.json of https://downloads.mongodb.org. Without these only a full version number works.
/// </remarks>
/// <param name="http">Fetches.</param>
/// <param name="mirror">Null for MongoDB's own servers.</param>
public sealed class ReleaseSource(HttpFiles http, Uri? mirror)
{
    private const int NamesShown = 8;
    private static readonly Uri OfficialFeeds = new("https://downloads.mongodb.org/");
    private static readonly Uri OfficialArchives = new("https://fastdl.mongodb.org/");

    private readonly Uri? _mirror = mirror is null ? null : new Uri(mirror.AbsoluteUri.TrimEnd('/') + "/");

    private Uri Feeds => _mirror ?? OfficialFeeds;

    /// <summary>Finds the archive for a version, or the newest of a series, that runs on this system.</summary>
    /// <exception cref="DeploymentException">
    /// There is no such release, or none for this system; names what there is. Or the feed can't be read.
    /// </exception>
    public WantedArchive Find(string asked, SystemPlatform platform)
    {
        // Small, and enough for the newest of a series.
        IReadOnlyList<Release>? releases = ReadFeed("current.json");
        if (releases is null || ReleaseFeed.Find(releases, asked) is null)
            releases = ReadFeed("full.json") ?? releases;
        return releases is null ? FindByName(asked, platform) : FindInFeed(releases, asked, platform);
    }

    /// <summary>What the file of the same name with .sha256 says; null when there is none.</summary>
    /// <exception cref="DeploymentException">It can't be fetched, or is no checksum.</exception>
    public string? ReadChecksumBeside(Uri archive)
    {
        var file = new Uri(archive.AbsoluteUri + ".sha256");
        if (http.TryRead(file) is not { } bytes)
            return null;
        string text = System.Text.Encoding.UTF8.GetString(bytes);
        string first = text.Split([' ', '\t', '\r', '\n'], 2)[0];
        return Checksum.IsSha256(first) ? first : throw new DeploymentException(
            Fault.CannotConnect, $"{file} starts with '{ForeignText.OneLine(first, 40)}', not with a SHA-256\n"
                + "hint:  does the mirror carry MongoDB's archives? --sha256 gives the expected checksum");
    }

    private WantedArchive FindInFeed(IReadOnlyList<Release> releases, string asked, SystemPlatform platform)
    {
        if (ReleaseFeed.Find(releases, asked) is not { } release)
        {
            string near = string.Join(", ", ReleaseFeed.Near(releases, asked, NamesShown));
            throw DeploymentException.WrongUsage(
                $"no MongoDB {asked} at {Feeds}", near.Length > 0 ? $"available: {near}" : "the feed lists no release");
        }

        if (platform.Choose(release.Archives) is { } archive)
            return new WantedArchive(Rebased(archive.Url), archive.Sha256);
        string targets = string.Join(", ",
            release.Archives.Where(a => a.Target.Length > 0).Select(a => $"{a.Target} ({a.Architecture})").Distinct().Take(NamesShown * 3));
        throw DeploymentException.WrongUsage(
            $"MongoDB {release.Number} is not built for {platform.Name} on {platform.Architecture}",
            $"--platform NAME uses another system's archive, at your own risk; available: {targets}");
    }

    /// <summary>Finds an archive without a list, by the names that such archives have.</summary>
    private WantedArchive FindByName(string asked, SystemPlatform platform)
    {
        if (ReleaseNumber.Parse(asked) is not { } number)
            throw DeploymentException.WrongUsage($"{Feeds} has neither current.json nor full.json to look up the newest {asked}",
                "give a full version, such as 8.0.4");
        List<Uri> tried = [];
        foreach (string name in platform.LikelyArchives(number))
        {
            var url = new Uri(_mirror ?? OfficialArchives, "linux/" + name);
            if (http.Exists(url))
                return new WantedArchive(url, null);
            tried.Add(url);
        }

        throw DeploymentException.WrongUsage(
            $"no MongoDB {asked} for {platform.Name} on {platform.Architecture} at {Feeds}"
            + (tried.Count > 0 ? $": {string.Join(" and ", tried)} not found" : ""),
            "check the version; --platform NAME, such as debian12 or rhel93, uses another system's archive");
    }

    /// <returns>Null when there is no such file.</returns>
    private IReadOnlyList<Release>? ReadFeed(string name)
    {
        var url = new Uri(Feeds, name);
        try
        {
            return http.TryRead(url) is { } bytes ? ReleaseFeed.Parse(bytes) : null;
        }
        catch (JsonException e)
        {
            throw new DeploymentException(Fault.CannotConnect,
                $"{url} is not a list of releases: {e.Message}\nhint:  did a proxy or a login page answer instead?", e);
        }
    }

    private Uri Rebased(Uri official) => _mirror is null ? official : new Uri(_mirror, official.AbsolutePath.TrimStart('/'));
}
