using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Collections;

/// <summary>How this machine's clock stands against a server's.</summary>
/// <remarks>
/// A server tells its time in whole milliseconds, cut. That time was its own somewhere between question and reply, which bounds the
/// difference from both sides; many questions, asked at all places of a millisecond, narrow it to about a round trip (K. Marzullo's
/// intersection, as NTP has it).
/// </remarks>
public static class ServerClock
{
    private const int Questions = 50;
    private const double MostSeconds = 1;

    /// <param name="connection">A connection to the server whose clock counts.</param>
    /// <param name="clock">This machine's.</param>
    /// <exception cref="WireProtocolException">The server does not tell its time.</exception>
    public static ClientClock Compare(MongoConnection connection, IClock clock)
    {
        // Both ends of the interval from one start, so that a step of the machine's clock meanwhile changes nothing.
        (long begun, DateTimeOffset utc) = clock.ReadBoth();
        double origin = (utc - DateTimeOffset.UnixEpoch).TotalMilliseconds;
        (double low, double high) = (double.NegativeInfinity, double.PositiveInfinity);
        for (int i = 0; i < Questions && clock.SecondsBetween(begun, clock.Now) < MostSeconds; i++)
        {
            double asked = Milliseconds();
            long told = ReadTime(connection);
            double heard = Milliseconds();
            (double least, double most) = (told - heard, told + 1 - asked);
            // What has nothing in common with the rest was said before or after the server's clock was set.
            (low, high) = least > high || most < low ? (least, most) : (Math.Max(low, least), Math.Min(high, most));
        }

        return new ClientClock(connection.Address.ToString(), Math.Round((low + high) / 2, 3), Math.Round((high - low) / 2, 3));

        double Milliseconds() => origin + (clock.SecondsBetween(begun, clock.Now) * 1000);
    }

    /// <summary>What several comparisons of one machine's clock with one server's have in common.</summary>
    /// <param name="own">One of them.</param>
    /// <param name="others">Other clocks; those that contradict <paramref name="own"/>, or what is left of it, are left out.</param>
    public static ClientClock Join(ClientClock own, IEnumerable<ClientClock> others)
    {
        (double low, double high) =
            (own.OffsetMilliseconds - own.UncertaintyMilliseconds, own.OffsetMilliseconds + own.UncertaintyMilliseconds);
        foreach (ClientClock other in others)
        {
            (double least, double most) =
                (other.OffsetMilliseconds - other.UncertaintyMilliseconds, other.OffsetMilliseconds + other.UncertaintyMilliseconds);
            if (least <= high && most >= low)
                (low, high) = (Math.Max(low, least), Math.Min(high, most));
        }

        return own with { OffsetMilliseconds = Math.Round((low + high) / 2, 3), UncertaintyMilliseconds = Math.Round((high - low) / 2, 3) };
    }

    /// <summary>isMaster, as every version since 3.6 answers it and no rights are needed for it.</summary>
    /// <returns>Unix time, milliseconds.</returns>
    public static long ReadTime(MongoConnection connection) =>
        connection.RunCommand("admin", BsonDocument.Of(("isMaster", 1))).FindInt64("localTime")
        ?? throw new WireProtocolException("isMaster: the reply has no localTime, the server's clock");
}
