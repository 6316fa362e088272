using System.Text.RegularExpressions;

namespace MongoPerf.Input;

/// <summary>Takes passwords out of what is shown or stored: connection strings are typed in wrong places too.</summary>
internal static partial class Masking
{
    private const string Masked = "***";

    /// <summary>One argument as typed: anything up to its last @ may belong to the password, since people forget to escape.</summary>
    public static string MaskArgument(string argument)
    {
        string masked = PasswordOfArgument().Replace(argument, $"$1{Masked}@");
        return SecretOption().Replace(PasswordWithoutScheme().Replace(masked, $"$1{Masked}@"), $"$1{Masked}");
    }

    /// <summary>A message that may quote what was typed.</summary>
    /// <param name="text">Of any length.</param>
    /// <param name="typed">The program's arguments.</param>
    public static string MaskText(string text, IEnumerable<string> typed)
    {
        foreach (string argument in typed)
        {
            string masked = MaskArgument(argument);
            // An option's value is quoted alone.
            if (masked != argument)
                text = text.Replace(argument, masked, StringComparison.Ordinal).Replace(ValueOf(argument), ValueOf(masked), StringComparison.Ordinal);
        }

        return SecretOption().Replace(PasswordInText().Replace(text, $"$1{Masked}@"), $"$1{Masked}");
    }

    private static string ValueOf(string argument) =>
        argument.StartsWith('-') && argument.IndexOfAny(['=', ':']) is >= 0 and var at ? argument[(at + 1)..] : argument;

    /// <summary>Up to the last @ before a slash; where there is none, to the last one at all, unless a port stands before the slash.</summary>
    [GeneratedRegex(@"([A-Za-z][A-Za-z0-9+.-]*://[^:/@\s]*:)(?:[^/?]*|(?!\d{1,5}(?:,[^/?@]*)?(?:/[^/?@]*)?(?:\?|$)).*)@", RegexOptions.Singleline)]
    private static partial Regex PasswordOfArgument();

    /// <summary>mongodb:// may be left out.</summary>
    [GeneratedRegex(@"^((?:--?[A-Za-z-]+[=:])?[\w.%+$-]*:)[^/?\s]*@")]
    private static partial Regex PasswordWithoutScheme();

    [GeneratedRegex(@"([A-Za-z][A-Za-z0-9+.-]*://[^:/@\s]*:)[^\s/?]*@")]
    private static partial Regex PasswordInText();

    [GeneratedRegex(@"([?&](?:\w*password|authMechanismProperties)=)[^&\s']*", RegexOptions.IgnoreCase)]
    private static partial Regex SecretOption();
}
