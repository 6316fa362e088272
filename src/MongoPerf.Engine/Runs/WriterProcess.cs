using System.Globalization;

namespace MongoPerf.Engine.Runs;

/// <summary>Names a process for good: its number alone may be given to another one later.</summary>
/// <param name="Id">Process number.</param>
/// <param name="StartTicks">Start in clock ticks since the machine came up (/proc/PID/stat, field 22); 0 where there is no /proc.</param>
/// <param name="Boot">Which start of the machine.</param>
internal sealed record WriterProcess(int Id, long StartTicks, string Boot)
{
    private const string PidNote = "writer.pid";
    private const string StartNote = "writer.startTicks";
    private const string BootNote = "writer.boot";

    public static IReadOnlyList<string> NoteNames { get; } = [PidNote, StartNote, BootNote];

    public static WriterProcess Current { get; } = new(Environment.ProcessId, ReadStartTicks(Environment.ProcessId) ?? 0, ReadBoot());

    public IEnumerable<(string Name, string Value)> ToNotes() =>
    [
        (PidNote, Id.ToString(CultureInfo.InvariantCulture)),
        (StartNote, StartTicks.ToString(CultureInfo.InvariantCulture)),
        (BootNote, Boot),
    ];

    /// <summary>Null when no writer has the run open, or when the notes make no sense.</summary>
    public static WriterProcess? FromNotes(Func<string, string?> find) =>
        int.TryParse(find(PidNote), CultureInfo.InvariantCulture, out int id)
        && long.TryParse(find(StartNote), CultureInfo.InvariantCulture, out long start)
            ? new WriterProcess(id, start, find(BootNote) ?? "")
            : null;

    public bool IsAlive => Boot == ReadBoot() && ReadStartTicks(Id) == StartTicks;

    private static string ReadBoot()
    {
        try
        {
            return File.ReadAllText("/proc/sys/kernel/random/boot_id").Trim();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return "";
        }
    }

    private static long? ReadStartTicks(int processId)
    {
        try
        {
            string stat = File.ReadAllText($"/proc/{processId}/stat");
            // The program's name stands in brackets and may hold anything, so fields are counted from the last bracket: the first is 3.
            string[] fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
            // A zombie has ended and is only waiting for its parent to look.
            return fields[0] == "Z" ? null : long.Parse(fields[22 - 3], CultureInfo.InvariantCulture);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or FormatException or IndexOutOfRangeException)
        {
            return null;
        }
    }
}
