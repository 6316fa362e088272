using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Executors.Tyrant;

/// <summary>The server's refusals in the form of MongoDB's errors, so that they are counted and shown alike.</summary>
internal static class TyrantFailure
{
    /// <param name="code">The response's first byte, not 0.</param>
    public static ServerError Of(int code) =>
        new(code, "TyrantFailure", $"Tokyo Tyrant answered code {code} and gives no reason; its log may", []);
}
