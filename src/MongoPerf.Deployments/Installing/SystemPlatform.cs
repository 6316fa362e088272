using System.Globalization;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;

namespace MongoPerf.Deployments.Installing;

/// <summary>
/// What MongoDB's archives call a system: a family and its version, written together (debian12, ubuntu2204, rhel93, amazon2023, suse15).
/// </summary>
/// <param name="Family">debian, ubuntu, rhel, amazon or suse.</param>
/// <param name="Major">12 of Debian 12, 22 of Ubuntu 22.04.</param>
/// <param name="Minor">4 of Ubuntu 22.04; 0 where the name has none.</param>
public readonly partial record struct SystemTarget(string Family, int Major, int Minor)
{
    public override string ToString() => Family switch
    {
        "ubuntu" => $"{Family}{Major:00}{Minor:00}",
        "rhel" => $"{Family}{Major}{Minor}",
        _ => $"{Family}{Major}",
    };

    /// <returns>Null for a name of another form, such as macos.</returns>
    public static SystemTarget? Parse(string name)
    {
        if (Form().Match(name) is not { Success: true } match)
            return null;
        string family = match.Groups[1].Value;
        string digits = match.Groups[2].Value;
        // debian71, 81 and 92 are of the time before Debian 10.
        int majorDigits = family switch
        {
            "ubuntu" => 2,
            "rhel" => digits.StartsWith('1') ? 2 : 1,
            "debian" => digits[0] >= '7' ? 1 : 2,
            _ => digits.Length,
        };
        majorDigits = Math.Min(majorDigits, digits.Length);
        string minor = digits[majorDigits..];
        return new SystemTarget(family, Number(digits[..majorDigits]), minor.Length > 0 ? Number(minor) : 0);
    }

    private static int Number(string digits) => int.Parse(digits, CultureInfo.InvariantCulture);

    [GeneratedRegex(@"^(debian|ubuntu|rhel|amazon|suse)(\d{1,4})$")]
    private static partial Regex Form();
}

/// <summary>This machine as MongoDB's archives know it.</summary>
/// <param name="Architecture">x86_64 or aarch64; others as .NET calls them.</param>
/// <param name="Target">Null for a system that MongoDB builds nothing for.</param>
/// <param name="Name">The name for people, such as "Debian GNU/Linux 12 (bookworm)".</param>
public sealed record SystemPlatform(string Architecture, SystemTarget? Target, string Name)
{
    /// <summary>Later than any: the newest archive of the family is taken.</summary>
    private const int Newest = 9999;

    private static readonly Dictionary<string, string> UbuntuNames = new(StringComparer.Ordinal)
    {
        ["bionic"] = "18.04", ["focal"] = "20.04", ["jammy"] = "22.04", ["noble"] = "24.04",
    };

    /// <summary>Where MongoDB builds nothing for a Debian (on ARM), Ubuntu's of the same time has the libraries that fit.</summary>
    private static readonly Dictionary<int, SystemTarget> UbuntuOfDebian = new()
    {
        [10] = new("ubuntu", 18, 4), [11] = new("ubuntu", 20, 4), [12] = new("ubuntu", 22, 4), [13] = new("ubuntu", 24, 4),
    };

    /// <summary>The system that /etc/os-release names.</summary>
    public static SystemPlatform Current => Read(
        File.Exists("/etc/os-release") ? File.ReadAllText("/etc/os-release") : "", RuntimeInformation.OSArchitecture);

    /// <param name="osRelease">The text of /etc/os-release: NAME=value lines, values perhaps in quotes.</param>
    /// <param name="architecture">The architecture of the machine.</param>
    public static SystemPlatform Read(string osRelease, Architecture architecture)
    {
        Dictionary<string, string> facts = osRelease.Split('\n')
            .Select(line => line.Split('=', 2))
            .Where(pair => pair.Length == 2)
            .GroupBy(pair => pair[0].Trim())
            .ToDictionary(group => group.Key, group => group.Last()[1].Trim().Trim('"', '\''));
        string machine = architecture switch
        {
            System.Runtime.InteropServices.Architecture.X64 => "x86_64",
            System.Runtime.InteropServices.Architecture.Arm64 => "aarch64",
            _ => architecture.ToString().ToLowerInvariant(),
        };
        return new SystemPlatform(machine, TargetOf(facts), facts.GetValueOrDefault("PRETTY_NAME", "this system"));
    }

