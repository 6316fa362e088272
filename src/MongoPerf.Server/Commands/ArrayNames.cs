using System.Globalization;
using System.Text;

namespace MongoPerf.Server.Commands;

/// <summary>The names of array elements, "0", "1" and so on, as bytes.</summary>
internal static class ArrayNames
{
    private const int Prepared = 1024;
    private static readonly byte[][] Names = [.. Enumerable.Range(0, Prepared).Select(Make)];

    public static ReadOnlySpan<byte> Of(int index) => index < Prepared ? Names[index] : Make(index);

    private static byte[] Make(int index) => Encoding.ASCII.GetBytes(index.ToString(CultureInfo.InvariantCulture));
}
