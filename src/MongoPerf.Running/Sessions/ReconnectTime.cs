using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// How long a lost server is waited for: a minute, unless the environment says otherwise, as tests of a server that stays away do.
/// </summary>
internal static class ReconnectTime
{
    private const string Variable = "MONGOPERF_RECONNECT";
    private const double UsualSeconds = 60;

    /// <exception cref="UserException">The environment has it in another form than 90s, 500ms or 10m.</exception>
    public static TimeSpan Read()
    {
        try
        {
            return TimeSpan.FromSeconds(Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } time
                ? Quantities.ParseDuration(time)
                : UsualSeconds);
        }
        catch (FormatException e)
        {
            throw new UserException(ExitCode.WrongUsage, $"{Variable}: {e.Message}");
        }
    }
}
