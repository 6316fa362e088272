using System.Text;

namespace MongoPerf.Storage;

/// <summary>
/// Small files in which the system describes itself and its processes (/proc, /sys, /etc). One that can't be read is empty.
/// </summary>
public static class SystemFile
{
    public static byte[] Read(string path)
    {
        try
        {
            return File.ReadAllBytes(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }

    public static string ReadText(string path) => Encoding.UTF8.GetString(Read(path));
}
