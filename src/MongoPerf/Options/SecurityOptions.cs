using System.CommandLine;
using MongoPerf.Texts.Input;

namespace MongoPerf.Options;

/// <summary>How clients connect to started servers; the options are made once per command. Without a value they mean "on".</summary>
internal sealed class SecurityOptions
{
    public Option<IReadOnlyList<bool>?> Tls { get; } = Switch(
        "--tls", "Started servers accept only TLS connections, with certificates generated for them; on,off compares both [default: off]");

    public Option<IReadOnlyList<bool>?> Auth { get; } = Switch(
        "--auth", "Enable authentication (SCRAM) on started servers, with a generated password; on,off compares both [default: off]");

    /// <summary>The options of a command that starts one deployment.</summary>
    /// <returns>Null where nothing was typed.</returns>
    /// <exception cref="UserException">A list.</exception>
    public (bool? Tls, bool? Auth) ReadOne(ParseResult parsed) => (One(parsed, Tls), One(parsed, Auth));

    private static bool? One(ParseResult parsed, Option<IReadOnlyList<bool>?> option) => parsed.GetValue(option) switch
    {
        null => null,
        [var only] => only,
        _ => throw new UserException(ExitCode.WrongUsage, $"{option.Name} is a list; 'cluster start' takes one value",
            "'run' and 'series' can compare both"),
    };

    private static Option<IReadOnlyList<bool>?> Switch(string name, string description)
    {
        Option<IReadOnlyList<bool>?> option = OptionTypes.List(name, description, "on|off[,…]",
            text => OptionTypes.OneOf(text, ["on", "off"]) == "on", ifBare: [true]).Suggesting("on", "off");
        option.Arity = ArgumentArity.ZeroOrOne;
        return option;
    }
}
