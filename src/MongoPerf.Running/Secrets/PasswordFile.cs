using System.Text;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Files;

namespace MongoPerf.Running.Secrets;

/// <summary>A password that nobody should type into a command line: the first line of a file.</summary>
public static class PasswordFile
{
    public const string Option = "--password-file";

    private const int MostBytes = 64 * 1024;

    /// <summary>Warns when others can read the file.</summary>
    /// <param name="file">Its path.</param>
    /// <param name="what">Who names it, for messages.</param>
    /// <exception cref="UserException">It can't be read, or its first line is empty.</exception>
    public static string Read(string file, string what = Option)
    {
        try
        {
            if (!OperatingSystem.IsWindows() && File.GetUnixFileMode(file) is var mode
                && (mode & (UnixFileMode.GroupRead | UnixFileMode.OtherRead)) != 0)
                Console.Error.WriteLine($"warning: {what}: other users can read {file}; chmod 600 prevents that");
            using Stream stream = NamedFile.Open(file);
            byte[] bytes = new byte[MostBytes];
            int count = stream.ReadAtLeast(bytes, bytes.Length, throwOnEndOfStream: false);
            string line = new UTF8Encoding(false, throwOnInvalidBytes: true).GetString(bytes, 0, count).Split('\n')[0].TrimEnd('\r');
            return line.Length > 0 ? line
                : throw new UserException(ExitCode.WrongUsage, $"{what}: the first line of '{file}' is empty; it must hold the password");
        }
        catch (TimeoutException e)
        {
            throw new UserException(ExitCode.WrongUsage, $"{what}: {e.Message}");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            string why = File.Exists(file)
                ? e is ArgumentException ? "its first line is not valid UTF-8" : "does this user have permission to read it?"
                : "there is no such file";
            throw new UserException(ExitCode.WrongUsage, $"{what}: '{file}' can't be read: {why}");
        }
    }
}
