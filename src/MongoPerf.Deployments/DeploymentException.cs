using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments;

/// <summary>The deployment can't be used. The message is one clear line, details and hint on lines of their own.</summary>
public sealed class DeploymentException(
    Fault fault, string message, Exception? cause = null) : MongoPerfException(fault, message, cause: cause)
{
    /// <summary>A wrong option or file, and what to do about it.</summary>
    public static DeploymentException WrongUsage(string message, string hint) => new(Fault.WrongUsage, $"{message}\nhint:  {hint}");
}
