using System.Globalization;
using MongoPerf.Load.Plans;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads what a phase or a group does to the balancer.</summary>
public static class BalancerReader
{
    /// <summary>How long a window that opens now stays open at most.</summary>
    private const double UsualSeconds = 600;

    /// <param name="reader">The reader of a phase or group.</param>
    /// <param name="path">Its name.</param>
    /// <param name="data">The collections that the file describes; those on one shard are none of the balancer's.</param>
    /// <returns>Null when there is no balancer in it.</returns>
    public static PhaseGroup? Find(MappingReader reader, string path, IReadOnlyList<PlanCollection> data)
    {
        if (reader.Text("balancer") is not { } mode)
            return reader.Find("within") is { } within
                ? throw MappingReader.Wrong(within, $"{path}: within is not allowed without a balancer")
                : null;
        if (((string[])["operations", "threads", "duration", "count", "warmup", "rate", "connections"])
            .FirstOrDefault(key => reader.Find(key) is not null) is { } other)
            throw MappingReader.Wrong(reader.Find(other)!, $"{path}: {other} is not allowed beside a balancer");
        if (mode is not ("on" or "off" or SetBalancer.Now) && !IsWindow(mode))
            throw MappingReader.Wrong(reader.Find("balancer")!,
                $"{path}: balancer is '{mode}'; allowed: on, off, now, or two different times such as 22:00-06:00");
        double seconds = reader.Duration("within") ?? (mode == SetBalancer.Now ? UsualSeconds : 0);
        if (reader.Find("within") is { } limit && (seconds == 0 || mode == "off"))
            throw MappingReader.Wrong(limit, mode == "off"
                ? $"{path}: within is not allowed with a balancer that is off: it balances nothing"
                : $"{path}: within is 0; it must be longer");
        string[] balanced = [.. data.Where(c => c.Shard is null).SelectMany(c => c.Stored).Select(c => c.Name)];
        return new PhaseGroup
        {
            Threads = 1, Count = 1, Operations = [new WeightedOperation(new SetBalancer("balancer", mode, balanced, seconds), 1)],
        };
    }

    /// <summary>Hours of the day, as --balancer takes them.</summary>
    public static bool IsWindow(string text) =>
        text.Split('-') is [var start, var stop] && start != stop && IsTimeOfDay(start) && IsTimeOfDay(stop);

    private static bool IsTimeOfDay(string text) =>
        TimeOnly.TryParseExact(text, "HH:mm", CultureInfo.InvariantCulture, DateTimeStyles.None, out _);
}
