using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Engine.Execution;

/// <summary>Runs an insert test over a range of numbers and sees to it that the range is whole afterwards.</summary>
public sealed class InsertTest(IClock clock, ISeriesCollection collection, Action<RunEvent> report)
{
    private const int RepairRounds = 5;

    /// <summary>Looks for what is missing, where something may be, and writes it again.</summary>
    /// <param name="outcome">Of the phase that wrote the range.</param>
    /// <param name="operation">What it did.</param>
    /// <param name="range">The numbers that must be stored now.</param>
    /// <returns>The result with arrivals, losses and repairs; arrived documents make the rate of unacknowledged inserts.</returns>
    public TestResult Settle(TestOutcome outcome, InsertSpecification operation, NumberRange range)
    {
        TestResult result = outcome.Result;
        bool certain = operation.Acknowledged && outcome.Phase.Accounting.Failed == 0;
        if (certain)
            return result;
        long missing = Repair(range);
        if (operation.Acknowledged)
            return result with { Repaired = missing };

        long sent = outcome.Phase.AllDocuments;
        // What never left the client (failed sends) is repaired too, but it was not lost on the way.
        long unsent = range.Count - sent;
        long lost = Math.Max(0, missing - unsent);
        long arrived = sent - lost;
        double seconds = Math.Max(result.Seconds, 1e-9);
        double share = sent == 0 ? 1 : (double)arrived / sent;
        return result with
        {
            Repaired = missing,
            Unacknowledged = new UnacknowledgedResult(sent, arrived, lost, outcome.Phase.DrainSeconds),
            Operations = (long)(result.Operations * share),
            Documents = (long)(result.Documents * share),
            OperationsPerSecond = result.Operations * share / seconds,
            DocumentsPerSecond = result.Documents * share / seconds,
            MegabytesPerSecond = result.MegabytesPerSecond * share,
        };
    }

    /// <summary>Writes what is missing of a range until nothing is.</summary>
    /// <returns>How many documents were missing at first.</returns>
    /// <exception cref="MissingDocumentsException">Still not whole after several rounds.</exception>
    public long Repair(NumberRange range)
    {
        long first = 0;
        for (int round = 0; round <= RepairRounds; round++)
        {
            IReadOnlyList<NumberRange> missing = collection.FindMissing(range);
            long count = missing.Sum(m => m.Count);
            if (round == 0)
                first = count;
            if (count == 0)
                return first;
            if (round == RepairRounds)
                break;
            if (round == 0)
                report(new RunEvent(clock.UtcNow.ToUnixTimeMilliseconds(), "repair", $"{count:N0} of {range.Count:N0} documents were missing and are written again, acknowledged"));
            foreach (NumberRange hole in missing)
                collection.Write(hole);
        }

        throw new MissingDocumentsException($"documents {range.First:N0} to {range.End - 1:N0} are still not all there after {RepairRounds} repairs");
    }
}

/// <summary>Documents that were written again and again are not there (exit code 5).</summary>
public sealed class MissingDocumentsException(string message) : Exception(message);
