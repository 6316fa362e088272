using System.CommandLine;
using MongoPerf.Options;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands.Live;

/// <summary><c>--live [PORT]</c>.</summary>
internal static class LiveOption
{
    /// <summary>The port of <c>--live [PORT]</c>; null without the option, 0 for a free one.</summary>
    public static Option<long?> Create()
    {
        Option<long?> live = OptionTypes.Make<long?>(
            "--live", null, "Serve a page with live charts on 127.0.0.1 during the run; the address is printed [default: off; "
                + "--live without PORT: a free port]", "PORT", ParsePort, ifBare: 0);
        live.Arity = ArgumentArity.ZeroOrOne;
        return live;
    }

    private static long? ParsePort(string text) => Quantities.ParseCount(text, 0, 65535);
}
