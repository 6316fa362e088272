using MongoPerf.Load.Documents;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Documents;

public sealed class DocumentNumbersTests
{
    private static readonly long[] Samples = [0, 1, 255, 256, 65_535, 123_456_789, 1L << 32, DocumentNumbers.Limit - 1];

    [Fact]
    public void Ids_increase_with_the_number()
    {
        var numbers = new DocumentNumbers(42);
        for (int i = 1; i < Samples.Length; i++)
            Assert.True(numbers.IdOf(Samples[i - 1]) < numbers.IdOf(Samples[i]));
    }

    [Fact]
    public void Ids_increase_byte_by_byte_as_a_server_compares_them()
    {
        var numbers = new DocumentNumbers(42);
        byte[] lower = new byte[ObjectId.Size];
        byte[] upper = new byte[ObjectId.Size];
        for (int i = 1; i < Samples.Length; i++)
        {
            numbers.IdOf(Samples[i - 1]).CopyTo(lower);
            numbers.IdOf(Samples[i]).CopyTo(upper);
            Assert.True(lower.AsSpan().SequenceCompareTo(upper) < 0);
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(42)]
    [InlineData(ulong.MaxValue)]
    public void The_number_is_read_back_from_the_id(ulong seed)
    {
        var numbers = new DocumentNumbers(seed);
        foreach (long number in Samples)
            Assert.Equal(number, numbers.NumberOf(numbers.IdOf(number)));
    }

    [Fact]
    public void Ids_of_other_seeds_and_of_strangers_carry_no_number()
    {
        var numbers = new DocumentNumbers(42);
        Assert.Equal(-1, numbers.NumberOf(new DocumentNumbers(43).IdOf(5)));
        Assert.Equal(-1, numbers.NumberOf(new ObjectId(numbers.IdOf(5).High + 1, numbers.IdOf(5).Low)));
        Assert.Equal(-1, numbers.NumberOf(ObjectId.Parse("5e0be100abcdef0000000000")));
    }

    [Fact]
    public void The_limit_itself_is_no_documents_id()
    {
        var numbers = new DocumentNumbers(42);
        Assert.True(numbers.IdOf(DocumentNumbers.Limit) > numbers.IdOf(DocumentNumbers.Limit - 1));
        Assert.Equal(-1, numbers.NumberOf(numbers.IdOf(DocumentNumbers.Limit)));
    }
}
