using MongoPerf.Load.Documents.GridFs;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Documents;

/// <summary>Files as the GridFS specification has them stored, and put together again.</summary>
public sealed class GridFsTests
{
    private static readonly ObjectId FileId = new(0x01020304, 0x05060708090A0B0C);
    private static readonly ObjectId ChunkId = new(0x11121314, 0x15161718191A1B1C);

    [Fact]
    public void A_files_document_is_that_of_the_specification()
    {
        var writer = new BsonWriter();
        new GridFsFile(FileId, 300_000, 261_120, 1_300_000_000_000, "a.jpg").Write(writer);
        Assert.Equal(
            "5d000000"
            + "075f6964000102030405060708090a0b0c"
            + "126c656e67746800e093040000000000"
            + "106368756e6b53697a650000fc0300"
            + "0975706c6f6164446174650000c809ae2e010000"
            + "0266696c656e616d650006000000612e6a706700"
            + "00",
            Convert.ToHexStringLower(writer.Written));
    }

    [Fact]
    public void A_chunks_document_is_that_of_the_specification()
    {
        var writer = new BsonWriter();
        GridFsFile.WriteChunk(writer, ChunkId, FileId, 2, [0xAA, 0xBB, 0xCC]);
        Assert.Equal(
            "41000000"
            + "075f6964001112131415161718191a1b1c"
            + "0766696c65735f6964000102030405060708090a0b0c"
            + "106e0002000000"
            + "0564617461000300000000aabbcc"
            + "00",
            Convert.ToHexStringLower(writer.Written));
    }

    [Theory]
    [InlineData(0, 0, 0)]
    [InlineData(1, 1, 1)]
    [InlineData(261_119, 1, 261_119)]
    [InlineData(261_120, 1, 261_120)]
    [InlineData(261_121, 2, 1)]
    [InlineData(1_040_000, 4, 256_640)]
    [InlineData(5_000_000_000, 19_149, 74_240)]
    public void A_file_is_cut_into_full_chunks_and_a_rest(long length, int chunks, int last)
    {
        var file = new GridFsFile(FileId, length, GridFsBucket.DefaultChunkSize, 0, "a");
        Assert.Equal(chunks, file.ChunkCount);
        if (chunks == 0)
            return;
        Assert.Equal(last, file.LengthOfChunk(chunks - 1));
        Assert.Equal(length, file.OffsetOfChunk(chunks - 1) + last);
        if (chunks > 1)
            Assert.Equal(GridFsBucket.DefaultChunkSize, file.LengthOfChunk(0));
    }

