using System.Collections;
using System.Text.Json;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Authentication;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Wire;

/// <summary>MongoDB's own vectors for connection strings, URI options and credentials.</summary>
public sealed class ConnectionStringVectorTests
{
    /// <summary>Vectors that can't hold here, each with its reason.</summary>
    private static readonly Dictionary<string, string> Exceptions = new()
    {
        ["should throw an exception if username and password provided (MONGODB-AWS)"] =
            "the same file demands the contrary: 'should use username and password if specified (MONGODB-AWS)'",
        ["wtimeoutMS as an invalid number"] =
            "uri-options/concern-options.json demands a warning instead: 'Too low wTimeoutMS causes a warning'",
    };

    public static TheoryData<string, int, string> Strings => VectorCase.Rows("tests", "connection-string/*.json", "uri-options/*.json");

    public static TheoryData<string, int, string> ValidStrings =>
        VectorCase.Rows(VectorCase.IsValid, "tests", "connection-string/*.json", "uri-options/*.json");

    public static TheoryData<string, int, string> Credentials => VectorCase.Rows("tests", "auth/legacy/connection-string.json");

    public static TheoryData<string, int, string> Concerns => VectorCase.Rows("tests", "read-write-concern/connection-string/*.json");

    [VectorTheory]
    [MemberData(nameof(Strings))]
    public void Connection_string_is_valid_warns_and_holds_what_the_vector_says(string file, int index, string description)
    {
        JsonElement vector = VectorCase.Entry(file, "tests", index);
        string uri = vector.Text("uri")!;
        if (!VectorCase.IsValid(vector))
        {
            Assert.Throws<ConnectionStringException>(() => ConnectionString.Parse(uri));
            return;
        }

        ConnectionString parsed = ConnectionString.Parse(uri);
        Assert.True(vector.GetProperty("warning").GetBoolean() == Odd(parsed).Any(), $"{description}: {string.Join("; ", Odd(parsed))}");
        if (vector.GetProperty("hosts") is { ValueKind: JsonValueKind.Array } hosts)
            Assert.Equal(hosts.EnumerateArray().Select(Address), parsed.Hosts);
        if (vector.GetProperty("auth") is { ValueKind: JsonValueKind.Object } auth)
            Assert.Equal(
                (auth.Text("username"), auth.Text("password"), auth.Text("db")), (parsed.UserName, parsed.Password, parsed.Database));
        if (vector.GetProperty("options") is { ValueKind: JsonValueKind.Object } options)
        {
            foreach (JsonProperty option in options.EnumerateObject())
                AssertSame(option.Value, parsed.Option(option.Name), option.Name);
        }
    }

    [VectorTheory]
    [MemberData(nameof(Credentials))]
    public void Credential_is_the_vectors(string file, int index, string description)
    {
        JsonElement vector = VectorCase.Entry(file, "tests", index);
        string uri = vector.Text("uri")!;
        if (Exceptions.ContainsKey(description))
        {
            Assert.NotNull(ConnectionString.Parse(uri).Credential);
            return;
        }

        if (!VectorCase.IsValid(vector))
        {
            Assert.Throws<ConnectionStringException>(() => ConnectionString.Parse(uri));
            return;
        }

        MongoCredential? credential = ConnectionString.Parse(uri).Credential;
        JsonElement expected = vector.GetProperty("credential");
        if (expected.ValueKind == JsonValueKind.Null)
        {
            Assert.Null(credential);
            return;
        }

        Assert.NotNull(credential);
        Assert.Equal(
            (expected.Text("username"), expected.Text("password"), expected.Text("source"), expected.Text("mechanism")),
            (credential.UserName, credential.Password, credential.Source, credential.Mechanism));
        if (expected.GetProperty("mechanism_properties") is { ValueKind: JsonValueKind.Object } properties)
            AssertSame(properties, credential.Properties, "mechanism_properties");
    }

    [VectorTheory]
    [MemberData(nameof(Concerns))]
    public void Read_and_write_concern_are_the_vectors(string file, int index, string description)
    {
        JsonElement vector = VectorCase.Entry(file, "tests", index);
        string uri = vector.Text("uri")!;
        if (Exceptions.ContainsKey(description))
        {
            Assert.Single(Odd(ConnectionString.Parse(uri)));
            return;
        }

        if (!VectorCase.IsValid(vector))
        {
            Assert.Throws<ConnectionStringException>(() => ConnectionString.Parse(uri));
            return;
        }

        ConnectionString parsed = ConnectionString.Parse(uri);
        Assert.Empty(Odd(parsed));
        if (vector.TryGetProperty("readConcern", out JsonElement readConcern))
            Assert.Equal(readConcern.Text("level"), parsed.ReadConcernLevel);
        if (!vector.TryGetProperty("writeConcern", out JsonElement writeConcern))
            return;
        string? w = writeConcern.TryGetProperty("w", out JsonElement nodes) ? nodes.ToString() : null;
        bool? journal = writeConcern.TryGetProperty("journal", out JsonElement flag) ? flag.GetBoolean() : null;
        int? milliseconds = writeConcern.TryGetProperty("wtimeoutMS", out JsonElement time) ? time.GetInt32() : null;
        Assert.Equal((w, journal, milliseconds), (parsed.W?.ToString(), parsed.Journal, (int?)parsed.Option("wTimeoutMS")));
    }

    [VectorTheory]
    [MemberData(nameof(ValidStrings))]
    public void Masked_string_parses_to_the_same_hosts_and_holds_no_password(string file, int index, string description)
    {
        ConnectionString parsed = ConnectionString.Parse(VectorCase.Entry(file, "tests", index).Text("uri")!);
        string masked = parsed.ToMaskedString();
        if (parsed.Password is { Length: > 0 })
            Assert.True(ConnectionString.Parse(masked).Password == "***", description);
        Assert.Equal(parsed.Hosts, ConnectionString.Parse(masked).Hosts);
    }

    /// <summary>What the specification has a driver warn of: MongoPerf refuses most of it, once the string is to be used.</summary>
    private static IEnumerable<string> Odd(ConnectionString parsed) =>
        [.. parsed.Warnings, .. parsed.Faults.Select(fault => fault.Message)];

    private static ServerAddress Address(JsonElement host) => new(
        host.Text("host")!,
        host.GetProperty("port") is { ValueKind: JsonValueKind.Number } port ? port.GetInt32()
            : host.Text("type") == "unix" ? 0 : ServerAddress.DefaultPort);

    private static void AssertSame(JsonElement expected, object? actual, string name)
    {
        switch (expected.ValueKind)
        {
            case JsonValueKind.True or JsonValueKind.False:
                Assert.Equal(expected.GetBoolean(), Assert.IsType<bool>(actual));
                break;
            case JsonValueKind.Number:
                Assert.Equal(expected.GetInt32(), Assert.IsType<int>(actual));
                break;
            case JsonValueKind.String:
                Assert.Equal(expected.GetString(), Assert.IsType<string>(actual));
                break;
            case JsonValueKind.Array:
                object[] items = Assert.IsAssignableFrom<IEnumerable>(actual).Cast<object>().ToArray();
                Assert.Equal(expected.GetArrayLength(), items.Length);
                for (int i = 0; i < items.Length; i++)
                    AssertSame(expected[i], items[i], $"{name}[{i}]");
                break;
            default:
                var pairs = Assert.IsAssignableFrom<IReadOnlyDictionary<string, string>>(actual);
                Assert.Equal(
                    expected.EnumerateObject().ToDictionary(pair => pair.Name, pair => pair.Value.GetString()!), pairs.ToDictionary());
                break;
        }
    }
}
