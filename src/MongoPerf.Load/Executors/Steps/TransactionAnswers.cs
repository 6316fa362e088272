using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Executors.Steps;

/// <summary>What a server's answer to a commit leaves open. Source: specifications, transactions.md.</summary>
internal static class TransactionAnswers
{
    /// <summary>MaxTimeMSExpired.</summary>
    public const int TimeExpired = 50;

    /// <summary>Whether the transaction was committed is not known: drivers label such errors UnknownTransactionCommitResult.</summary>
    public static bool IsUnknown(ServerError error) =>
        error.Labels.Contains("UnknownTransactionCommitResult") || error.Labels.Contains("RetryableWriteError")
        || error.MeansNoPrimary || error.MeansShardAway || error.Code is
            TimeExpired
            or 64 // WriteConcernFailed: it waited too long
            or 262; // ExceededTimeLimit
}
