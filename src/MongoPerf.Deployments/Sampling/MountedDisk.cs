using System.Text;
using MongoPerf.Platforms;
using MongoPerf.Storage;

namespace MongoPerf.Deployments.Sampling;

/// <summary>The file system under a folder.</summary>
/// <param name="MountPoint">Where it is mounted.</param>
/// <param name="FileSystem">The file system, such as "ext4".</param>
/// <param name="Source">The source, such as "/dev/vda1"; "overlay" and the like where no device is behind it.</param>
/// <param name="Major">The major number of the block device; 0 where no device is behind it.</param>
/// <param name="Minor">The minor number of the block device.</param>
public sealed record MountedDisk(string MountPoint, string FileSystem, string Source, int Major, int Minor)
{
    /// <summary>
    /// Finds it in /proc/self/mountinfo (proc(5)): the longest mount point that the folder lies in; of equals the last,
    /// which hides the others.
    /// </summary>
    /// <returns>Null when the table is not there or names none.</returns>
    public static MountedDisk? Find(string folder, string procRoot = "/proc")
    {
        string full = Path.GetFullPath(folder);
        return SystemFile.ReadText(Path.Combine(procRoot, "self", "mountinfo")).Split('\n').Select(Parse).OfType<MountedDisk>()
            .Where(mount => Contains(mount.MountPoint, full)).OrderBy(mount => mount.MountPoint.Length).LastOrDefault();
    }

    // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw: number, parent, major:minor, root, mount point, options, any number
    // of optional fields, "-", type, source.
    private static MountedDisk? Parse(string line)
    {
        string[] words = line.Split(' ');
        int dash = Array.IndexOf(words, "-");
        if (words.Length < 7 || dash < 0 || dash + 2 >= words.Length)
            return null;
        string[] device = words[2].Split(':');
        if (device.Length != 2 || !int.TryParse(device[0], out int major) || !int.TryParse(device[1], out int minor))
            return null;
        return new MountedDisk(Unescape(words[4]), words[dash + 1], Unescape(words[dash + 2]), major, minor);
    }

    private static bool Contains(string mountPoint, string path) =>
        mountPoint == "/" || path == mountPoint || path.StartsWith(mountPoint + "/", StringComparison.Ordinal);

    // Blank, tab, line end and backslash stand as octal numbers: \040.
    private static string Unescape(string text)
    {
        if (!text.Contains('\\', StringComparison.Ordinal))
            return text;
        var plain = new StringBuilder(text.Length);
        for (int i = 0; i < text.Length; i++)
        {
            if (text[i] == '\\' && i + 3 < text.Length && text.AsSpan(i + 1, 3).IndexOfAnyExceptInRange('0', '7') < 0)
            {
                plain.Append((char)Convert.ToInt32(text.Substring(i + 1, 3), 8));
                i += 3;
            }
            else
            {
                plain.Append(text[i]);
            }
        }

        return plain.ToString();
    }
}
