using System.Globalization;
using System.Text.Json.Nodes;
using Microsoft.Data.Sqlite;
using MongoPerf.Reports.Charts;
using MongoPerf.Tests.Commands;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Storage;

/// <summary>Whatever is in run.db is data: the commands that read it end with their result or with one line, and start nothing.</summary>
[Collection(ConsoleTests.Name)]
public sealed class HostileRunTests : IClassFixture<HostileRunTests.Fixture>, IDisposable
{
    private const string Id = "2026-11-21-a";
    private const string Other = "2026-11-21-b";

    /// <summary>Of each kind; MONGOPERF_HOSTILE_ROUNDS asks for more.</summary>
    private static readonly int Rounds =
        int.TryParse(Environment.GetEnvironmentVariable("MONGOPERF_HOSTILE_ROUNDS"), out int rounds) ? rounds : 24;

    private static readonly string?[] HostileJson =
    [
        "null", "-1", "0", "1e308", "-1e308", "9223372036854775807", "-9223372036854775808", "1e15", "\"NaN\"",
        "\"Infinity\"", "\"-Infinity\"", "\"\"",
        "\"\\u001b[31m\\u0000\\n\"", "[]", "{}", "[null]", "true", "\"0001-01-01T00:00:00Z\"", "\"9999-12-31T23:59:59Z\"", null,
    ];

    private static readonly object?[] HostileCells =
        [
            null, -1L, 0L, long.MaxValue, long.MinValue, 1e308, double.PositiveInfinity, "", "text", "{}", "[]", "null",
            new byte[] { 1, 2, 3 }, Array.Empty<byte>(),
        ];

    private readonly string? _charts = Environment.GetEnvironmentVariable(ChartRenderer.Variable);
    private readonly Fixture _fixture;
    private readonly TemporaryFolder _runs = new();

    public HostileRunTests(Fixture fixture)
    {
        _fixture = fixture;
        // Pictures take their time and tell nothing here.
        Environment.SetEnvironmentVariable(ChartRenderer.Variable, "none");
        foreach (string id in (string[])[Id, Other])
            Directory.CreateDirectory(_runs.At(id));
        File.Copy(_fixture.Db, _runs.At($"{Other}/run.db"));
    }

    private string Db => _runs.At($"{Id}/run.db");

    public void Dispose()
    {
        Environment.SetEnvironmentVariable(ChartRenderer.Variable, _charts);
        _runs.Dispose();
    }

    /// <summary>A run of two steps on shards, whose file holds something in every table.</summary>
    public sealed class Fixture : IDisposable
    {
        private readonly TemporaryFolder _folder = new();

        public Fixture()
        {
            Db = Path.Combine(
                FrozenRun.Build(_folder.Path, new FrozenShape { Steps = 2, WindowSeconds = 1, Shards = ["s0", "s1"] }), "run.db");
            using var connection = new SqliteConnection($"Data Source={Db};Pooling=False");
            connection.Open();
            Execute(connection, "PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO lap VALUES (1, 0, 1, 10, 0.5), (1, 0, 2, 20, 1.0)");
        }

        internal string Db { get; }

        public void Dispose() => _folder.Dispose();
    }

    [Fact]
    public void Any_value_of_any_record_gives_a_result_or_one_line()
    {
        var random = new Random(14);
        for (int i = 0; i < Rounds; i++)
            CheckAfter(connection => ChangeJson(connection, random));
    }

    [Fact]
    public void Any_cell_of_any_table_gives_a_result_or_one_line()
    {
        var random = new Random(15);
        for (int i = 0; i < Rounds; i++)
            CheckAfter(connection => ChangeCell(connection, random));
    }

    [Fact]
    public void Any_damaged_page_gives_a_result_or_one_line()
    {
        var random = new Random(16);
        for (int i = 0; i < Rounds / 2; i++)
        {
            File.Copy(_fixture.Db, Db, overwrite: true);
            byte[] bytes = File.ReadAllBytes(Db);
            int at = random.Next(100, bytes.Length);
            random.NextBytes(bytes.AsSpan(at, Math.Min(random.Next(1, 64), bytes.Length - at)));
            File.WriteAllBytes(Db, bytes);
            CheckCommands($"{i}: bytes at {at}");
        }
    }