    [Fact]
    public void Indexes_are_those_that_the_specification_asks_for()
    {
        Assert.Equal(
            [
                """{"key":{"filename":1,"uploadDate":1},"name":"filename_1_uploadDate_1"}""",
                """{"key":{"files_id":1,"n":1},"name":"files_id_1_n_1","unique":true}""",
            ],
            new[] { GridFsBucket.FilesIndex, GridFsBucket.ChunksIndex }
                .Select(index => ExtendedJson.Write(index.Bytes).Replace(" ", "", StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(4)]
    [InlineData(10)]
    public void Chunks_make_the_file_again(int length)
    {
        var assembler = new GridFsAssembler();
        byte[] content = [.. Enumerable.Range(0, length).Select(i => (byte)i)];
        // Twice: the second file must not find the first one's bytes.
        for (int file = 0; file < 2; file++)
        {
            assembler.Start(length, 4);
            foreach (byte[] chunk in Chunks(content, 4))
                assembler.Add(chunk);
            assembler.RequireComplete();
            Assert.Equal(content, assembler.Content.ToArray());
        }
    }

    [Theory]
    [InlineData("the first is missing", "chunk 1 found where chunk 0 was expected")]
    [InlineData("one is missing", "chunk 2 found where chunk 1 was expected")]
    [InlineData("one comes twice", "chunk 0 found where chunk 1 was expected")]
    [InlineData("the last is missing", "chunk 2 is missing: 8 of the file's 10 bytes found")]
    [InlineData("one too many", "unexpected chunk 3: the file's 10 bytes are complete")]
    [InlineData("one too short", "chunk 1 has 3 bytes of data, expected 4")]
    [InlineData("the last too long", "chunk 2 has 4 bytes of data, expected 2")]
    [InlineData("no data", "chunk 0 has 0 bytes of data, expected 4")]
    [InlineData("no n", "chunk -1 found where chunk 0 was expected")]
    public void Chunks_that_are_not_as_they_must_be_are_found(string fault, string text)
    {
        byte[][] chunks = Chunks([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 4);
        byte[][] wrong = fault switch
        {
            "the first is missing" => chunks[1..],
            "one is missing" => [chunks[0], chunks[2]],
            "one comes twice" => [chunks[0], chunks[0]],
            "the last is missing" => chunks[..2],
            "one too many" => [.. chunks, Chunk(3, [1])],
            "one too short" => [chunks[0], Chunk(1, [4, 5, 6])],
            "the last too long" => [.. chunks[..2], Chunk(2, [8, 9, 10, 11])],
            "no data" => [BsonDocument.Of(("n", 0)).Bytes.ToArray()],
            _ => [BsonDocument.Of(("data", new byte[4])).Bytes.ToArray()],
        };
        var assembler = new GridFsAssembler();
        assembler.Start(10, 4);
        var e = Assert.Throws<GridFsFormatException>(() =>
        {
            foreach (byte[] chunk in wrong)
                assembler.Add(chunk);
            assembler.RequireComplete();
        });
        Assert.Equal(text, e.Message);
    }

    [Fact]
    public void Files_of_a_set_are_the_same_everywhere_and_differ_from_one_another()
    {
        var files = new GridFsFileSet(42, new GridFsBucket(ChunkSize: 1500), 4000);
        Assert.Equal("file0000000007", files.FileAt(7).Filename);
        Assert.Equal((4000L, 1500, 1_300_000_000_007), (files.FileAt(7).Length, files.FileAt(7).ChunkSize, files.FileAt(7).UploadDate));
        byte[] content = Content(files, 7);
        Assert.Equal(GoldenContent, Convert.ToHexStringLower(System.Security.Cryptography.SHA256.HashData(content)));
        Assert.True(files.Matches(7, content, new byte[1500]));
        Assert.False(files.Matches(8, content, new byte[1500]));
        Assert.False(files.Matches(7, content.AsSpan(1), new byte[1500]));
        content[3999] ^= 1;
        Assert.False(files.Matches(7, content, new byte[1500]));
        Assert.NotEqual(content, Content(new GridFsFileSet(43, files.Bucket, 4000), 7));
        ObjectId[] chunkIds = [.. Enumerable.Range(0, 10)
            .SelectMany(number => Enumerable.Range(0, 3).Select(n => files.ChunkIdOf(number, n)))];
        Assert.Equal(chunkIds.Distinct().Order(), chunkIds);
    }

    [Fact]
    public void Putting_together_allocates_nothing_for_a_file_as_long_as_the_last()
    {
        var assembler = new GridFsAssembler();
        byte[][] chunks = Chunks(new byte[100], 40);
        Assert.Equal(0, Allocation.LeastBytes(() =>
        {
            for (int i = 0; i < 100; i++)
            {
                assembler.Start(100, 40);
                foreach (byte[] chunk in chunks)
                    assembler.Add(chunk);
            }
        }));
    }

    private const string GoldenContent = "7de44a03ae370cb497535d02fcacb90e295775e710902df7c3856d36cb52bb74";

    private static byte[] Content(GridFsFileSet files, long number)
    {
        byte[] content = new byte[files.Length];
        for (int offset = 0; offset < content.Length; offset += files.Bucket.ChunkSize)
            files.Fill(number, offset, content.AsSpan(offset, Math.Min(files.Bucket.ChunkSize, content.Length - offset)));
        return content;
    }

    private static byte[][] Chunks(byte[] content, int chunkSize) => [.. content.Chunk(chunkSize).Select((data, n) => Chunk(n, data))];

    private static byte[] Chunk(int n, byte[] data)
    {
        var writer = new BsonWriter();
        GridFsFile.WriteChunk(writer, ChunkId, FileId, n, data);
        return writer.ToArray();
    }
}
