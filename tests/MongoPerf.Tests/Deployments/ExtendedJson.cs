using System.Globalization;
using System.Text;
using System.Text.Json;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Deployments;

/// <summary>Turns a recorded reply (canonical extended JSON, the types that serverStatus has) into BSON.</summary>
internal static class ExtendedJson
{
    public static byte[] ReadReply(string file)
    {
        using JsonDocument json = JsonDocument.Parse(File.ReadAllText(Path.Combine(RepositoryPaths.Replies!, file)));
        return ((BsonDocument)ToValue(json.RootElement.GetProperty("reply"))!).Bytes.ToArray();
    }

    private static object? ToValue(JsonElement element) => element.ValueKind switch
    {
        JsonValueKind.String => element.GetString(),
        JsonValueKind.True => true,
        JsonValueKind.False => false,
        JsonValueKind.Array => element.EnumerateArray().Select(ToValue).ToArray(),
        JsonValueKind.Object => ToObject(element),
        _ => null,
    };

    private static object ToObject(JsonElement element)
    {
        JsonProperty[] fields = [.. element.EnumerateObject()];
        if (fields.Length == 1 && fields[0].Name.StartsWith('$'))
        {
            string text = fields[0].Value.ToString();
            switch (fields[0].Name)
            {
                case "$numberInt": return int.Parse(text, CultureInfo.InvariantCulture);
                case "$numberLong": return long.Parse(text, CultureInfo.InvariantCulture);
                case "$numberDouble": return double.Parse(text, CultureInfo.InvariantCulture);
                default: return Encoding.UTF8.GetBytes(text);
            }
        }

        return BsonDocument.Of([.. fields.Select(field => (field.Name, ToValue(field.Value)))]);
    }
}
