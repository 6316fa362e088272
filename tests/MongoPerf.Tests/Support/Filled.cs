using System.Collections;
using System.Reflection;
using System.Text.Json.Serialization;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Support;

/// <summary>For tests of sums: whatever a record gets, now or later, must be in what is added up.</summary>
internal static class Filled
{
    /// <summary>Each property is filled in each of the records, and differs among them.</summary>
    /// <param name="parts">Records of a kind.</param>
    /// <param name="empty">What they may lack.</param>
    /// <param name="common">What is the same in all of them.</param>
    public static void Require<T>(T[] parts, string[] empty, string[] common)
        where T : class
    {
        foreach (PropertyInfo property in typeof(T).GetProperties().Where(property => property.CanWrite
            && property.GetCustomAttribute<JsonIgnoreAttribute>() is not { Condition: JsonIgnoreCondition.Always }
            && !empty.Contains(property.Name)))
        {
            object?[] values = [.. parts.Select(part => property.GetValue(part))];
            Assert.All(values, value => Assert.False(
                value is null or 0 or 0L or 0.0 or false or "" or ICollection { Count: 0 } or ReadOnlyMemory<byte> { Length: 0 },
                $"{property.Name} is not filled"));
            Assert.Equal(common.Contains(property.Name) ? 1 : parts.Length, values.Select(TextOf).Distinct().Count());
        }
    }

    /// <summary>All properties of a record with their values, for comparisons that see into lists and bytes.</summary>
    public static string TextsOf<T>(T record)
        where T : class =>
        string.Join('\n', typeof(T).GetProperties().Select(property => $"{property.Name} = {TextOf(property.GetValue(record))}"));

    private static string TextOf(object? value) =>
        value is ReadOnlyMemory<byte> bytes ? Convert.ToHexString(bytes.Span) : RunJson.Write(value);
}
