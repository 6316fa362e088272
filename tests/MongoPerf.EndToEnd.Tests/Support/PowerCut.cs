using System.Buffers.Binary;
using System.ComponentModel;
using System.Diagnostics;
using System.Text;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>What a power cut takes of what was not synced.</summary>
internal enum PowerLoss
{
    /// <summary>All of it: contents, and the names of files and folders.</summary>
    Everything,

    /// <summary>Contents alone: files have their new names and nothing in them, as on file systems that write names first.</summary>
    Contents,

    /// <summary>Some of it, sector by sector.</summary>
    Some,

    /// <summary>Nothing, as when the process alone is killed.</summary>
    Nothing,
}

/// <summary>
/// Has processes write what they do to the files of a folder into a log (tests/powercut/record.c), and makes the folder as it would be
/// after a power cut at any moment of it.
/// </summary>
/// <remarks>
/// Names are on the disk once their folder was synced, and contents once their file was, as POSIX has it; common file systems keep more.
/// </remarks>
internal sealed class PowerCut
{
    private const int Sector = 512;
    private const int HeadBytes = 40;

    private readonly byte[] _log;
    private readonly string _folder;
    private readonly List<Record> _records = [];
    private readonly List<long> _ends = [];

    private PowerCut(byte[] log, string folder)
    {
        (_log, _folder) = (log, folder);
        for (int at = 0; at + HeadBytes <= log.Length;)
        {
            ReadOnlySpan<byte> head = log.AsSpan(at, HeadBytes);
            int first = BinaryPrimitives.ReadInt32LittleEndian(head[4..]);
            int second = BinaryPrimitives.ReadInt32LittleEndian(head[8..]);
            int data = (int)BinaryPrimitives.ReadInt64LittleEndian(head[32..]);
            int paths = at + HeadBytes;
            _records.Add(new Record((Kind)head[0], BinaryPrimitives.ReadUInt64LittleEndian(head[16..]),
                BinaryPrimitives.ReadInt64LittleEndian(head[24..]), Encoding.UTF8.GetString(log, paths, first),
                Encoding.UTF8.GetString(log, paths + first, second), paths + first + second, data));
            _ends.Add(at = paths + first + second + data);
        }
    }

    private enum Kind
    {
        Made = 1, Folder, Write, Length, Sync, Synced, Rename, Link, Unlink, Unknown,
    }

    private sealed record Record(Kind Kind, ulong File, long Offset, string Path, string OtherPath, int Data, int Bytes);

    /// <summary>How many things were done; a moment is a number of them, from 0 to this.</summary>
    public int Moments => _records.Count;

    /// <summary>Moments at which something had just been synced, and those right before: there most is at stake.</summary>
    public IEnumerable<int> AtSyncs =>
        _records.Index().Where(one => one.Item.Kind is Kind.Sync or Kind.Synced).Select(one => one.Index + 1);

    /// <summary>The environment of processes to be recorded, whose log is at <paramref name="log"/>.</summary>
    /// <param name="folder">Full path; to be recorded from its beginning, empty.</param>
    /// <param name="log">Full path, elsewhere.</param>
    public static IReadOnlyDictionary<string, string?> Environment(string folder, string log)
    {
        Assert.True(Recorder.Value.Path is not null, $"{Need.Compiler.Reason}\n{Recorder.Value.Errors}");
        return new Dictionary<string, string?>
        {
            ["LD_PRELOAD"] = Recorder.Value.Path, ["POWERCUT_FOLDER"] = folder, ["POWERCUT_LOG"] = log,
        };
    }

    /// <summary>Whether there is a recorder: a compiler with C's headers has made it.</summary>
    public static bool HasRecorder => Recorder.Value.Path is not null;

