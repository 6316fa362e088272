using MongoPerf.Reports;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Reports;

/// <summary>Sentences of the engine and of scenarios that lie in a run.</summary>
public sealed class StoredTextTests
{
    private const string Changed = "count of 'usertable': 20,000 (--records, the file says $(recordcount))";
    private const string NotVerified = "operation 'update' of phase 'a' changes documents of 'usertable'";

    [Fact]
    public void Stored_sentences_are_translated_and_their_names_are_not()
    {
        using IDisposable chinese = Words.In(Language.Chinese);

        Assert.Equal("count of 'usertable': 20,000（--records，文件中为 $(recordcount)）", StoredText.OfChange(Changed));
        Assert.Equal("数量、内存和缓存：乘以 0.001（--scale），即 total=1k (file: 1M)",
            StoredText.OfChange("counts, memory and caches: times 0.001 (--scale), so total=1k (file: 1M)"));
        Assert.Equal("数量：乘以 2（--scale）", StoredText.OfChange("counts: times 2 (--scale)"));
        Assert.Equal("阶段 'a' 的操作 'update' 会修改 'usertable' 的文档", StoredText.OfNotVerified(NotVerified));
        Assert.Equal("阶段 'a' 的操作 'update' 会修改 任意集合 的文档",
            StoredText.OfNotVerified("operation 'update' of phase 'a' changes documents of any collection"));
    }

    [Theory]
    [InlineData(Changed)]
    [InlineData("counts, memory and caches: times 0.001 (--scale), so total=1k (file: 1M)")]
    [InlineData("counts: times 2 (--scale)")]
    [InlineData("what a later version says")]
    public void In_English_and_of_another_form_they_are_as_stored(string stored)
    {
        Assert.Equal(stored, StoredText.OfChange(stored));
        Assert.Equal(stored + "!", StoredText.OfNotVerified(stored + "!"));
        Assert.Equal(NotVerified, StoredText.OfNotVerified(NotVerified));
    }
}
