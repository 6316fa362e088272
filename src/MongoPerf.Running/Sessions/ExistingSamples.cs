using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>Gives the operations of a plan on existing data their values, before any of them runs.</summary>
internal static class ExistingSamples
{
    /// <summary>Draws the values of existing data that the plan's operations need.</summary>
    /// <exception cref="UserException">No document has such a field, or the server takes too long to draw some.</exception>
    public static void Take(RunSession session, IDataStore data, Plan plan)
    {
        if (!plan.IsOnExistingData)
            return;
        foreach (IGrouping<string, ExistingValue> values in plan.Operations.SelectMany(operation => operation.Steps)
            .SelectMany(step => ExistingValue.In(step.ToCommand())).GroupBy(value => value.Collection))
        {
            string[] paths = [.. values.Select(value => value.Path).Distinct()];
            string ns = $"{session.Settings.Data.Database}.{values.Key}";
            PlanCollection collection = plan.Collections.First(one => one.Name == values.Key);
            IReadOnlyList<IReadOnlyList<(BsonType Type, byte[] Bytes)>> found;
            try
            {
                found = data.Sample(collection, paths, values.Max(value => value.Sample));
            }
            catch (ServerCommandException e)
            {
                throw new UserException(ExitCode.WrongUsage, $"no sample of {ns} could be taken for ^existing: {e.Message}",
                    "a server draws documents quickly when they are less than 5 % of the collection: "
                    + $"{{^existing: {{of: {values.Key}.{paths[0]}, sample: 1k}}}}");
            }

            foreach (ExistingValue value in values)
            {
                if (found[Array.IndexOf(paths, value.Path)] is not { Count: > 0 } sample)
                    throw new UserException(ExitCode.WrongUsage, $"no document sampled from {ns} has a value to draw in '{value.Path}'",
                        "is the field's name right? Regular expressions and code are not drawn; a larger sample: "
                        + $"{{^existing: {{of: {value.Collection}.{value.Path}, sample: 100k}}}}");
                value.Fill(sample);
            }
        }
    }
}
