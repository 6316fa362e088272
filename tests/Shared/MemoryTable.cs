using System.Text;

namespace MongoPerf.Testing;

/// <summary>A table database in memory behind a <see cref="ScriptedTyrant"/>: as much of it as scenarios ask for.</summary>
internal sealed class MemoryTable
{
    private readonly Lock _lock = new();

    /// <summary>Key, and columns with zero bytes between them.</summary>
    public Dictionary<string, string> Records { get; } = new(StringComparer.Ordinal);

    public List<string> Indexes { get; } = [];

    public void Answer(TyrantExchange exchange)
    {
        lock (_lock)
        {
            switch (exchange.Request[1])
            {
                case 0x18: PutUnacknowledged(exchange.Request); break;
                case 0x70: exchange.Send("00"); break;
                case 0x72:
                    Records.Clear();
                    exchange.Send("00");
                    break;
                case 0x80: exchange.Send($"00{Records.Count:x16}"); break;
                case 0x81: exchange.Send($"00{1_000_000:x16}"); break;
                default: exchange.Send(Call(TyrantRequestReader.ReadFunction(exchange.Request))); break;
            }
        }
    }

    private byte[] Call(string[] call)
    {
        switch (call[0])
        {
            case "put": Records[call[1]] = string.Join('\0', call[2..]); break;
            case "putlist":
                foreach (string[] pair in call[1..].Chunk(2))
                    Records[pair[0]] = pair[1];
                break;
            case "setindex": Indexes.Add($"{call[1]} {call[2]}"); break;
            case "get": return Records.TryGetValue(call[1], out string? columns) ? Reply(columns.Split('\0')) : ScriptedTyrant.Reply(1);
            case "search": return Search(call[1..]);
            default: return ScriptedTyrant.Reply(1);
        }

        return ScriptedTyrant.Reply(0);
    }

    private byte[] Search(string[] arguments)
    {
        string[][] conditions = [.. arguments.Select(a => a.Split('\0')).Where(words => words[0] == "addcond")];
        int limit = int.Parse(arguments.Single(a => a.StartsWith("setlimit", StringComparison.Ordinal)).Split('\0')[1]);
        return Reply(Records.Where(record => conditions.All(c => Meets(record, c)))
            .Take(limit < 0 ? int.MaxValue : limit).Select(record => $"\0{record.Key}\0{record.Value}"));
    }

    /// <summary>Equality of text and of numbers, and one word among several.</summary>
    private static bool Meets(KeyValuePair<string, string> record, string[] condition)
    {
        string[] columns = ["", record.Key, .. record.Value.Split('\0')];
        int at = Array.IndexOf(columns, condition[1]);
        return at >= 0 && condition[2] switch
        {
            "0" or "8" => columns[at + 1] == condition[3],
            "4" => columns[at + 1].Split(',').Contains(condition[3]),
            _ => throw new NotSupportedException(condition[2]),
        };
    }

    private void PutUnacknowledged(byte[] request)
    {
        int keyLength = (request[2] << 24) | (request[3] << 16) | (request[4] << 8) | request[5];
        Records[Encoding.UTF8.GetString(request.AsSpan(10, keyLength))] = Encoding.UTF8.GetString(request.AsSpan(10 + keyLength));
    }

    private static byte[] Reply(IEnumerable<string> elements) => ScriptedTyrant.Reply(0, [.. elements.Select(Encoding.UTF8.GetBytes)]);
}