    [Theory]
    [InlineData("connections", """{"kind":"Storm","count":5,"storms":[{"atSeconds":"NaN","connections":5,"usable":5,"seconds":1e15}]}""")]
    [InlineData("connections", """{"kind":"Pool","count":-5}""")]
    [InlineData(
        "transactions", """{"committed":-9,"aborted":0,"retried":99999999999999,"commitRetried":0,"unknown":0,"retrySeconds":"NaN"}""")]
    public void Any_record_beside_an_operation_gives_a_result_or_one_line(string name, string json) => CheckAfter(connection =>
    {
        Execute(connection, $"UPDATE operation_result SET json = json_set(json, '$.{name}', json('{json}'))");
        return name;
    });

    [Fact]
    public void A_damaged_histogram_leaves_no_half_of_a_file()
    {
        File.Copy(_fixture.Db, Db);
        Change(connection => Execute(connection, "UPDATE sample SET histogram = zeroblob(500) WHERE histogram IS NOT NULL"));
        (int code, _, string errors) = InProcess.Run("report", Id, "--out", _runs.Path);
        Assert.True(code == 2, errors);
        Assert.Empty(Directory.EnumerateFiles(_runs.Path, "*.new", SearchOption.AllDirectories));
    }

    [Theory]
    [InlineData("CREATE VIEW v AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n", "it has a view v")]
    [InlineData("CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM meta; END", "it has a trigger t")]
    public void A_file_with_a_program_in_it_is_none_of_ours(string sql, string text)
    {
        File.Copy(_fixture.Db, Db);
        Change(connection => Execute(connection, sql));
        foreach (string command in (string[])["report", "resume", "clean"])
        {
            (int code, _, string errors) = InProcess.Run(command, Id, "--out", _runs.Path);
            Assert.Equal(2, code);
            Assert.Contains(text, errors, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void A_giant_text_is_refused_and_not_loaded()
    {
        File.Copy(_fixture.Db, Db);
        Change(connection => Execute(connection, "INSERT INTO event VALUES (0, 'kind', CAST(zeroblob(70000000) AS TEXT), NULL)"));
        (int code, _, string errors) = InProcess.Run("report", Id, "--out", _runs.Path);
        Assert.Equal(2, code);
        Assert.Contains("string or blob too big", errors, StringComparison.Ordinal);
        Assert.Contains("unreadable", InProcess.Run("list", "runs", "--out", _runs.Path).Output, StringComparison.Ordinal);
    }

    [Fact]
    public void A_note_of_documents_that_is_none_stops_a_resume_in_one_line()
    {
        foreach (string note in (string[])["{", "null0", "[]", "{\"series\": -5}", "{\"series\": 1e400}"])
        {
            File.Copy(_fixture.Db, Db, overwrite: true);
            Change(connection =>
            {
                Execute(connection, $"INSERT OR REPLACE INTO meta VALUES ('note.start documents', '{note}')");
                Execute(connection, "UPDATE meta SET value = replace(value, 'Finished', 'Interrupted') WHERE key = 'run'");
            });
            (int code, _, string errors) = InProcess.Run("resume", Id, "--out", _runs.Path, "--mongod", "/nonexistent/mongod");
            Assert.True(code == 2, errors);
            Assert.DoesNotContain("   at ", errors, StringComparison.Ordinal);
        }
    }

    private void CheckAfter(Func<SqliteConnection, string> change)
    {
        File.Copy(_fixture.Db, Db, overwrite: true);
        string what = "";
        Change(connection => what = change(connection));
        CheckCommands(what);
    }

    private void CheckCommands(string what)
    {
        // A report writes its files in every format; what it prints besides is one of them.
        foreach (string[] command in (string[][])[["report", Id, "--format", "json"], ["compare", Other, Id],
            ["list", "runs"], ["clean", Id]])
        {
            (int code, string output, string errors) = InProcess.Run([.. command, "--out", _runs.Path]);
            Assert.True(code is 0 or 2 or 6, $"{string.Join(' ', command)} ended with {code} after {what}: {errors}");
            Assert.DoesNotContain("   at MongoPerf", errors + output, StringComparison.Ordinal);
        }
    }

    private void Change(Action<SqliteConnection> change)
    {
        using var connection = new SqliteConnection($"Data Source={Db};Pooling=False");
        connection.Open();
        change(connection);
        Execute(connection, "PRAGMA wal_checkpoint(TRUNCATE)");
    }

    private static string ChangeJson(SqliteConnection connection, Random random)
    {
        (string Table, string Column)[] places = [("meta", "value"), ("phase", "json"), ("operation_result", "json"), ("size", "json")];
        (string table, string column) = places[random.Next(places.Length)];
        List<(object Key, string Text)> rows = Read(
            connection, $"SELECT {(table is "meta" ? "key" : "rowid")}, {column} FROM {table} WHERE {column} LIKE '{{%'",
            row => (row.GetValue(0), row.GetString(1)));
        (object key, string text) = rows[random.Next(rows.Count)];
        JsonNode root = JsonNode.Parse(text)!;
        JsonNode[] leaves = [.. Leaves(root)];
        JsonNode leaf = leaves[random.Next(leaves.Length)];
        string path = leaf.GetPath();
        string? hostile = HostileJson[random.Next(HostileJson.Length)];
        if (hostile is null && leaf.Parent is JsonObject parent)
            parent.Remove(leaf.GetPropertyName());
        else
            leaf.ReplaceWith(JsonNode.Parse(hostile ?? $"\"{new string('x', 200_000)}\""));
        using SqliteCommand command = connection.CreateCommand();
        command.CommandText = $"UPDATE {table} SET {column} = $value WHERE {(table is "meta" ? "key" : "rowid")} = $key";
        command.Parameters.AddWithValue("$value", root.ToJsonString());
        command.Parameters.AddWithValue("$key", key);
        command.ExecuteNonQuery();
        return $"{table} {key} {path} = {hostile ?? "missing"}";
    }

    private static string ChangeCell(SqliteConnection connection, Random random)
    {
        List<string> tables = Read(connection,
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name", row => row.GetString(0));
        string table = tables[random.Next(tables.Count)];
        List<string> columns = Read(connection, $"SELECT name FROM pragma_table_info('{table}')", row => row.GetString(0));
        string column = columns[random.Next(columns.Count)];
        object? hostile = HostileCells[random.Next(HostileCells.Length)];
        using SqliteCommand command = connection.CreateCommand();
        // One row or all of them; where the table does not take the value, nothing has changed.
        command.CommandText = $"UPDATE OR IGNORE {table} SET \"{column}\" = "
            + $"$value{(random.Next(2) == 0 || table is "meta" or "lap" ? "" : $" WHERE rowid % 7 = {random.Next(7)}")}";
        if (table == "meta")
            command.CommandText +=
                $" WHERE key = '{((string[])["format", "run", "settings", "deployment", "note.token"])[random.Next(5)]}'";
        command.Parameters.AddWithValue("$value", hostile ?? DBNull.Value);
        try
        {
            command.ExecuteNonQuery();
        }
        catch (SqliteException)
        {
            // No file can hold this either.
        }

        return string.Create(CultureInfo.InvariantCulture, $"{command.CommandText} with {hostile ?? "NULL"}");
    }

    private static IEnumerable<JsonNode> Leaves(JsonNode node) => node switch
    {
        JsonObject all => all.Select(pair => pair.Value).OfType<JsonNode>().SelectMany(value => Leaves(value).Append(value)),
        JsonArray all => all.OfType<JsonNode>().SelectMany(value => Leaves(value).Append(value)),
        _ => [],
    };

    private static List<T> Read<T>(SqliteConnection connection, string sql, Func<SqliteDataReader, T> read)
    {
        using SqliteCommand command = connection.CreateCommand();
        command.CommandText = sql;
        using SqliteDataReader reader = command.ExecuteReader();
        var all = new List<T>();
        while (reader.Read())
            all.Add(read(reader));
        return all;
    }

    private static void Execute(SqliteConnection connection, string sql)
    {
        using SqliteCommand command = connection.CreateCommand();
        command.CommandText = sql;
        command.ExecuteNonQuery();
    }
}
