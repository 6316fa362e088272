using System.Buffers.Binary;
using System.IO.Compression;
using System.Text;
using MongoPerf.Load.Documents;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Documents;

/// <summary>
/// The documents of scenarios/series.yaml are part of what a seed means: these bytes must never change, stored collections depend on them.
/// </summary>
public sealed class SeriesDocumentTests
{
    /// <summary>Length, type bytes, names, fixed time and dates are written down from the layout; the hashed parts are frozen.</summary>
    public static TheoryData<long, string, string> Golden() => new()
    {
        {
            0,
            // 1,024 bytes; _id: 1,300,000,000 s, the seed's three bytes, number 0 in five.
            "00040000 07 5f696400 4d7c6d00 54014b 0000000000 10 4e756d62657200 bc500b00 10 4e756d6265723100 32db0200"
            // Date: 1,300,000,000,000 ms; Text: 952 characters and a zero.
            + "09 4461746500 00c809ae2e010000 02 5465787400 b9030000",
            "rZrH_UX9ugFUosMcYJwIb_l4tk-F6QN9bixNMlcmFFNWDrlGtSqMmUuoxU7pvYbgAfgIUSVXKY8xaksD9LwbAUs8AucEvJuZg_Q05amk7ZDkTppWCnr3I7J"
            + "ceYnQNyYQ8ifMEWK-Ha-koxV-3cXBoxUKrRq1b_1Ac-9vMLhM3xq6k1Zdu35QVREGP-9TwpswHuTJw-KO7cpWviMRinBZt45PN26dsZgQtn4KuDV1fPh5n9"
            + "Eu8bWgdJ2Dx7myT4__Ph27zWEd-vILlyVwNDnl2dCKZtDvtKeNTNd4EhsMZ66iG7DIzPrd_Aclx64ocZl7-ww8siDpLZgPMayV8qQuB4PbvNR52LptPeID3"
            + "4cnLpN2zghr2qfuuwgOP1gtQKaHNJg6hw54AklrNfoDxFusr4J2z1ulhJqeXCT7gncUqroSGhFy28wK5AjqY4G3eD6_-c61D-YAYw5XpnXMcUk-VBDMBJ97"
            + "j5DwcTJnO5XBXYhwVbMWmbWk7EgoSSJaViK5XuWGdkaUlyC72yi6epT6zRKQMdlQDJ2LXu63p1toG4BaWdalXi_3xxh-J4VsQdNfQhAne4-rWT92ra-pMP-"
            + "uS6uMNg2rUuszZBIfyErpdGWpfdN-rUldm29wnGHm--zARNLS2QUKaSxluYtGWiWZkVqQNHSG6iGy_ibcTxkcnrKCnZcezsM8KS1pEs5ihuByZYJgnLdF25"
            + "b5Bg22mAqntb8BBHQbzsXL_ZSZs-JdsZSyU90ekRVwBWPikebAJC4tzV1UrxjP8duxU1-OYxkCiuuifxJI4GYwIoXhit-ViGtoSqbx8_vyTRNEhOKCd4ttd"
            + "eB_P0PBlPXgYcUmseh_X2TvT7sfx_qcFTWqNdG4r5m4Dk8L8WxBqryjR50oLv30XpkxSB8W9NbYPPkPIhHFcd5XgwCh8h8kIVHP0Q6DqLP63myfFFpByTZU"
        },
        {
            123_456_789,
            // 123,456,789 is 0x075bcd15.
            "00040000 07 5f696400 4d7c6d00 54014b 00075bcd15 10 4e756d62657200 ddad0300 10 4e756d6265723100 303f0600"
            // 1,300,123,456,789 is 0x12eb5659515.
            + "09 4461746500 159565b52e010000 02 5465787400 b9030000",
            "zbhcSM3Pq70s4Pe7nmZVU0sIbpW1CGFaGtcqBPk4R0jayB1cCspzFZXCsrAIrI0mGyBcd-5ePHpmTTEJkggIMFk6YW4DaUeL2sd5bLtdOhg2-s5v1NApEF5"
            + "SdA_BWgrOL9jNInYFB9qtKHI6cyb8N3tHhauf2hz6mLYaLwUxdC74Kp1wFhKuOfdEBrTBir33zsjJkKiHisJ1dQ_CRknXW9FUgo7Gyp4r2EuUFfaDsRhdzy"
            + "greAkr-4h1UyPXQovaiw0Qqaj7upwKp5HT9NgA03IqOxpSThv2nlylAlQknKgntd__JUiKPaFeaUWM3nlyQ-qA-pxX-lehsg7YsDsUSzVskrk_bdg_k1bXD"
            + "eXSQZYt_t2b2Om0ZyGOjnVTGOjvcLqcypJAD9pK5ebJ32a_l1SLbQzUU6gkaZ8-I8R1pu0bajJcztbcTaT53l_wS5zfK4dHpEm-93rKZ2P9tC0sHycyxRA_"
            + "namsNfIsR5Lkww13_QA2aEeodz5iUzMiE5dAf3XIvhoKbvmSMGNsPZGned_oE80poQMVpSMvyZ1eZ-v212Eeo3G2A7NvpYmKOWBss84dU6xb4wtozWpI1Ju"
            + "3I6lK3T841XASuRf8QxBo3FwUHlcWVCMVBg-RwVJu81z_jf2SZslQaolr0b6lSv2YcX5k8zr8h-f5AlTukilPRaDwtDPMHNClldHtX0P2T77tSyapv1rUo5"
            + "-1msb5QHtaa76f2gBsg9UU7XuEvDaPyOfn--Lf473ww1CsrZUWe4Ldx1j-gOOcAAkuGzasG2xm2guGvZX8FazeK78RoL48Bj-suraMogNfzzCNK7APaGbAx"
            + "Iomx86g510jvlKdKOMmWRup7QNyW7r2PQdWuvn6YsWFtCUAGPU7jICSQIVxXin0R5q1p_XOWvsE-ku-1jrevfz2cktTgeOxdvujMoRAeWf3862ro-Lb7HH6"
        },
    };

