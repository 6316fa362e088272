using MongoPerf.Platforms;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Options;

/// <summary>The password of a private key that a command serves with.</summary>
internal static class KeyPassword
{
    /// <summary>Asks for it where the key is encrypted.</summary>
    /// <param name="option">What names the file, for messages.</param>
    /// <param name="file">Certificate and key, PEM.</param>
    /// <returns>Null for a key that is not encrypted, and for a file that can't be read.</returns>
    /// <exception cref="UserException">There is no terminal (2).</exception>
    public static string? Ask(string option, string file) => !PemFiles.IsEncrypted(file) ? null
        : SecretPrompt.Ask($"password of {file}: ") ?? throw new UserException(
            ExitCode.WrongUsage, $"{option}: the key in '{file}' is encrypted, and there is no terminal to prompt for its password",
            "'openssl pkcs8 -in FILE' writes the key without a password; put that key and the certificate into one file");
}
