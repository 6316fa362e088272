using System.Globalization;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Xml.Linq;

namespace MongoPerf.Mutation;

/// <summary>
/// Mutation testing: changes lines of a project in small ways, one at a time, and finds out which changes no test notices.
/// All mutants are compiled into one copy of the project, behind a switch; the tests run in processes that stay.
/// </summary>
internal static class Program
{
    private const string Usage = """
        usage: scripts/mutate PROJECT [FOLDER…] [--sample N] [--seed S] [--rerun FILE] [--tests PATTERN] [--workers N] [--cap SECONDS]
            [--end-to-end]
        PROJECT is a folder of src (Wire for MongoPerf.Wire); several are one word (Wire,Load); all: every room of docs/reliability.md.
        FOLDER is one in it, or a pattern of files (*Verdict*.cs); without one, those of its room.
        --sample N       N mutants drawn at random, with --seed S (1); all unless it is given
        --rerun FILE     only those that survived, as an earlier run wrote them (TestResults/mutate/ROOM.jsonl)
        --tests PATTERN  only tests whose class or method is so named (*RedactorTests*,*PolicyTests*); saves most of the first pass
        --end-to-end     by end-to-end tests rather than unit tests; give --tests, --rerun and a --cap of some 30 s, and one worker
        --workers N      processes that run tests (2)
        --cap SECONDS    processor time of tests for one mutant, the quickest first (6)
        """;

    private const string SwitchFile = "MongoPerf.Mutation.dll";
    private static readonly string[] Options = ["--sample", "--seed", "--rerun", "--tests", "--workers", "--cap"];
    private static readonly JsonSerializerOptions Readable = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    public static async Task<int> Main(string[] args)
    {
        if (args is ["worker", var socket, var tests, var count])
        {
            await Worker.Serve(socket, tests, int.Parse(count, CultureInfo.InvariantCulture));
            return 0;
        }
        List<string> names = [];
        Dictionary<string, string> options = [];
        for (int i = 0; i < args.Length; i++)
        {
            if (!args[i].StartsWith("--", StringComparison.Ordinal)) names.Add(args[i]);
            else if (args[i] == "--end-to-end") options[args[i]] = "";
            else if (Options.Contains(args[i]) && i + 1 < args.Length) options[args[i]] = args[++i];
            else options["--help"] = "";
        }
        if (names.Count == 0 || options.ContainsKey("--help"))
        {
            Console.Error.WriteLine(Usage);
            return 2;
        }
        int Number(string option, int otherwise) =>
            options.TryGetValue(option, out string? text) ? int.Parse(text, CultureInfo.InvariantCulture) : otherwise;
        string root = Environment.CurrentDirectory;
        string first = names[0].Replace("MongoPerf.", "", StringComparison.Ordinal);
        List<Room> rooms = first == "all" ? [.. Room.All]
            : names.Count > 1 ? [new Room(first, names[1..])]
            : [.. first.Split(',').Select(n => Room.All.FirstOrDefault(r => r.Name == n) ?? new Room(n, []))];

        bool isEndToEnd = options.ContainsKey("--end-to-end");
        string testProject = isEndToEnd ? "MongoPerf.EndToEnd.Tests" : "MongoPerf.Tests";
        string folder = Path.Combine(root, "TestResults/mutate");
        string bin = Path.Combine(folder, "bin");
        if (Directory.Exists(bin)) Directory.Delete(bin, recursive: true);
        Copy(Path.Combine(root, $"tests/{testProject}/bin/Release/net10.0"), bin);
        File.Copy(typeof(Program).Assembly.Location, Path.Combine(bin, SwitchFile), overwrite: true);
        LetProgramLoadSwitch(Path.Combine(bin, "mongoperf.deps.json"));

        Dictionary<int, Mutation> mutants = [];
        Dictionary<Room, (List<int> Ids, int Candidates)> drawn = [];
        foreach (Room room in rooms)
        {
            MutatedProject project = MutatedProject.Open(root, room.Project);
            List<Mutation> candidates = project.Find(room.Project, room.Parts);
            int sample = Number("--sample", int.MaxValue);
            Mutation[] order = [.. candidates];
            if (options.TryGetValue("--rerun", out string? file))
            {
                IEnumerable<Result> earlier = File.ReadLines(file).Select(l => JsonSerializer.Deserialize<Result>(l)!);
                HashSet<string> survivors = [.. earlier.Where(r => !r.IsKilled).Select(r => r.Mutation.Key)];
                order = [.. candidates.Where(m => survivors.Contains(m.Key))];
                sample = int.MaxValue;
            }
            else if (sample < order.Length)
            {
                new Random(Number("--seed", 1)).Shuffle(order);
            }
            int id = mutants.Count + 1;
            // Some won't compile: the next ones take their places.
            int tried = sample > order.Length / 2 ? order.Length : sample + sample / 3 + 20;
            Dictionary<int, Mutation> these = order.Take(tried).Select((m, i) => (Id: id + i, m)).ToDictionary(p => p.Id, p => p.m);
            HashSet<int> kept = project.Compile(these, bin);
            foreach ((int number, Mutation mutation) in these) mutants[number] = mutation;
            drawn[room] = ([.. kept.Order().Take(sample)], candidates.Count);
            Console.WriteLine($"{room.Name}: {candidates.Count} places, {kept.Count} of {these.Count} mutants compile");
        }

        Session session = new(
            bin, testProject, mutants, Settings(root, isEndToEnd ? "EndToEnd" : "Unit"), Number("--workers", 2),
            TimeSpan.FromSeconds(Number("--cap", 6)));
        await session.Cover(options.GetValueOrDefault("--tests"));
        foreach ((Room room, (List<int> ids, int candidates)) in drawn)
        {
            List<Result> results = await session.Run(room, ids);
            string name = string.Join('-', Room.All.Contains(room) ? [room.Name] : [room.Name, .. room.Parts])
                .Replace('/', '-').Replace('*', '_');
            File.WriteAllLines(Path.Combine(folder, name + ".jsonl"), results.Select(r => JsonSerializer.Serialize(r, Readable)));
            string text = Summary.Write(room, results, candidates, session, string.Join(' ', args));
            File.WriteAllText(Path.Combine(folder, name + ".txt"), text);
            Console.WriteLine(text.Split("\n\n")[0]);
            Console.WriteLine($"survivors: TestResults/mutate/{name}.txt; {session.Used.TotalSeconds:F0} s of processors so far");
            Console.WriteLine($"tried again in a new process: {session.Again}");
        }
        session.Dispose();
        return 0;
    }

