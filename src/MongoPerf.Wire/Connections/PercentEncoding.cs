using System.Text;

namespace MongoPerf.Wire.Connections;

/// <summary>Percent-decoding that refuses what <see cref="Uri.UnescapeDataString(string)"/> would let pass. A plus stays a plus.</summary>
internal static class PercentEncoding
{
    private static readonly UTF8Encoding StrictUtf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <param name="text">What stands in the connection string.</param>
    /// <param name="where">What it is, for the message; the text itself is never shown.</param>
    /// <exception cref="ConnectionStringException">A percent sign without two hexadecimal digits, or bytes that are not UTF-8.</exception>
    public static string Decode(string text, string where)
    {
        if (!text.Contains('%', StringComparison.Ordinal))
            return text;
        byte[] bytes = Encoding.UTF8.GetBytes(text);
        int length = 0;
        for (int i = 0; i < bytes.Length; i++, length++)
        {
            if (bytes[i] != '%')
            {
                bytes[length] = bytes[i];
                continue;
            }

            if (i + 2 >= bytes.Length || !char.IsAsciiHexDigit((char)bytes[i + 1]) || !char.IsAsciiHexDigit((char)bytes[i + 2]))
                throw new ConnectionStringException(
                    $"{where} holds a '%' without two hexadecimal digits; a percent sign itself is written %25");
            bytes[length] = Convert.FromHexString([(char)bytes[i + 1], (char)bytes[i + 2]])[0];
            i += 2;
        }

        try
        {
            return StrictUtf8.GetString(bytes, 0, length);
        }
        catch (DecoderFallbackException)
        {
            throw new ConnectionStringException($"{where} is not UTF-8 after percent-decoding");
        }
    }
}