    /// <summary>The recorder's path, or why there is none.</summary>
    private static Lazy<(string? Path, string Errors)> Recorder { get; } = new(static () =>
    {
        string made = Path.Combine(Path.GetTempPath(), $"mongoperf-powercut-{System.Environment.ProcessId}.so");
        string source = Path.Combine(RepositoryPaths.Root, "tests", "powercut", "record.c");
        try
        {
            using Process compiler = Process.Start(
                new ProcessStartInfo("cc", ["-O2", "-shared", "-fPIC", "-o", made, source]) { RedirectStandardError = true })!;
            string errors = compiler.StandardError.ReadToEnd();
            compiler.WaitForExit();
            AppDomain.CurrentDomain.ProcessExit += (_, _) => File.Delete(made);
            return (compiler.ExitCode == 0 ? made : null, errors);
        }
        catch (Win32Exception e)
        {
            return (null, e.Message);
        }
    });

    public static PowerCut Read(string folder, string log) => new(File.ReadAllBytes(log), folder);

    /// <summary>How long the log was at a moment.</summary>
    public long LengthAt(int moment) => moment == 0 ? 0 : _ends[moment - 1];

    /// <summary>The last moment at which the log was no longer than this.</summary>
    public int MomentAt(long length) => _ends.Count(end => end <= length);

    /// <summary>Makes the folder as it is after a power cut.</summary>
    /// <param name="moment">What was done after this is lost in any case.</param>
    /// <param name="loss">What is lost of what was done before, and not synced.</param>
    /// <param name="random">Draws what is lost where some of it is.</param>
    /// <param name="target">Is made.</param>
    public void Restore(int moment, PowerLoss loss, Random random, string target)
    {
        var disk = new Disk(this);
        for (int i = 0; i < moment; i++)
            disk.Apply(_records[i]);
        disk.Write(loss, random, target);
    }

    /// <summary>For messages: what had just been done.</summary>
    public string Describe(int moment) => moment == 0 ? "at the beginning"
        : $"after {moment} of {Moments} steps: {_records[moment - 1].Kind} {_records[moment - 1].Path} {_records[moment - 1].OtherPath}";

    /// <summary>A file's contents, or a folder's names, as steps of which the first are on the disk.</summary>
    private sealed class Node(bool isFolder)
    {
        public bool IsFolder { get; } = isFolder;

        public List<Record> Contents { get; } = [];

        public List<Naming> Names { get; } = [];

        public Dictionary<string, Node> Now { get; } = [];

        public int Durable { get; set; }

        public int Syncing { get; set; }

        public int Steps => IsFolder ? Names.Count : Contents.Count;
    }

    /// <summary>A change of names in one folder, or in two at once.</summary>
    private sealed record Naming(int Number, Node? From, string Old, Node? To, string New, Node Named);

    private sealed class Disk(PowerCut cut)
    {
        private readonly Dictionary<ulong, Node> _nodes = [];
        private readonly Node _root = new(isFolder: true);
        private int _namings;

        public void Apply(Record step)
        {
            switch (step.Kind)
            {
                case Kind.Made or Kind.Folder:
                    Node made = new(step.Kind == Kind.Folder);
                    if (step.Path == cut._folder)
                        made = _root;
                    else
                        Name(null, step.Path, made);
                    _nodes[step.File] = made;
                    break;
                case Kind.Write or Kind.Length:
                    Find(step).Contents.Add(step);
                    break;
                case Kind.Sync:
                    Find(step).Syncing = Find(step).Steps;
                    break;
                case Kind.Synced:
                    Find(step).Durable = Math.Max(Find(step).Durable, Find(step).Syncing);
                    break;
                case Kind.Rename:
                    Name(step.Path, step.OtherPath, At(step.Path));
                    break;
                case Kind.Link:
                    Name(null, step.OtherPath, At(step.Path));
                    break;
                case Kind.Unlink:
                    Name(step.Path, null, At(step.Path));
                    break;
                default:
                    throw new InvalidOperationException($"{step.OtherPath} of {step.Path} can't be recorded");
            }
        }

