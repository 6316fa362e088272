using System.Buffers.Binary;
using System.Text.Json;
using Microsoft.Data.Sqlite;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Storage;

/// <summary>Values at the limits of what a run stores are read, and those beyond are damage, whoever wrote them.</summary>
public sealed class StoredLimitsTests : IDisposable
{
    private const int PageSize = 4096;
    private const byte InteriorPage = 5;

    private readonly TemporaryFolder _runs = new();

    private string Folder => _runs.At("a");

    public void Dispose() => _runs.Dispose();

    [Theory]
    [InlineData("1e15", true)]
    [InlineData("-1e15", true)]
    [InlineData("0", true)]
    [InlineData("1000000000000001", false)]
    [InlineData("-1000000000000001", false)]
    [InlineData("1e308", false)]
    [InlineData("-1e308", false)]
    [InlineData("1e999", false)]
    [InlineData("null", false)]
    public void A_number_of_a_record_is_within_1e15_both_ways(string number, bool isStored)
    {
        string text = $$"""{"step": "s", "operations": 1, "failed": 0, "latencyMicroseconds": {"min": {{number}} } }""";
        if (isStored)
            Assert.Equal(double.Parse(number), RunJson.Read<StepResult>(text).LatencyMicroseconds.Min);
        else
            Assert.Contains("'min' is ", Assert.Throws<JsonException>(() => RunJson.Read<StepResult>(text)).Message);
    }

    [Fact]
    public void A_seed_is_any_64_bits() => Assert.Equal(
        ulong.MaxValue, RunJson.Read<RunInfo>(RunJson.Write(RunParts.Run() with { Seed = ulong.MaxValue })).Seed);

    [Theory]
    // A count.
    [InlineData("sample", "documents", "0", true)]
    [InlineData("sample", "documents", "1000000000000000", true)]
    [InlineData("sample", "documents", "1000000000000001", false)]
    [InlineData("sample", "documents", "-1", false)]
    // A time: the last millisecond of 2199.
    [InlineData("sample", "at_ms", "7258118399999", true)]
    [InlineData("sample", "at_ms", "7258118400000", false)]
    [InlineData("sample", "at_ms", "0", true)]
    [InlineData("sample", "at_ms", "-1", false)]
    // Seconds.
    [InlineData("sample", "seconds", "0.0", true)]
    [InlineData("sample", "seconds", "1e9", true)]
    [InlineData("sample", "seconds", "1000000001.0", false)]
    [InlineData("sample", "seconds", "-0.001", false)]
    // A latency.
    [InlineData("sample", "p99_us", "1e15", true)]
    [InlineData("sample", "p99_us", "-1e15", true)]
    [InlineData("sample", "p99_us", "1.1e15", false)]
    [InlineData("sample", "p99_us", "-1.1e15", false)]
    [InlineData("sample", "p99_us", "NULL", true)]
    [InlineData("sample", "p99_us", "9e999", false)]
    // One of a group has all three.
    [InlineData("sample", "group_p99_us", "NULL", false)]
    // A number of a phase is one of 32 bits.
    [InlineData("sample", "phase", "2147483647", true)]
    [InlineData("sample", "phase", "2147483648", false)]
    // A metric.
    [InlineData("server_sample", "member", "'m'", true)]
    [InlineData("server_sample", "opcounters_insert", "1e18", true)]
    [InlineData("server_sample", "opcounters_insert", "-1e18", true)]
    [InlineData("server_sample", "opcounters_insert", "1.1e18", false)]
    [InlineData("server_sample", "opcounters_insert", "-1.1e18", false)]
    [InlineData("server_sample", "opcounters_insert", "NULL", true)]
    public void A_cell_is_read_up_to_its_limits_and_not_beyond(string table, string column, string value, bool isRead)
    {
        using (RunStore store = Create())
        {
            store.AddSample(RunParts.Sample(1) with { OfGroup = new GroupLatency(1, 2, 3) });
            store.AddServerSample(RunParts.ServerSample(1));
        }

        Sql($"UPDATE {table} SET {column} = {value}");
        Action read = () =>
        {
            using StoredRun run = StoredRun.Open(Folder);
            Assert.Single(run.ReadSamples());
            Assert.Single(run.ReadServerSamples());
        };
        if (isRead)
            read();
        else
            Assert.Matches(
                $"run.db is damaged \\('{column}' is (out of range|null)|overflow", Assert.Throws<RunStoreException>(read).Message);
    }

    [Fact]
    public void A_metric_is_stored_up_to_its_limit_both_ways()
    {
        using (RunStore store = Create())
        {
            double[] values = [.. RunParts.ServerSample(0).Values];
            (values[0], values[1], values[2], values[3]) = (1e18, -1e18, 1.1e18, -1.1e18);
            store.AddServerSample(RunParts.ServerSample(0) with { Values = values });
            ArgumentException e = Assert.Throws<ArgumentException>(
                () => store.AddServerSample(RunParts.ServerSample(0) with { Values = values[1..] }));
            Assert.Contains($"the sample has {values.Length - 1} values, the catalogue {values.Length} metrics", e.Message);
        }

        using StoredRun run = StoredRun.Open(Folder);
        Assert.Equal([1e18, -1e18, double.NaN, double.NaN], Assert.Single(run.ReadServerSamples()).Values[..4]);
    }

