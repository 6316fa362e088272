using MongoPerf.Platforms;

namespace MongoPerf.Deployments;

/// <summary>Refuses on other systems what only Linux can do.</summary>
public static class LinuxOnly
{
    /// <summary>A hint.</summary>
    public const string StartItYourself = "start it yourself and name it with --uri, or omit it to use the embedded server";

    /// <param name="what">What needs Linux, such as "--cpus".</param>
    /// <param name="hint">What to do, or what is the case, without it.</param>
    /// <exception cref="DeploymentException">This is not Linux.</exception>
    public static void Require(string what, string hint)
    {
        if (Platform.Refusal(what) is { } refusal)
            throw DeploymentException.WrongUsage(refusal, hint);
    }
}