        public void Write(PowerLoss loss, Random random, string target)
        {
            // Some file systems keep changes of names in their order: those up to this one.
            int kept = loss switch
            {
                PowerLoss.Everything => 0,
                PowerLoss.Some => random.Next(_namings + 1),
                _ => _namings,
            };
            double share = random.Next(4) switch { 0 => 0, 1 => 1, _ => random.NextDouble() };
            WriteFolder(_root, target);

            void WriteFolder(Node folder, string path)
            {
                Directory.CreateDirectory(path);
                var names = new Dictionary<string, Node>();
                foreach (Naming naming in folder.Names.Where(naming => naming.Number < kept || IsDurable(naming)))
                {
                    if (naming.From == folder && names.GetValueOrDefault(naming.Old) == naming.Named)
                        names.Remove(naming.Old);
                    if (naming.To == folder)
                        names[naming.New] = naming.Named;
                }

                foreach ((string name, Node node) in names)
                {
                    if (node.IsFolder)
                        WriteFolder(node, Path.Combine(path, name));
                    else
                        WriteFile(node, Path.Combine(path, name));
                }
            }

            void WriteFile(Node node, string path)
            {
                using FileStream file = File.Create(path);
                foreach ((int i, Record step) in node.Contents.Index())
                {
                    bool isKept = i < node.Durable || loss == PowerLoss.Nothing;
                    if (!isKept && loss is not PowerLoss.Some)
                        break;
                    if (step.Kind == Kind.Length)
                    {
                        if (isKept || random.NextDouble() < share)
                            file.SetLength(step.Offset);
                        continue;
                    }

                    for (int done = 0; done < step.Bytes;)
                    {
                        long at = step.Offset + done;
                        int part = isKept ? step.Bytes : Math.Min(step.Bytes - done, Sector - (int)(at % Sector));
                        if (isKept || random.NextDouble() < share)
                        {
                            file.Position = at;
                            file.Write(cut._log, step.Data + done, part);
                        }

                        done += part;
                    }
                }
            }
        }

        private static bool IsDurable(Naming naming) =>
            (naming.From is { } from && from.Names.IndexOf(naming) < from.Durable)
            || (naming.To is { } to && to.Names.IndexOf(naming) < to.Durable);

        private void Name(string? old, string? path, Node named)
        {
            (Node? from, string oldName) = old is null ? (null, "") : FolderOf(old);
            (Node? to, string newName) = path is null ? (null, "") : FolderOf(path);
            var naming = new Naming(_namings++, from, oldName, to, newName, named);
            from?.Names.Add(naming);
            from?.Now.Remove(oldName);
            if (to is null)
                return;
            if (to != from)
                to.Names.Add(naming);
            to.Now[newName] = named;
        }

        private Node Find(Record step) => step.Path == cut._folder ? _root
            : _nodes.TryGetValue(step.File, out Node? node) ? node : _nodes[step.File] = At(step.Path);

        private Node At(string path)
        {
            (Node folder, string name) = FolderOf(path);
            return folder.Now[name];
        }

        private (Node Folder, string Name) FolderOf(string path)
        {
            string[] parts = path[cut._folder.Length..].Split('/', StringSplitOptions.RemoveEmptyEntries);
            Node at = _root;
            foreach (string name in parts[..^1])
            {
                if (!at.Now.TryGetValue(name, out Node? next))
                {
                    // Made by a call into the C library past the recorder.
                    next = new Node(isFolder: true);
                    var naming = new Naming(_namings++, null, "", at, name, next);
                    at.Names.Add(naming);
                    at.Now[name] = next;
                }

                at = next;
            }

            return (at, parts[^1]);
        }
    }
}

/// <summary>A test with power cuts, whose recorder is in C: skipped where none can be compiled, but failing then when CI=true.</summary>
public sealed class PowerCutFactAttribute : FactAttribute
{
    public PowerCutFactAttribute() => Skip = Need.Compiler.Unless(PowerCut.HasRecorder);
}