    [Fact]
    public void A_run_may_have_as_many_rows_as_its_log_has_room_for()
    {
        using RunStore store = Create();
        store.AddLaps(1, [[.. Enumerable.Range(1, 9000).Select(i => new LapMark(i, i))]]);
        // All that was written is in the log: run.db itself has one page.
        Assert.Equal(4096, new FileInfo(Path.Combine(Folder, "run.db")).Length);
        using StoredRun run = StoredRun.Open(Folder);
        Assert.Equal(9000, run.Laps.Count);
    }

    [Theory]
    // Read in the order of the table, and sorted before the first row is there.
    [InlineData("checkpoint", "x, 0, 0", 1)]
    [InlineData("checkpoint", "x, 0, 0", 2)]
    [InlineData("event", "0, '', '', NULL", 2)]
    [InlineData("error", "x, '', 1, '', '[]'", 2)]
    public void Pages_that_are_children_of_one_page_again_and_again_are_damage(string table, string values, int levels)
    {
        Create().Dispose();
        Sql($"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000) INSERT INTO {table} SELECT {values} FROM n");
        int root = (int)(long)Scalar($"SELECT rootpage FROM sqlite_master WHERE name = '{table}'");
        string file = Path.Combine(Folder, "run.db");
        byte[] bytes = File.ReadAllBytes(file);
        Span<byte> page = bytes.AsSpan((root - 1) * PageSize, PageSize);
        Assert.Equal(InteriorPage, page[0]);
        int leaf = BinaryPrimitives.ReadInt32BigEndian(page[BinaryPrimitives.ReadUInt16BigEndian(page[12..])..]);
        int last = BinaryPrimitives.ReadInt32BigEndian(page[8..]);
        if (levels > 1)
            FillWith(bytes.AsSpan((last - 1) * PageSize, PageSize), leaf);
        FillWith(page, levels > 1 ? last : leaf);
        File.WriteAllBytes(file, bytes);
        Assert.Contains(
            "run.db is damaged (it has more rows than bytes)", Assert.Throws<RunStoreException>(() => StoredRun.Open(Folder)).Message);
    }

    /// <summary>
    /// Makes an interior page of a table: a header of 12 bytes, then where each cell is; a cell is a child and its last row
    /// (sqlite.org/fileformat2.html).
    /// </summary>
    private static void FillWith(Span<byte> page, int child)
    {
        const int Cells = 550;
        page.Clear();
        page[0] = InteriorPage;
        BinaryPrimitives.WriteUInt16BigEndian(page[3..], Cells);
        BinaryPrimitives.WriteUInt16BigEndian(page[5..], (ushort)(PageSize - (5 * Cells)));
        BinaryPrimitives.WriteInt32BigEndian(page[8..], child);
        for (int i = 0; i < Cells; i++)
        {
            int at = PageSize - (5 * (i + 1));
            BinaryPrimitives.WriteUInt16BigEndian(page[(12 + (2 * i))..], (ushort)at);
            BinaryPrimitives.WriteInt32BigEndian(page[at..], child);
            page[at + 4] = 1;
        }
    }

    [Fact]
    public void What_a_table_computes_is_not_trusted()
    {
        Create().Dispose();
        foreach (bool readOnly in (bool[])[true, false])
        {
            using SqliteConnection connection = RunSchema.Open(Folder, readOnly);
            using SqliteCommand command = connection.CreateCommand();
            command.CommandText = "PRAGMA trusted_schema";
            Assert.Equal(0L, command.ExecuteScalar());
            command.CommandText = "SELECT zeroblob(67108865)";
            Assert.Contains("too big", Assert.Throws<SqliteException>(command.ExecuteScalar).Message);
            command.CommandText = "SELECT length(zeroblob(67108864))";
            Assert.Equal(67_108_864L, command.ExecuteScalar());
        }
    }

    [Theory]
    [InlineData("0", "is incomplete: its format is '0'")]
    [InlineData("-3", "is incomplete: its format is '-3'")]
    [InlineData("1", "was written by an older MongoPerf (format 1; this one reads format 3)")]
    [InlineData("4", "was written by a newer MongoPerf (format 4; this one reads format 3)")]
    [InlineData("3 ", null)]
    [InlineData("a\u001bb", "is incomplete: its format is 'a?b'")]
    public void A_format_is_a_positive_number(string format, string? found)
    {
        Create().Dispose();
        Sql($"UPDATE meta SET value = '{format}' WHERE key = 'format'");
        if (found is null)
            StoredRun.Open(Folder).Dispose();
        else
            Assert.Contains(found, Assert.Throws<RunStoreException>(() => StoredRun.Open(Folder)).Message);
    }

    [Theory]
    [InlineData(60, false)]
    [InlineData(61, true)]
    public void A_text_of_a_foreign_file_is_cut_where_it_is_told(int length, bool isCut)
    {
        Create().Dispose();
        string format = new('x', length);
        Sql($"UPDATE meta SET value = '{format}' WHERE key = 'format'");
        Assert.Contains(
            $"its format is '{format[..60]}{(isCut ? "…" : "")}'",
            Assert.Throws<RunStoreException>(() => StoredRun.Open(Folder)).Message);
    }

    private RunStore Create() => RunStore.Create(Folder, RunParts.Run(), RunParts.Settings());

    private void Sql(string sql)
    {
        Scalar(sql);
        // Nothing stays in the log.
        Scalar("PRAGMA wal_checkpoint(TRUNCATE)");
    }

    private object Scalar(string sql)
    {
        using var connection = new SqliteConnection($"Data Source={Path.Combine(Folder, "run.db")};Pooling=False");
        connection.Open();
        using SqliteCommand command = connection.CreateCommand();
        command.CommandText = sql;
        return command.ExecuteScalar()!;
    }
}