    /// <summary>The environment in which the tests are run; what a mutant allocates without end fails at 2 GB (hexadecimal).</summary>
    private static Dictionary<string, string> Settings(string root, string kind) =>
        XDocument.Load(Directory.GetFiles(Path.Combine(root, "tests"), $"{kind}.runsettings", SearchOption.AllDirectories)[0])
            .Descendants("EnvironmentVariables").Elements()
            .ToDictionary(e => e.Name.LocalName, e => e.Value).Append(new("DOTNET_GCHeapHardLimit", "80000000")).ToDictionary();

    /// <summary>A program that tests start takes libraries only from the list beside it.</summary>
    private static void LetProgramLoadSwitch(string file)
    {
        if (!File.Exists(file)) return;
        JsonNode list = JsonNode.Parse(File.ReadAllText(file))!;
        string name = $"{Path.GetFileNameWithoutExtension(SwitchFile)}/1.0.0";
        JsonObject target = list["targets"]![(string)list["runtimeTarget"]!["name"]!]!.AsObject();
        target[name] = new JsonObject { ["runtime"] = new JsonObject { [SwitchFile] = new JsonObject() } };
        list["libraries"]![name] = new JsonObject { ["type"] = "project", ["serviceable"] = false, ["sha512"] = "" };
        File.WriteAllText(file, list.ToJsonString());
    }

    private static void Copy(string from, string to)
    {
        Directory.CreateDirectory(to);
        foreach (string file in Directory.GetFiles(from)) File.Copy(file, Path.Combine(to, Path.GetFileName(file)));
        foreach (string folder in Directory.GetDirectories(from)) Copy(folder, Path.Combine(to, Path.GetFileName(folder)));
    }
}
