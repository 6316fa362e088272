using System.CommandLine;
using MongoPerf.Options;
using MongoPerf.Running.Live;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands.Live;

/// <summary><c>--live [PORT]</c> and <c>--otlp URL</c>.</summary>
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

    /// <summary>The address of <c>--otlp URL</c>; null without the option.</summary>
    public static Option<string?> CreateReceiver() => OptionTypes.Make<string?>(
        LiveChild.ReceiverOption, null, "Send metrics to this OpenTelemetry receiver by OTLP over HTTP, such as http://localhost:4318 "
            + "[default: off]", "URL", ParseReceiver);

    private static string ParseReceiver(string text) =>
        !Uri.TryCreate(text, UriKind.Absolute, out Uri? uri) || uri.Scheme is not ("http" or "https")
            // A key may follow, which is masked only behind a scheme.
            ? throw new FormatException($"'{Masking.MaskArgument(text).Split('?')[0]}' is not an address such as http://localhost:4318")
            : uri.UserInfo.Length > 0
            ? throw new FormatException("a user in the address would be seen by others; OTEL_EXPORTER_OTLP_HEADERS takes what logs in")
            : text;

    private static long? ParsePort(string text) => Quantities.ParseCount(text, 0, 65535);
}
