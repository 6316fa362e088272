namespace MongoPerf.Wire.Failures;

/// <summary>What kind of failure was foreseen; the values are the program's exit codes.</summary>
public enum Fault
{
    /// <summary>A wrong option, name, file or folder.</summary>
    WrongUsage = 2,

    /// <summary>The server does not start, does not answer, does not let the client in, is too old or is no MongoDB.</summary>
    CannotConnect = 3,

    /// <summary>More operations failed than may.</summary>
    TooManyErrors = 4,

    /// <summary>What was read or fetched is not what must be there.</summary>
    VerificationFailed = 5,

    /// <summary>It could be done and must not: the disk would fill, data or a folder belong to somebody else.</summary>
    Refused = 6,

    /// <summary>The server rejected a command, for the reason it gave.</summary>
    RejectedByServer = 7,
}

/// <summary>A failure that may happen to anybody: its message is one line for people, without a stack.</summary>
/// <remarks>
/// An interface, since a failure of a connection is an <see cref="IOException"/> too, and a wrong format a <see cref="FormatException"/>.
/// </remarks>
public interface IFailure
{
    Fault Fault { get; }

    /// <summary>What to do about it; null where the message says it.</summary>
    string? Hint { get; }
}

/// <summary>A foreseen failure, and the base of those that somebody tells apart.</summary>
/// <param name="fault">Its kind.</param>
/// <param name="message">What was found and what is allowed, in one line.</param>
/// <param name="hint">What to do about it; null where the message says it.</param>
/// <param name="cause">What failed first; null for nothing.</param>
public class MongoPerfException(
    Fault fault, string message, string? hint = null, Exception? cause = null) : Exception(message, cause), IFailure
{
    public Fault Fault { get; } = fault;

    public string? Hint { get; } = hint;
}
