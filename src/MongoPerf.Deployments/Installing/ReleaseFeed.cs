using System.Text.Json;

namespace MongoPerf.Deployments.Installing;

/// <summary>An archive of one release.</summary>
/// <param name="Target">System that it is for, such as debian12.</param>
/// <param name="Architecture">x86_64, aarch64, …</param>
/// <param name="Url">Where MongoDB publishes it.</param>
/// <param name="Sha256">64 hexadecimal digits; null when the feed does not say.</param>
public sealed record ReleaseArchive(string Target, string Architecture, Uri Url, string? Sha256);

/// <param name="Number">Which release.</param>
/// <param name="IsForUse">False for candidates and development releases, which only their whole number finds.</param>
/// <param name="Archives">The archives of the community edition, packed as .tgz.</param>
internal sealed record Release(ReleaseNumber Number, bool IsForUse, IReadOnlyList<ReleaseArchive> Archives);

/// <summary>MongoDB's list of releases: current.json has the newest of each series, full.json all.</summary>
/// <remarks>Form: {"versions": [{"version", "release_candidate", "development_release", "downloads": [{"target", "arch", "edition",
/// "archive": {"url", "sha256"}}]}]}. What is not in this form is left out, so that one odd entry does not hide the others.</remarks>
internal static class ReleaseFeed
{
    /// <summary>"targeted" is built for one system, "base" for any; both are the community's.</summary>
    private static readonly string[] Editions = ["targeted", "base"];

    /// <exception cref="JsonException">Not JSON, or no object with "versions".</exception>
    public static IReadOnlyList<Release> Parse(ReadOnlyMemory<byte> json)
    {
        using JsonDocument document = JsonDocument.Parse(json);
        if (document.RootElement.ValueKind != JsonValueKind.Object
            || !document.RootElement.TryGetProperty("versions", out JsonElement versions)
            || versions.ValueKind != JsonValueKind.Array)
            throw new JsonException("it has no array 'versions'");
        return [.. versions.EnumerateArray().Select(ReadRelease).OfType<Release>()];
    }

    /// <summary>The newest release that matches; null when there is none.</summary>
    /// <param name="releases">The releases in a feed.</param>
    /// <param name="asked">8, 8.0, 8.0.4 or 8.0.0-rc3.</param>
    public static Release? Find(IEnumerable<Release> releases, string asked) => releases
        .Where(release => release.Number.IsOf(asked) && (release.IsForUse || asked == release.Number.ToString()))
        .MaxBy(release => release.Number);

    /// <summary>Those that somebody may have meant: of the same series, else the newest of each series. The newest first.</summary>
    public static IReadOnlyList<ReleaseNumber> Near(IEnumerable<Release> releases, string asked, int most)
    {
        List<ReleaseNumber> numbers = [.. releases.Where(r => r.IsForUse).Select(r => r.Number).OrderDescending()];
        string[] parts = asked.Split('.');
        List<ReleaseNumber> same = numbers.FindAll(n => parts.Length > 1 && n.IsOf($"{parts[0]}.{parts[1]}"));
        IEnumerable<ReleaseNumber> near = same.Count > 0 ? same : numbers.DistinctBy(n => (n.Major, n.Minor));
        return [.. near.Take(most)];
    }

    private static Release? ReadRelease(JsonElement entry)
    {
        if (entry.ValueKind != JsonValueKind.Object || Text(entry, "version") is not { } version
            || ReleaseNumber.Parse(version) is not { } number
            || !entry.TryGetProperty("downloads", out JsonElement downloads) || downloads.ValueKind != JsonValueKind.Array)
            return null;
        bool isForUse = number.Suffix.Length == 0 && !IsTrue(entry, "release_candidate") && !IsTrue(entry, "development_release");
        return new Release(number, isForUse, [.. downloads.EnumerateArray().Select(ReadArchive).OfType<ReleaseArchive>()]);
    }

    private static ReleaseArchive? ReadArchive(JsonElement entry)
    {
        if (entry.ValueKind != JsonValueKind.Object || !Editions.Contains(Text(entry, "edition"))
            || !entry.TryGetProperty("archive", out JsonElement archive) || archive.ValueKind != JsonValueKind.Object)
            return null;
        return Text(entry, "target") is { } target && Text(entry, "arch") is { } architecture && Text(archive, "url") is { } url
            && url.EndsWith(".tgz", StringComparison.Ordinal) && Uri.TryCreate(url, UriKind.Absolute, out Uri? address)
            ? new ReleaseArchive(target, architecture, address, Text(archive, "sha256"))
            : null;
    }

    private static string? Text(JsonElement entry, string name) =>
        entry.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.String ? value.GetString() : null;

    private static bool IsTrue(JsonElement entry, string name) =>
        entry.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.True;
}
