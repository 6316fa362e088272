using System.Text;
using System.Text.RegularExpressions;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Texts.Input;

/// <summary>Takes passwords out of what is shown or stored: connection strings are typed in wrong places too.</summary>
public static partial class Masking
{
    private const string Masked = "***";

    /// <summary>A part of a password that is shorter is looked for only beside the user's name or the @.</summary>
    private const int LeastAlone = 4;

    private const int MostLines = 60;

    /// <summary>Characters.</summary>
    private const int LongestLine = 4100;

    /// <summary>The characters at which a path, a list or a URI may have been cut.</summary>
    private static readonly char[] Separators = [' ', '\t', '\n', '\r', '/', '\\', ',', '?', '#', '=', '&', '@'];

    private static readonly AsyncLocal<IReadOnlyList<string>?> TypedHere = new();

    /// <summary>What whoever runs the present command typed, or set in the environment, and what may hold a password.</summary>
    public static IReadOnlyList<string> Typed
    {
        get => TypedHere.Value ?? [];
        set => TypedHere.Value = value;
    }

    /// <summary>One argument as typed: anything up to its last @ may belong to the password, since people forget to escape.</summary>
    public static string MaskArgument(string argument)
    {
        string masked = PasswordOfArgument().Replace(argument, $"$1{Masked}@");
        masked = SecretOption().Replace(PasswordWithoutScheme().Replace(masked, $"$1{Masked}@"), $"$1{Masked}");
        return QueryOfArgument().Replace(masked, $"$1{Masked}");
    }

    /// <summary>A call of the program as typed, to be typed again, with the passwords of connection strings masked.</summary>
    public static string MaskCall(IEnumerable<string> args) =>
        "mongoperf " + string.Join(' ', args.Select(MaskArgument).Select(CommandText.Quoted));

    /// <summary>
    /// A message that may quote the command line, a file or a server: it must not show passwords, move the cursor or fill the screen.
    /// </summary>
    public static string Shown(string message) =>
        string.Join(
            '\n', MaskText(message).Split('\n').Take(MostLines).Select(line => ForeignText.OneLine(line.Replace('\t', ' '), LongestLine)));

    /// <summary>A message that may quote what was typed, whole, in part, or as a path or a decoded URI.</summary>
    /// <param name="text">A text of any length.</param>
    public static string MaskText(string text) => MaskText(text, Typed);

    /// <inheritdoc cref="MaskText(string)"/>
    public static string MaskText(string text, IEnumerable<string> typed)
    {
        foreach (string argument in typed)
        {
            string masked = MaskArgument(argument);
            if (masked == argument)
                continue;
            // An option's value is quoted alone.
            text = text.Replace(argument, masked, StringComparison.Ordinal)
                .Replace(ValueOf(argument), ValueOf(masked), StringComparison.Ordinal);
            foreach ((string pattern, string with) in Traces(argument))
                text = Regex.Replace(text, pattern, with, RegexOptions.IgnoreCase | RegexOptions.CultureInvariant);
        }

        text = SecretOption().Replace(PasswordInText().Replace(text, $"$1{Masked}@"), $"$1{Masked}");
        return QueryInText().Replace(text, $"$1{Masked}");
    }

    /// <summary>Something that was typed holds a password.</summary>
    public static bool TypedHoldsSecret => Typed.Any(argument => MaskArgument(argument) != argument);

    /// <summary>A writer that shows no password of what was typed up to now.</summary>
    public static TextWriter Cover(TextWriter output) => new MaskingWriter(output, Typed);

    private static string ValueOf(string argument) =>
        argument.StartsWith('-') && argument.IndexOfAny(['=', ':']) is >= 0 and var at ? argument[(at + 1)..] : argument;

    /// <summary>
    /// What is left of a password where a path was cut or normalised, a list split, or a URI decoded: patterns, and what takes their place.
    /// </summary>
    private static IEnumerable<(string Pattern, string With)> Traces(string argument)
    {
        Match match = PasswordOfArgument().Match(argument) is { Success: true } whole ? whole : PasswordWithoutScheme().Match(argument);
        if (!match.Success)
            yield break;
        string before = match.Groups[1].Value.TrimEnd(':');
        string user = before[(before.LastIndexOfAny(['/', '=', ':']) + 1)..];
        string password = match.Value[match.Groups[1].Length..^1];
        string[] parts = [.. new[] { password, Decoded(password) }
            .SelectMany(one => one.Split(Separators)).Where(part => part.Length > 0).Distinct()];
        // The longest first: one may be part of another.
        foreach (string part in parts.OrderByDescending(part => part.Length).Select(Regex.Escape))
        {
            yield return ($@"((?<!\w){Regex.Escape(Decoded(user))}:|(?<!\w){Regex.Escape(user)}:){part}(?!\w)", $"$1{Masked}");
            yield return ($@"(?<!\w){part}@", $"{Masked}@");
        }

        foreach (string part in parts.Where(part => part.Length >= LeastAlone && parts.Length > 1).Select(Regex.Escape))
            yield return ($@"(?<!\w){part}(?!\w)", Masked);
    }

    private static string Decoded(string text) => Uri.UnescapeDataString(text);

    /// <summary>
    /// Matches up to the last @ before a slash; where there is none, to the last one at all, unless a port stands before the slash. Slashes
    /// may be missing, or too many.
    /// </summary>
    [GeneratedRegex(
        @"([A-Za-z][A-Za-z0-9+.-]*:/+[^:/@\s]*:)(?:[^/?]*|(?!\d{1,5}(?:,[^/?@]*)?(?:/[^/?@]*)?(?:\?|$)).*)@", RegexOptions.Singleline)]
    private static partial Regex PasswordOfArgument();

    /// <summary>mongodb:// may be left out.</summary>
    [GeneratedRegex(@"^((?:--?[A-Za-z-]+[=:])?[\w.%+$-]*:)[^/?\s]*@")]
    private static partial Regex PasswordWithoutScheme();

    [GeneratedRegex(@"([A-Za-z][A-Za-z0-9+.-]*:/+[^:/@\s]*:)[^\s/?]*@")]
    private static partial Regex PasswordInText();

    /// <summary>A web address's query may hold a key.</summary>
    [GeneratedRegex(@"(\bhttps?:/+[^?#\s]*\?).+", RegexOptions.IgnoreCase | RegexOptions.Singleline)]
    private static partial Regex QueryOfArgument();

    [GeneratedRegex(@"(\bhttps?:/+[^?#\s'""]*\?)[^\s'""]+", RegexOptions.IgnoreCase)]
    private static partial Regex QueryInText();

    [GeneratedRegex(@"(\b(?:\w*password|authMechanismProperties)=)[^&\s']*", RegexOptions.IgnoreCase)]
    private static partial Regex SecretOption();

    /// <summary>Masks each text by itself: a message is written at once.</summary>
    private sealed class MaskingWriter(TextWriter output, IReadOnlyList<string> typed) : TextWriter(output.FormatProvider)
    {
        public override Encoding Encoding => output.Encoding;

        public override void Write(char value) => output.Write(value);

        public override void Write(char[] buffer, int index, int count) => Write(buffer.AsSpan(index, count));

        public override void Write(ReadOnlySpan<char> buffer) => Write(buffer.ToString());

        public override void Write(string? value)
        {
            if (value is not null)
                output.Write(MaskText(value, typed));
        }

        public override void WriteLine(string? value) => Write((value ?? "") + "\n");

        public override void Flush() => output.Flush();
    }
}
