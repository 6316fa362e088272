using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using System.Text;

namespace MongoPerf.Platforms;

/// <summary>Asks at the terminal, without showing what is typed.</summary>
public static partial class SecretPrompt
{
    private const string Device = "/dev/tty";
    private const int ApplyNow = 0;

    // The local modes of Linux' struct termios, behind those of input, output and control; the flag that shows what is typed.
    // Source: termbits.h.
    private const int LocalModes = 3 * sizeof(int);
    private const byte Echo = 8;
    private const int TermiosBytes = 256;

    /// <param name="question">The question with a space at its end.</param>
    /// <returns>What was typed; null when this process has no terminal.</returns>
    public static string? Ask(string question) => Platform.IsLinux ? AskTerminal(question) : AskConsole(question);

    [SupportedOSPlatform("linux")]
    private static string? AskTerminal(string question)
    {
        if (!TryOpen(out FileStream? terminal))
            return null;
        using (terminal)
        {
            using var output = new StreamWriter(terminal, leaveOpen: true) { AutoFlush = true };
            using var input = new StreamReader(terminal, leaveOpen: true);
            int handle = (int)terminal.SafeFileHandle.DangerousGetHandle();
            byte[] before = new byte[TermiosBytes];
            if (GetModes(handle, before) != 0)
                return null;
            byte[] silent = [.. before];
            silent[LocalModes] &= unchecked((byte)~Echo);
            // Ctrl+C ends the program, and must not leave a terminal behind that shows nothing.
            using (PosixSignalRegistration.Create(PosixSignal.SIGINT, _ => SetModes(handle, ApplyNow, before)))
            {
                // Before the question: an answer may come at once.
                _ = SetModes(handle, ApplyNow, silent);
                try
                {
                    output.Write(question);
                    return input.ReadLine();
                }
                finally
                {
                    _ = SetModes(handle, ApplyNow, before);
                    output.WriteLine();
                }
            }
        }
    }

    private static string? AskConsole(string question)
    {
        if (Console.IsInputRedirected || Console.IsErrorRedirected)
            return null;
        Console.Error.Write(question);
        var typed = new StringBuilder();
        while (Console.ReadKey(intercept: true) is var key && key.Key != ConsoleKey.Enter)
        {
            if (key.Key == ConsoleKey.Backspace && typed.Length > 0)
                typed.Length--;
            else if (!char.IsControl(key.KeyChar))
                typed.Append(key.KeyChar);
        }

        Console.Error.WriteLine();
        return typed.ToString();
    }

    private static bool TryOpen(out FileStream terminal)
    {
        try
        {
            terminal = new FileStream(Device, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite, bufferSize: 0);
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            terminal = null!;
            return false;
        }
    }

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "tcgetattr")]
    private static partial int GetModes(int handle, byte[] modes);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "tcsetattr")]
    private static partial int SetModes(int handle, int when, byte[] modes);
}
