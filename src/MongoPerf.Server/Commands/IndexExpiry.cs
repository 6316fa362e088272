using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>expireAfterSeconds, wherever it stands.</summary>
internal static class IndexExpiry
{
    /// <param name="value">A number.</param>
    /// <param name="error">What is wrong with it.</param>
    /// <returns>Whole seconds; null where something is wrong.</returns>
    public static int? Parse(BsonValue value, out string? error)
    {
        double seconds = value.ToDouble();
        error = seconds < 0 ? "TTL index 'expireAfterSeconds' option cannot be less than 0"
            : seconds >= int.MaxValue + 1.0
                ? "TTL index 'expireAfterSeconds' option must be within an acceptable range, try a lower number" : null;
        // As on mongod: what is no number at all means never.
        return error != null ? null : double.IsNaN(seconds) ? int.MaxValue : (int)seconds;
    }
}
