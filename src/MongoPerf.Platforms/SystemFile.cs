using System.Text;

namespace MongoPerf.Platforms;

/// <summary>
/// Small files in which Linux describes itself and its processes (/proc, /sys, /etc). One that can't be read is empty; on other systems
/// all are.
/// </summary>
public static class SystemFile
{
    public static byte[] Read(string path)
    {
        try
        {
            return Platform.IsLinux ? File.ReadAllBytes(path) : [];
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }

    public static string ReadText(string path) => Encoding.UTF8.GetString(Read(path));
}
