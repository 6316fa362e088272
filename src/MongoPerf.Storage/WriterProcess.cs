using System.Globalization;
using MongoPerf.Platforms;

namespace MongoPerf.Storage;

/// <summary>Names a process for good: its number alone may be given to another one later.</summary>
/// <param name="Id">Process number.</param>
/// <param name="StartTicks">The ticks that <see cref="ProcessStart.ReadTicks"/> gives; 0 where the system does not tell.</param>
/// <param name="Boot">Which start of the machine.</param>
public sealed record WriterProcess(int Id, long StartTicks, string Boot)
{
    private const string PidNote = "writer.pid";
    private const string StartNote = "writer.startTicks";
    private const string BootNote = "writer.boot";

    public static IReadOnlyList<string> NoteNames { get; } = [PidNote, StartNote, BootNote];

    public static WriterProcess Current { get; } = new(
        Environment.ProcessId, ProcessStart.ReadTicks(Environment.ProcessId) ?? 0, ProcessStart.ReadBoot());

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

    public bool IsAlive =>
        Boot == ProcessStart.ReadBoot() && ProcessStart.ReadTicks(Id) is { } start && ProcessStart.IsSame(start, StartTicks);
}
