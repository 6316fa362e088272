using System.Globalization;
using MongoPerf.Load.Documents.Rows;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Traffic.Replaying;

namespace MongoPerf.Running.Sessions;

/// <summary>Makes of a recording what a run carries out.</summary>
public static class RecordedPlan
{
    private const string Phase = "replay";

    /// <summary>Its phases: one for each time that it is replayed.</summary>
    /// <param name="name">The plan's.</param>
    /// <param name="description">The plan's.</param>
    /// <param name="script">What is replayed, all of it or a part.</param>
    public static ReadPlan Of(string name, string description, ReplayScript script)
    {
        int loops = script.Settings.Loops;
        Phase[] phases =
        [
            .. Enumerable.Range(1, loops).Select(loop => new Phase
            {
                Name = Phase,
                Groups = [script.Group],
                Parameters = loops == 1 ? [] : [new("loop", loop.ToString(CultureInfo.InvariantCulture))],
            }),
        ];
        return new ReadPlan(new Plan(name, description, [new PlanRound([], phases)]), null, null, [], [], []);
    }

    /// <summary>Refuses what no replay can do, whoever asks for it.</summary>
    /// <param name="script">All of it, not yet divided.</param>
    /// <exception cref="UserException">Copies would write, or the recording can't have the rate (2).</exception>
    public static void Require(ReplayScript script)
    {
        if (script.Settings.Copies > 1 && script.Writes.Count > 0)
            throw new UserException(ExitCode.WrongUsage, "--copies: the recording writes, and copies would write the same documents",
                "leave writes out with --only reads; --speed and --rate replay them faster");
        if (script.Settings.Rate is null || script.Speed is >= ReplaySettings.LeastSpeed and <= ReplaySettings.MostSpeed)
            return;
        string own = script.Seconds == 0 ? "all requests of the recording came at once"
            : (script.Settings.Copies == 1 ? "the recording has" : $"{script.Settings.Copies} copies of the recording have")
                + $" {(script.Count / script.Seconds).ToString("0.###", CultureInfo.InvariantCulture)} requests per second";
        throw new UserException(ExitCode.WrongUsage, $"--rate: {own}; allowed: "
            + (script.Seconds == 0 ? "no rate" : $"{ReplaySettings.LeastSpeed} to {ReplaySettings.MostSpeed} times as many"));
    }

    /// <summary>The data of its runs: what the target holds, which no run creates.</summary>
    public static DataSettings DataOf(ReplayScript script) => new() { Database = script.Database, IsExisting = true };

    /// <summary>What one of several agents replays of a plan that somebody else wrote; the recording is a file of its own.</summary>
    /// <param name="plan">The plan.</param>
    /// <param name="part">The agent's.</param>
    /// <param name="files">Where it may be.</param>
    /// <exception cref="UserException">It is not there, or not the same, or the plan is no replay that can be made (2).</exception>
    public static ReplayScript ReadPart(PlanSettings plan, ClientPart part, FilesFolder files)
    {
        if (plan is not { Recording: { } path, Replay: { IsSound: true, KeepsDependencies: false, Hash: { } hash } settings })
            throw new UserException(ExitCode.WrongUsage, "what the coordinator offers is not a replay");
        foreach (string database in settings.Databases.Values)
            Names.Database(database);
        Recording recording = Recording.Open(Find(Path.GetFileName(path), files));
        try
        {
            if (recording.Hash() != hash)
                throw new UserException(ExitCode.WrongUsage, $"{recording.Path} is not the recording of the plan: it has another SHA-256",
                    "copy the file that 'replay' was called with");
            ReplayScript script = ReplayScriptReader.Read(recording, settings);
            Require(script);
            return script.Divide(part.Count)[part.Number - 1];
        }
        catch
        {
            recording.Dispose();
            throw;
        }
    }

    private static string Find(string name, FilesFolder files)
    {
        try
        {
            return files.Find(name);
        }
        catch (RowFormatException e)
        {
            throw new UserException(ExitCode.WrongUsage, e.Message, files.Hint);
        }
    }
}
