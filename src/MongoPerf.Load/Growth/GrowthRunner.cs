using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;

namespace MongoPerf.Load.Growth;

/// <summary>
/// Carries a growth out: at each size writes what is missing, runs the phases, and makes it durable; continues from any point.
/// </summary>
internal sealed class GrowthRunner
{
    private readonly RunContext _run;
    private readonly PlanRound _round;
    private readonly Phase _phase;
    private readonly GrowthPlan _growth;
    private readonly PhaseNumbers _numbers;
    private readonly RunProgress _before;
    private readonly Filling _filling;
    private readonly SinglePhases _phases;

    /// <summary>Collection by collection, where it ends now, and up to where it is durable.</summary>
    private readonly Dictionary<string, long> _ends = [];
    private readonly Dictionary<string, long> _durable = [];
    private readonly List<PhaseRecord> _step = [];
    private long _lostConnections;

    /// <param name="run">What all parts of the run share.</param>
    /// <param name="round">The round that the growth belongs to.</param>
    /// <param name="phase">The phase with a growth.</param>
    /// <param name="numbers">The numbers of its records.</param>
    /// <param name="before">What the run has stored already.</param>
    public GrowthRunner(RunContext run, PlanRound round, Phase phase, PhaseNumbers numbers, RunProgress before)
    {
        _run = run;
        _round = round;
        _phase = phase;
        _growth = phase.Growth!;
        _numbers = numbers;
        _before = before;
        _filling = new Filling(run);
        _phases = new SinglePhases(run, round, before);
    }

    /// <param name="documents">The documents in a collection with factor 1, known to be whole and durable.</param>
    /// <param name="stop">Ends it early.</param>
    /// <returns>False when the run must end here.</returns>
    public bool Run(long documents, CancellationToken stop)
    {
        foreach (GrowingCollection collection in _growth.Collections)
        {
            _durable[collection.Name] = documents * collection.Factor;
            // Of several clients each looks for the end of what it writes itself.
            _ends[collection.Name] = _run.Options.Share.IsWhole
                ? _filling.FindWholeEnd(CollectionOf(collection.Name), documents * collection.Factor)
                : documents * collection.Factor;
            _run.Keys[collection.Name] = new KeySpace(_ends[collection.Name]);
        }

        _lostConnections = _run.Data.LostConnections;
        for (int step = GrowthSchedule.StepBeyond(_growth, documents); step <= _growth.Sizes.Count; step++)
        {
            if (!RunStep(step, stop))
                return false;
        }

        return true;
    }

    private bool RunStep(int step, CancellationToken stop)
    {
        var point = new GrowthPoint(_phase.Name, step, _growth.Sizes[step - 1]);
        _step.Clear();
        foreach (WriteRange write in GrowthSchedule.WritesOf(_growth, step))
        {
            if (!RunWrite(write, point, stop))
                return false;
        }

        foreach ((int place, Phase phase) in _growth.Each.Index())
        {
            PhaseRecord head = _phases.HeadOf(phase, _numbers.OfEach(step, place)) with { Growth = point };
            if (_before.FindComplete(head.Number) is { } done)
            {
                _step.Add(done);
                continue;
            }

            RepairWhatACrashTook();
            if (_phases.Run(phase, head, stop) is { } record)
                _step.Add(record);
            if (!_run.MayGoOn(stop))
                return false;
        }

        MakeDurable(step);
        return _run.MayGoOn(stop);
    }

    private bool RunWrite(WriteRange write, GrowthPoint point, CancellationToken stop)
    {
        string name = write.Collection.Name;
        PlanCollection collection = CollectionOf(name);
        int number = _numbers.OfWrite(point.Step, PlaceOf(_growth.Writes, write.Write), PlaceOf(_growth.Collections, write.Collection));
        string label = _growth.Collections.Count == 1 ? write.Write.Name : $"{name}.{write.Write.Name}";
        var head = new PhaseRecord
        {
            Number = number, Phase = label, Description = write.Write.Description, Kind = PhaseKind.Write,
            Growth = point, Collection = name,
        };
        NumberRange own = _run.Options.Share.Of(write.Range);
        long written = _run.Options.Share.IsWhole || own.Count == 0 ? _ends[name] : _filling.FindWholeEnd(collection, own);
        var left = new NumberRange(Math.Max(own.First, written), own.End);
        if (left.Count == 0)
        {
            if (!_run.Meet(number, MeetingStage.End, stop))
                return false;
            _ends[name] = Math.Max(_ends[name], write.Range.End);
            _run.Keys[name] = new KeySpace(_ends[name]);
            NoteWritten(write, head, isOthers: own.Count == 0);
            return true;
        }

        var phase = new Phase { Name = label, Parameters = _phase.Parameters, Groups = [write.Write.Groups[name], .. _growth.Beside] };
        var fill = new RangeFill(phase, head, collection, left, write.Range)
        {
            Continues = left.First > own.First, IsMeasured = write.Write.IsMeasured,
        };
        (PhaseRecord? record, _ends[name]) = _filling.Fill(fill, stop);
        if (record is null)
            return false;
        _step.Add(record);
        return _run.MayGoOn(stop);
    }

    /// <summary>The last documents of a write and its result are not stored at one moment.</summary>
    private void NoteWritten(WriteRange write, PhaseRecord head, bool isOthers)
    {
        if (_before.FindComplete(head.Number) is { } done)
        {
            _step.Add(done);
        }
        else if (isOthers || (write.Range.End > _durable[write.Collection.Name] && _before.IsResumed))
        {
            if (!isOthers)
                _run.Report(RunEvent.Resumed,
                    $"{head.Phase} of step {head.Growth!.Step} was written, but its result was lost when the run was interrupted");
            // Asked only once, however often the run is resumed.
            _run.Store.EndPhase((_before.Find(head.Number) ?? head) with
            {
                Documents = write.Range.End, NextNumbers = _run.Keys.ToDictionary(keys => keys.Key, keys => keys.Value.Next),
                IsComplete = true,
            });
        }
    }

    private void MakeDurable(int step)
    {
        do
        {
            RepairWhatACrashTook();
            foreach (GrowingCollection collection in _growth.Collections)
                _run.Data.Checkpoint(CollectionOf(collection.Name), _ends[collection.Name]);
        }
        while (_run.Data.LostConnections > _lostConnections);
        foreach (GrowingCollection collection in _growth.Collections)
            _durable[collection.Name] = _ends[collection.Name];
        _run.Store.AddCheckpoint(new Checkpoint(
            _numbers.LastOf(step), _growth.Sizes[step - 1], _run.Clock.UtcNow.ToUnixTimeMilliseconds()));
        _run.Observer.OnStepFinished(new GrowthStep(_phase.Name, step, _growth.Sizes[step - 1], [.. _step]));
    }

    /// <summary>
    /// A server that came back may have lost what it had acknowledged but not journaled; operations need not have failed for that.
    /// </summary>
    private void RepairWhatACrashTook()
    {
        while (_run.HasFailedSinceCheckpoint || _run.Data.LostConnections > _lostConnections)
        {
            _run.HasFailedSinceCheckpoint = false;
            _lostConnections = _run.Data.LostConnections;
            foreach (GrowingCollection collection in _growth.Collections)
                _filling.Repair(CollectionOf(collection.Name), new NumberRange(_durable[collection.Name], _ends[collection.Name]));
        }
    }

    private static int PlaceOf<T>(IReadOnlyList<T> all, T one) => all.Index().First(item => ReferenceEquals(item.Item, one)).Index;

    private PlanCollection CollectionOf(string name) => _round.Collections.First(c => c.Name == name);
}
