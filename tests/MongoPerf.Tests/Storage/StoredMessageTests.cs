using System.Text.Json;
using MongoPerf.Storage;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Storage;

/// <summary>Statements that lie in run.db as codes with arguments.</summary>
public sealed class StoredMessageTests
{
    private static readonly (StoredMessage Message, string English, string Chinese)[] Messages =
    [
        (
            new(MessageCode.ValueReplaced, "count", "usertable", "20,000", "--records", "$(recordcount)"),
            "count of 'usertable': 20,000 (--records, the file says $(recordcount))",
            "'usertable' 的 count：20,000（--records，文件中为 $(recordcount)）"
        ),
        (
            new(MessageCode.ValueReplaced, "to", "", "100", "--target", ""),
            "to: 100 (--target, the file says nothing)",
            "to：100（--target，文件中为 无）"
        ),
        (
            new(MessageCode.CountsAndMemoryScaled, "0.001", "total=1k", "file", "1M", "hot=2", "--set", "2k"),
            "counts, memory and caches: times 0.001 (--scale), so total=1k (file: 1M); hot=2 (--set: 2k)",
            "数量、内存和缓存：乘以 0.001（--scale），即 total=1k (文件: 1M); hot=2 (--set: 2k)"
        ),
        (new(MessageCode.CountsScaled, "2"), "counts: times 2 (--scale)", "数量：乘以 2（--scale）"),
        (new(MessageCode.DataOfRun, "a"), "data: as loaded by run a", "数据：由运行 a 载入"),
        (
            new(MessageCode.DocumentsChanged, "update", "a", "usertable"),
            "operation 'update' of phase 'a' changes documents of 'usertable'",
            "阶段 'a' 的操作 'update' 会修改 'usertable' 的文档"
        ),
        (
            new(MessageCode.DocumentsChanged, "update", "a", "c"),
            "operation 'update' of phase 'a' changes documents of 'c'",
            "阶段 'a' 的操作 'update' 会修改 'c' 的文档"
        ),
        (
            new(MessageCode.ValueReplaced, "count", "c", "2", "--records", "1"),
            "count of 'c': 2 (--records, the file says 1)",
            "'c' 的 count：2（--records，文件中为 1）"
        ),
        (
            new(MessageCode.DocumentsChanged, "update", "a", ""),
            "operation 'update' of phase 'a' changes documents of any collection",
            "阶段 'a' 的操作 'update' 会修改任意集合的文档"
        ),
        (
            new(MessageCode.ShortWindow, "0.5 s", "100k"),
            "each query runs for 0.5 s at each size, the default for targets under 100k, which is enough for a first look; "
                + "--window 5s gives firmer figures",
            "在每个规模下每个查询只运行 0.5 s，这是目标不足 100k 时的默认值，足以初步了解；--window 5s 得到更可靠的数字"
        ),
    ];

    [Fact]
    public void A_message_is_stored_without_its_language_and_read_in_any() => Assert.All(Messages, one =>
    {
        (StoredMessage message, string english, string chinese) = one;
        string stored = RunJson.Write(message);
        Assert.DoesNotContain("the file says", stored, StringComparison.Ordinal);
        StoredMessage read = RunJson.Read<StoredMessage>(stored);
        Assert.Equal(english, read.Text);
        using (Words.In(Language.Chinese))
        {
            Assert.Equal(chinese, read.Text);
            Assert.Equal(english, read.ToString());
        }
    });

    [Fact]
    public void Every_code_has_a_sentence() =>
        Assert.Empty(Enum.GetValues<MessageCode>().Except(Messages.Select(one => one.Message.Code)).Except([MessageCode.Sentence]));

    [Fact]
    public void A_sentence_of_an_earlier_version_is_shown_as_it_is()
    {
        PlanSettings stored = RunJson.Read<PlanSettings>(
            """{"name": "a", "path": "a.yaml", "text": "", "changes": ["counts: times 2 (--scale)", "bell\u0007"]}""");
        using (Words.In(Language.Chinese))
            Assert.Equal(["counts: times 2 (--scale)", "bell?"], stored.Changes.Select(change => change.Text));
    }

    [Theory]
    [InlineData("""{"code": "ValueReplaced", "arguments": ["to"]}""")]
    [InlineData("""{"code": "CountsScaled", "arguments": []}""")]
    [InlineData("""{"code": "CountsScaled", "arguments": ["2", "total=1k"]}""")]
    [InlineData("""{"code": "DocumentsChanged", "arguments": ["a", "b"]}""")]
    [InlineData("""{"code": "Unheard", "arguments": ["a"]}""")]
    [InlineData("""{"arguments": ["a"]}""")]
    [InlineData("7")]
    public void A_message_that_no_run_stores_is_damage(string stored) =>
        Assert.Throws<JsonException>(() => RunJson.Read<StoredMessage>(stored));
}
