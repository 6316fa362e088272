namespace MongoPerf.Deployments;

/// <summary>Who is to blame when a deployment can't be used; the values are the program's exit codes.</summary>
internal enum DeploymentFault
{
    /// <summary>A wrong option or file: a binary that does not run, a cache that does not fit.</summary>
    WrongUsage = 2,

    /// <summary>The server does not start, does not answer, is too old or is no MongoDB.</summary>
    CannotConnect = 3,

    /// <summary>What was fetched is not what its publisher published.</summary>
    NotAsPublished = 5,

    /// <summary>It could be done and must not: the disk would fill, the folder belongs to another server.</summary>
    Refused = 6,
}

/// <summary>The deployment can't be used. The message is one clear line, details and hint on lines of their own.</summary>
internal sealed class DeploymentException(DeploymentFault fault, string message, Exception? inner = null) : Exception(message, inner)
{
    public DeploymentFault Fault { get; } = fault;

    public int ExitCode => (int)Fault;

    /// <summary>A wrong option or file, and what to do about it.</summary>
    public static DeploymentException WrongUsage(string message, string hint) => new(DeploymentFault.WrongUsage, $"{message}\nhint:  {hint}");
}