    /// <summary>The same machine as another system: what <c>--platform</c> names.</summary>
    /// <returns>Null when it is no name of a system.</returns>
    public SystemPlatform? As(string target) =>
        SystemTarget.Parse(target) is { } named ? this with { Target = named, Name = target } : null;

    /// <summary>
    /// Chooses the archive that runs here best: one of the same system, else of the nearest older one, else of the nearest newer one.
    /// </summary>
    /// <returns>Null when none may run here.</returns>
    public ReleaseArchive? Choose(IEnumerable<ReleaseArchive> archives)
    {
        List<ReleaseArchive> here = [.. archives.Where(archive => ArchitectureOf(archive) == Architecture)];
        foreach (SystemTarget wanted in Wanted())
        {
            if (Nearest(here, wanted) is { } archive)
                return archive;
        }

        // Up to 4.0 there was one for all systems.
        return here.Find(archive => archive.Target.StartsWith("linux", StringComparison.Ordinal));
    }

    /// <summary>What archives for this machine are called when no list of them is at hand; the likeliest first.</summary>
    public IEnumerable<string> LikelyArchives(ReleaseNumber number) =>
        Wanted().Where(target => target.Major != Newest).Select(target => $"mongodb-linux-{Architecture}-{target}-{number}.tgz");

    /// <summary>The feed says arm64 as well as aarch64.</summary>
    private static string ArchitectureOf(ReleaseArchive archive) => archive.Architecture == "arm64" ? "aarch64" : archive.Architecture;

    private IEnumerable<SystemTarget> Wanted()
    {
        if (Target is not { } target)
            yield break;
        yield return target;
        if (target.Family == "debian" && UbuntuOfDebian.TryGetValue(target.Major, out SystemTarget ubuntu))
            yield return ubuntu;
    }

    private static ReleaseArchive? Nearest(IEnumerable<ReleaseArchive> archives, SystemTarget wanted)
    {
        var sameFamily = archives.Select(archive => (Archive: archive, Target: SystemTarget.Parse(archive.Target)))
            .Where(one => one.Target?.Family == wanted.Family)
            .Select(one => (one.Archive, Version: (one.Target!.Value.Major, one.Target.Value.Minor)))
            .OrderBy(one => one.Version).ToList();
        (int, int) here = (wanted.Major, wanted.Minor);
        int older = sameFamily.FindLastIndex(one => one.Version.CompareTo(here) <= 0);
        // An archive for RHEL 9.3 suits 9.1 better than one for 8.8.
        int sameMajor = sameFamily.FindIndex(one => one.Version.Major == wanted.Major);
        int best = older >= 0 && sameFamily[older].Version.Major == wanted.Major ? older
            : sameMajor >= 0 ? sameMajor : older >= 0 ? older : 0;
        return sameFamily.Count > 0 ? sameFamily[best].Archive : null;
    }

    private static SystemTarget? TargetOf(Dictionary<string, string> facts)
    {
        string version = facts.GetValueOrDefault("VERSION_ID", "");
        string id = facts.GetValueOrDefault("ID", "");
        if (FamilyOf(id) is { } family)
            return Of(family, version);
        if (facts.TryGetValue("UBUNTU_CODENAME", out string? name) && UbuntuNames.TryGetValue(name, out string? ubuntu))
            return Of("ubuntu", ubuntu);
        // A relative's version numbers are its own: the newest of the family is the best guess.
        string? like = facts.GetValueOrDefault("ID_LIKE", id).Split(' ')
            .Append(id == "fedora" ? "rhel" : "").Select(FamilyOf).FirstOrDefault(f => f is not null);
        return like is null ? null : new SystemTarget(like, Newest, 0);
    }

    private static string? FamilyOf(string id) => id switch
    {
        "debian" or "ubuntu" => id,
        "rhel" or "centos" or "rocky" or "almalinux" or "ol" => "rhel",
        "amzn" => "amazon",
        "sles" or "suse" or "opensuse-leap" => "suse",
        _ => null,
    };

    private static SystemTarget Of(string family, string version)
    {
        string[] parts = version.Split('.');
        int major = int.TryParse(parts[0], CultureInfo.InvariantCulture, out int number) ? number : Newest;
        int minor = parts.Length > 1 && family is "ubuntu" or "rhel"
            && int.TryParse(parts[^1], CultureInfo.InvariantCulture, out int second) ? second : 0;
        return new SystemTarget(family, major, minor);
    }
}