    [Theory]
    [MemberData(nameof(Golden))]
    public void A_document_is_these_bytes_on_every_machine(long number, string head, string text)
    {
        // The text's zero and the document's.
        byte[] expected =
        [
            .. Convert.FromHexString(head.Replace(" ", "", StringComparison.Ordinal)), .. Encoding.ASCII.GetBytes(text), 0, 0,
        ];
        Assert.Equal(expected, SeriesFile.Documents().Make(number).Bytes.ToArray());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(37)]
    [InlineData(100)]
    public void A_document_is_valid_bson_of_1024_bytes(int compressibility)
    {
        DocumentTemplate documents = SeriesFile.Documents(7, compressibility);
        foreach (long number in new[] { 0, 1, 999_999, DocumentNumbers.Limit - 1 })
        {
            byte[] document = Make(documents, number);
            BsonValidator.Validate(document);
            Assert.Equal((1024, 1024), (document.Length, BinaryPrimitives.ReadInt32LittleEndian(document)));
            Assert.Equal(["_id", "Number", "Number1", "Date", "Text"], new BsonDocument(document).Select(e => e.Key));
        }
    }

    [Fact]
    public void Dates_and_ids_tell_the_number()
    {
        DocumentTemplate documents = SeriesFile.Documents(99);
        var numbers = new DocumentNumbers(99);
        for (long number = 0; number < 1000; number++)
        {
            BsonDocument document = documents.Make(number);
            Assert.Equal(DocumentNumbers.FirstDate + number, document.FindInt64("Date"));
            Assert.Equal(numbers.IdOf(number), document.Find("_id")!.Value.ToObjectId());
            Assert.Equal(number, documents.Ids.NumberOf(BsonType.ObjectId, document.Find("_id")!.Value.Bytes.Span));
        }

        Assert.True(documents.Ids.AreOrdered(DocumentNumbers.Limit - 1));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(60)]
    public void Patching_any_other_document_gives_the_same_as_writing(int compressibility)
    {
        DocumentTemplate documents = SeriesFile.Documents(5, compressibility);
        byte[] patched = Make(documents, 0);
        PatchPlan patches = PatchPlan.TryMake(documents.Root, patched)!;
        foreach (long number in new[] { 17, 3, DocumentNumbers.Limit - 1, 0, 65_536, 17 })
        {
            patches.Apply(patched, documents.ContextOf(number));
            Assert.Equal(Make(SeriesFile.Documents(5, compressibility), number), patched);
        }
    }

    [Fact]
    public void Filling_text_overwrites_whatever_was_there()
    {
        byte[] dirty = new byte[957];
        dirty.AsSpan().Fill(0xAB);
        byte[] clean = new byte[957];
        var text = new PiecedText(952, 50, 5);
        text.Fill(dirty, new ValueContext(12, 0));
        text.Fill(clean, new ValueContext(12, 0));
        Assert.Equal(clean, dirty);
    }

    [Fact]
    public void Other_seeds_and_numbers_give_other_documents()
    {
        var seen = new HashSet<string>();
        foreach (ulong seed in new ulong[] { 0, 1, 42, ulong.MaxValue })
        {
            DocumentTemplate documents = SeriesFile.Documents(seed);
            for (long number = 0; number < 50; number++)
                Assert.True(seen.Add(Convert.ToHexString(Make(documents, number))));
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Values_are_uniform(bool isUpper)
    {
        const int Documents = 200_000;
        SharedDrawValue value = Draw(isUpper);
        int[] bins = new int[100];
        for (long number = 0; number < Documents; number++)
            bins[value.Compute(new ValueContext(number, 0)) / 10_000]++;
        double expected = Documents / 100.0;
        double chiSquare = bins.Sum(count => (count - expected) * (count - expected) / expected);
        // 99 degrees of freedom: between the quantiles 0.001 and 0.999.
        Assert.InRange(chiSquare, 60, 148.2);
    }

    [Fact]
    public void Number_and_Number1_do_not_go_together()
    {
        SharedDrawValue number = Draw(isUpper: true), number1 = Draw(isUpper: false);
        int bothLow = Enumerable.Range(0, 100_000)
            .Count(n => number.Compute(new ValueContext(n, 0)) < 500_000 && number1.Compute(new ValueContext(n, 0)) < 500_000);
        // A quarter; four standard deviations are 548.
        Assert.InRange(bothLow, 24_452, 25_548);
    }

    [Fact]
    public void Text_compresses_as_the_dial_says()
    {
        double[] ratios = [.. Enumerable.Range(0, 11).Select(tenth => DeflateRatio(tenth * 10))];
        for (int i = 1; i < ratios.Length; i++)
            Assert.True(
                ratios[i] < ratios[i - 1], $"{i * 10} % compresses to {ratios[i]:0.000}, {(i - 1) * 10} % to {ratios[i - 1]:0.000}");
        Assert.InRange(ratios[0], 0.7, 1);
        Assert.InRange(ratios[5], 0.3, 0.6);
        Assert.InRange(ratios[10], 0, 0.08);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(101)]
    public void A_dial_out_of_bounds_is_refused(int compressibility) =>
        Assert.Contains($"^filler: '{compressibility}'",
            Assert.Throws<UserException>(() => SeriesFile.Documents(1, compressibility)).Message, StringComparison.Ordinal);

    [Fact]
    public void A_document_costs_no_allocation()
    {
        DocumentTemplate documents = SeriesFile.Documents(42, 20);
        byte[] document = Make(documents, 0);
        PatchPlan patches = PatchPlan.TryMake(documents.Root, document)!;
        Patch(1000);
        Assert.Equal(0, Allocation.LeastBytes(() => Patch(100_000)));

        void Patch(long count)
        {
            for (long number = 0; number < count; number++)
                patches.Apply(document, documents.ContextOf(number));
        }
    }

    /// <summary>As the file says it.</summary>
    private static SharedDrawValue Draw(bool isUpper) => (SharedDrawValue)SeriesFile.Documents().Find(isUpper ? "Number" : "Number1")!;

    private static double DeflateRatio(int compressibility)
    {
        DocumentTemplate documents = SeriesFile.Documents(42, compressibility);
        using var compressed = new MemoryStream();
        using (var deflate = new DeflateStream(compressed, CompressionLevel.Optimal, leaveOpen: true))
        {
            for (long number = 0; number < 256; number++)
                deflate.Write(Make(documents, number));
        }

        return compressed.Length / (256.0 * SeriesFile.DocumentLength);
    }

    private static byte[] Make(DocumentTemplate documents, long number) => documents.Make(number).Bytes.ToArray();
}
