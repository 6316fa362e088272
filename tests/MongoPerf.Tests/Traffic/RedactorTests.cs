using MongoPerf.Storage;
using System.Text;
using System.Text.RegularExpressions;
using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Proxying;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Traffic.Redacting;
using MongoPerf.Traffic.Replaying;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Traffic;

/// <summary>No value of a request is in a redacted recording, and yet it can be replayed: shapes, lengths and equality stay.</summary>
public sealed class RedactorTests : IDisposable
{
    private static readonly Permutation Permutation = new(0x0706050403020100, 0x0F0E0D0C0B0A0908);
    private static readonly Pseudonyms Pseudonyms = new(Permutation);

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    /// <summary>Source: the paper's appendix A, and the reference implementation's vectors.</summary>
    [Fact]
    public void Hashes_are_those_of_SipHash()
    {
        byte[] bytes = [.. Enumerable.Range(0, 15).Select(i => (byte)i)];
        Assert.Equal(0xA129CA6149BE45E5, Permutation.Hash(bytes));
        Assert.Equal(0x726FDB47DD0E0E31UL, Permutation.Hash([]));
        Assert.Equal(Permutation.Hash([.. bytes, 15]), Permutation.Hash(0x0706050403020100, 0x0F0E0D0C0B0A0908));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(10)]
    [InlineData(26)]
    [InlineData(1000)]
    [InlineData(6760)]
    public void Each_number_below_a_bound_becomes_another_one_below_it(int bound)
    {
        Assert.Equal(Enumerable.Range(0, bound).Select(i => (ulong)i),
            Enumerable.Range(0, bound).Select(i => Permutation.Of((ulong)i, (ulong)bound, 5)).Order());
        Assert.True(Permutation.Of((1UL << 62) - 1, 1UL << 62, 5) < 1UL << 62);
    }

    /// <summary>Computed by another program from the definition: eight rounds of Feistel over SipHash-2-4, and cycle walking.</summary>
    [Fact]
    public void Permutations_are_those_of_their_definition()
    {
        Assert.Equal([1UL, 0, 0, 1, 1, 0, 1, 0], Enumerable.Range(0, 8).Select(tweak => Permutation.Of(0, 2, (ulong)tweak)));
        Assert.Equal([2UL, 2, 0, 1, 1, 2, 1, 2], Enumerable.Range(0, 8).Select(tweak => Permutation.Of(0, 3, (ulong)tweak)));
        Assert.Equal([0UL, 3, 2, 8, 9, 6, 1, 7, 4, 5], Enumerable.Range(0, 10).Select(i => Permutation.Of((ulong)i, 10, 5)));
        Assert.Equal(0xB26D388F59C11UL, Permutation.Of(123_456_789, 1UL << 52, 5));
        foreach ((double number, ulong bits) in ((double, ulong)[])
            [(0.5, 0x3FE5594258B8482A), (-0.25, 0xBFDFBD081887C844), (19.99, 0x403746B942DD8C7F), (1e300, 0x7E32F2263553C3DC)])
            Assert.Equal(bits, BitConverter.ToUInt64(Replaced(BsonType.Double, BitConverter.GetBytes(number))));
        foreach ((string number, string expected) in ((string, string)[])
            [("19.99", "20.71"), ("-19.99", "-62.22"), ("0.5", "0.4"), ("1.2345678901234567890123", "3.2821561955954534481244"),
                ("-12345678901234567890123", "-32821464356891944113134")])
            Assert.Equal(expected, OfDecimal(number).ToString());
        Assert.Equal("260EE89ADBE8DA0078D8EB00", Convert.ToHexString(
            Replaced(BsonType.ObjectId, [.. Enumerable.Range(1, 12).Select(i => (byte)i)])));
        Assert.Equal("C1C27883FC331E73", Convert.ToHexString(
            Replaced(BsonType.Timestamp, [.. Enumerable.Range(1, 8).Select(i => (byte)i)])));
    }

    /// <summary>Those that end in zero are equal to shorter ones.</summary>
    [Fact]
    public void Decimals_of_some_digits_become_others_of_as_many_and_no_two_the_same()
    {
        string[] fractions = [.. Enumerable.Range(100, 900).Where(i => i % 10 != 0).Select(i => $"{i / 100}.{i % 100:00}")];
        string[] replaced = [.. fractions.Select(text => OfDecimal(text).ToString())];
        Assert.Equal(fractions.Length, replaced.Distinct().Count());
        Assert.All(replaced, text => Assert.True(text.Length == 4 && text[^1] != '0', text));
        // Of a whole number a zero at the end is a digit as any other.
        string[] whole = [.. Enumerable.Range(0, 40).Select(i => OfDecimal($"10000000000000000{i:00}").ToString())];
        Assert.Equal(40, whole.Distinct().Count());
        Assert.Equal(2, whole.Count(text => text.EndsWith('0')));
    }

    [Fact]
    public void Numbers_keep_type_sign_and_digits_and_equal_ones_stay_equal()
    {
        long[] numbers = [0, 9, 10, 99, 100, 12_345, 999_999_999, 1_000_000_000, int.MaxValue, int.MaxValue + 1L, 99_999_999_999,
            123_456_789_012_345, 1_000_000_000_000_000_000, long.MaxValue, 6_000_000_000_000_000_000, -1, -77, int.MinValue, long.MinValue];
        foreach (long number in numbers)
        {
            long replaced = BitConverter.ToInt64(Replaced(BsonType.Int64, BitConverter.GetBytes(number)));
            Assert.Equal(number < 0, replaced < 0);
            if (number >= 0)
                Assert.Equal($"{number}".Length, $"{replaced}".Length);
            if (number is >= int.MinValue and <= int.MaxValue)
                Assert.Equal(replaced, BitConverter.ToInt32(Replaced(BsonType.Int32, BitConverter.GetBytes((int)number))));
            if (Math.Abs((double)number) < 1e15)
                Assert.Equal(replaced, BitConverter.ToDouble(Replaced(BsonType.Double, BitConverter.GetBytes((double)number))));
            if (Math.Abs((double)number) < 1e17)
            {
                byte[] bytes = new byte[16];
                Decimal128.Of(number < 0, (UInt128)Int128.Abs(number), 0).CopyTo(bytes);
                Assert.Equal(replaced, Decimal128.FromBytes(Replaced(BsonType.Decimal128, bytes)).ToInt64());
            }
        }
    }

    [Fact]
    public void Fractions_stay_fractions_and_decimals_that_are_equal_stay_equal()
    {
        foreach (double number in (double[])[0.5, -0.25, 19.99, 1e-300, 4e-324, 123456.75, 1.5e15, 1e300, -3.14])
        {
            double replaced = BitConverter.ToDouble(Replaced(BsonType.Double, BitConverter.GetBytes(number)));
            Assert.Equal(Math.Sign(number), Math.Sign(replaced));
            Assert.NotEqual(number, replaced);
            if (Math.Abs(number) < 1e15)
                Assert.NotEqual(replaced, Math.Truncate(replaced));
        }

        foreach (double kept in (double[])[double.NaN, double.PositiveInfinity])
            Assert.Equal(kept, BitConverter.ToDouble(Replaced(BsonType.Double, BitConverter.GetBytes(kept))));
        Assert.Equal(OfDecimal("1.5").ToDouble(), OfDecimal("1.5000").ToDouble());
        Assert.Equal(OfDecimal("5E+2").ToDouble(), OfDecimal("500").ToDouble());
        Assert.Equal(OfDecimal("0.00").ToDouble(), OfDecimal("0").ToDouble());
        Assert.NotEqual("1.23456789012345678901234567890123", OfDecimal("1.23456789012345678901234567890123").ToString());
        Assert.Equal(34, $"{OfDecimal("9999999999999999999999999999999999")}".Length);
    }

    [Fact]
    public void Texts_keep_length_and_kinds_of_characters_and_short_ones_are_never_mixed_up()
    {
        string[] texts =
            ["", "a", "Anna", "Anna-Lena Müller, 4. OG", "2024-01-05", "王小明", "🦊 fox", "x\u0001y", new string('q', 5000),
                "a\u0001b" + new string('Z', 100)];
        foreach (string text in texts)
        {
            string replaced = OfText(text);
            Assert.Equal(Encoding.UTF8.GetByteCount(text), Encoding.UTF8.GetByteCount(replaced));
            Assert.Equal(KindsOf(text), KindsOf(replaced));
            Assert.Equal(replaced, OfText(text));
            if (text.Length > 1)
                Assert.NotEqual(text, replaced);
        }

        // Not one character of a long text is its own; by chance one of 26 is.
        Assert.All(Enumerable.Range(0, 40), at => Assert.InRange(
            Enumerable.Range(0, 26).Count(i => OfText(new string((char)('a' + i), 40))[at] == 'a' + i), 0, 8));
        Assert.Equal(2600, Enumerable.Range(0, 2600).Select(i => OfText($"{(char)('a' + i % 26)}{i / 26:00}")).Distinct().Count());
        // On both sides of the surrogates, which are no characters.
        string beside = string.Concat(Enumerable.Range(0, 60).Select(i => (char)(i % 2 == 0 ? 0xD7FF - i : 0xE000 + i)));
        Assert.Equal(60, OfText(beside).EnumerateRunes().Count(rune => rune.Utf8SequenceLength == 3 && rune.Value != 0xFFFD));
        // Each character of a long text is moved by an amount of its own within its kind, so that all of the kind are used.
        Assert.Equal(26, OfText(new string('q', 2000)).Distinct().Count());
        Assert.Equal(10, OfText(new string('7', 2000)).Distinct().Count());
        byte[] broken = Replaced(BsonType.String, [4, 0, 0, 0, 0xC3, 0x28, (byte)'a', 0]);
        Assert.Equal("?(", Encoding.ASCII.GetString(broken, 4, 2));

        static string OfText(string text) => Encoding.UTF8.GetString(Replaced(BsonType.String, StringOf(text)).AsSpan(4..^1));

        static string KindsOf(string text) => string.Concat(text.EnumerateRunes().Select(rune => rune.Value switch
        {
            >= '0' and <= '9' => "9", >= 'a' and <= 'z' => "a", >= 'A' and <= 'Z' => "A",
            >= 0x80 => $"<{rune.Utf8SequenceLength}>", _ => rune.ToString(),
        }));
    }

    [Fact]
    public void Other_types_become_others_of_their_kind()
    {
        byte[] id = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        Assert.NotEqual(id, Replaced(BsonType.ObjectId, id));
        Assert.Equal(500, Enumerable.Range(0, 500)
            .Select(i => Convert.ToHexString(Replaced(BsonType.ObjectId, [.. id[..8], .. BitConverter.GetBytes(i)])))
            .Distinct().Count());
        foreach (DateTime date in (DateTime[])[new(2024, 5, 1), new(1969, 1, 1), DateTime.UnixEpoch])
        {
            long time = new DateTimeOffset(date, TimeSpan.Zero).ToUnixTimeMilliseconds();
            long replaced = BitConverter.ToInt64(Replaced(BsonType.DateTime, BitConverter.GetBytes(time)));
            Assert.NotEqual(time, replaced);
            Assert.Equal(time >> 36, replaced >> 36);
        }

        byte[] binary = [20, 0, 0, 0, 0, .. Enumerable.Repeat((byte)7, 20)];
        byte[] other = Replaced(BsonType.Binary, binary);
        Assert.Equal(binary[..5], other[..5]);
        Assert.NotEqual(binary, other);
        Assert.Equal(256, Enumerable.Range(0, 256).Select(i => Replaced(BsonType.Binary, [1, 0, 0, 0, 0, (byte)i])[5]).Distinct().Count());
        byte[] old = [6, 0, 0, 0, 2, 2, 0, 0, 0, 9, 9];
        Assert.Equal(old[..9], Replaced(BsonType.Binary, old)[..9]);
        Assert.Equal([0, 0, 0, 0, 5], Replaced(BsonType.Binary, [0, 0, 0, 0, 5]));
        Assert.Equal([1], Replaced(BsonType.Boolean, [1]));
    }

    [Theory]
    [InlineData(@"^Smith\d{2,3}[a-z]+\.$", @"^\^[A-Z][a-z]{4}\\d\{2,3\}\[a-z\]\+\\\.\$$")]
    [InlineData(@"(?i)anna|otto", @"^\(\?i\)[a-z]{4}\|[a-z]{4}$")]
    [InlineData(@"(?<name>x", @"^\(\?<name>[a-z]$")]
    [InlineData(@"open[", @"^[a-z]{4}\[$")]
    [InlineData("end\\", @"^[a-z]{3}\\$")]
    [InlineData(@"{secret}", @"^\{[a-z]{6}\}$")]
    [InlineData(@"{7secret", @"^\{[0-9][a-z]{6}$")]
    [InlineData(@"(?|secret)(?#secret)(?secret", @"^\(\?\|[a-z]{6}\)\(\?\#[a-z]{6}\)\(\?[a-z]{6}$")]
    [InlineData(@"(?<=secret)(?!secret)", @"^\(\?<=[a-z]{6}\)\(\?![a-z]{6}\)$")]
    [InlineData(@"\p{Lu}secret", @"^\\p\{Lu\}[a-z]{6}$")]
    [InlineData(@"\P{Lu}secret\g{name}secret\k{name}", @"^\\P\{Lu\}[a-z]{6}\\g\{name\}[a-z]{6}\\k\{name\}$")]
    [InlineData(@"[a-z]secret[^]x]secret", @"^\[a-z\][a-z]{6}\[\^\][a-z]\][a-z]{6}$")]
    [InlineData(@"(?'name'secret)\dsecret\u{secret}", @"^\(\?'[a-z]{4}'[a-z]{6}\)\\d[a-z]{6}\\u\{[a-z]{6}\}$")]
    public void Of_a_pattern_only_what_it_looks_for_is_replaced(string pattern, string expected)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(pattern);
        Pseudonyms.ReplacePattern(bytes);
        string replaced = Encoding.UTF8.GetString(bytes);
        Assert.Matches(expected, replaced);
        Assert.NotEqual(pattern, replaced);
        Assert.DoesNotContain("secret", replaced, StringComparison.Ordinal);
    }

    /// <summary>A checksum would no longer be right.</summary>
    [Fact]
    public void A_redacted_message_has_no_checksum()
    {
        BsonDocument command = Json("""{"find":"a","filter":{"name":"Secret-7"},"$db":"d"}""");
        byte[] message = [.. TrafficFile.MessageOf(5, 0, command, OpMsgFlags.ChecksumPresent | OpMsgFlags.ExhaustAllowed), 1, 2, 3, 4];
        new MessageHeader(message.Length, 5, 0, OpCode.Msg).Write(message);
        Assert.True(new Redactor().TryRedact(message, out ReadOnlySpan<byte> redacted));
        Assert.Equal(new MessageHeader(message.Length - 4, 5, 0, OpCode.Msg), MessageHeader.Read(redacted));
        Assert.Equal(message.Length - 4, redacted.Length);
        Assert.Equal(OpMsgFlags.ExhaustAllowed, OpMsg.Parse(redacted).Flags);
        Assert.Equal(command.Bytes.Length, OpMsg.Parse(redacted).Body.Length);
    }

    /// <summary>They say what coordinates mean; a value that happens to be such a word is a value.</summary>
    [Fact]
    public void Only_the_type_of_a_shape_keeps_its_word()
    {
        BsonDocument document = Redacted(new Redactor(), Json(
            """{"insert":"a","documents":[{"at":{"type":"Point"},"name":"Point","type":"Private","n":{"type":77777}}],"$db":"d"}"""))
            .FindDocument("documents.0")!;
        Assert.Equal("Point", document.FindString("at.type"));
        Assert.NotEqual("Point", document.FindString("name"));
        Assert.NotEqual("Private", document.FindString("type"));
        Assert.NotEqual(77777, document.FindInt64("n.type"));
    }

    /// <summary>What stands in “…” is data; all else must be found again.</summary>
    [Theory]
    [InlineData("""
        {"find":"orders","filter":{"sku":"~","n":{"$gt":@,"$exists":true,"$type":"string"},"$or":[{"a":"~"},{"b":{"$in":["~",
        "~"]}}],"$expr":{"$eq":["$x","~"]},"r":{"$regex":"~","$options":"i"},"tags":{"$size":3}},"sort":{"date":-1},"limit":17,
        "batchSize":19,"projection":{"sku":1,"l":{"$slice":5},"e":{"$elemMatch":{"q":"~"}}},"hint":"sku_1","comment":"~",
        "min":{"sku":"~"},"$db":"shop"}
        """)]
    [InlineData("""
        {"aggregate":"orders","pipeline":[{"$match":{"sku":"~"}},{"$group":{"_id":"$sku","n":{"$sum":1},
        "t":{"$push":{"$concat":["$a","~"]}}}},{"$lookup":{"from":"items","localField":"a","foreignField":"b","as":"items",
        "let":{"v":"$c"},"pipeline":[{"$match":{"d":"~"}},{"$limit":3}]}},{"$project":{"a":1,
        "d":{"$dateToString":{"format":"%Y","date":"$d"}},"z":{"$cond":[{"$gte":["$n",@]},"~","$y"]}}},{"$sort":{"n":-1}},
        {"$limit":7},{"$facet":{"one":[{"$match":{"x":"~"}},{"$count":"total"}]}},{"$merge":{"into":"sums",
        "whenMatched":[{"$set":{"a":"~","b":"$$new.b"}}]}},{"$unionWith":"others"},{"$bucketAuto":{"groupBy":"$x",
        "buckets":4}}],"cursor":{"batchSize":11},"$db":"shop"}
        """)]
    [InlineData("""
        {"update":"orders","updates":[{"q":{"_id":@},"u":{"$set":{"name":"~","sub":{"c":["~"]}},"$push":{"l":{"$each":["~"],
        "$slice":-5,"$position":0}},"$pop":{"p":1},"$rename":{"old":"new"},"$pull":{"m":{"$in":["~"]}}},
        "arrayFilters":[{"e.x":"~"}],"multi":true,"upsert":false},{"q":{"a":"~"},"u":[{"$set":{"b":"~","c":"$d"}}]},{"q":{},
        "u":{"whole":"~"}}],"ordered":false,"$db":"shop"}
        """)]
    [InlineData("""
        {"insert":"orders","documents":[{"_id":@,"name":"~","at":{"type":"Point","coordinates":[1.5,2.5]},"$sort":"~"}],
        "writeConcern":{"w":"majority"},"$db":"shop"}
        """)]
    [InlineData("""{"findAndModify":"orders","query":{"a":"~"},"update":{"$inc":{"n":@}},"new":true,"fields":{"a":1},"$db":"shop"}""")]
    [InlineData("""{"distinct":"orders","key":"sku","query":{"a":"~"},"$db":"shop"}""")]
    [InlineData("""{"delete":"orders","deletes":[{"q":{"a":"~"},"limit":1}],"$db":"shop"}""")]
    [InlineData("""{"explain":{"find":"orders","filter":{"a":"~"},"limit":3},"verbosity":"queryPlanner","$db":"shop"}""")]
    [InlineData("""
        {"createIndexes":"orders","indexes":[{"key":{"a":1},"name":"a_1","expireAfterSeconds":3600,
        "partialFilterExpression":{"b":"~"}}],"comment":"~","$db":"shop"}
        """)]
    [InlineData("""
        {"create":"orders","capped":true,"size":4096,"max":100,"validator":{"a":{"$in":["~"]},"$jsonSchema":{"required":["a"]}},
        "$db":"shop"}
        """)]
    [InlineData("""
        {"bulkWrite":1,"ops":[{"insert":0,"document":{"a":"~"}},{"update":0,"filter":{"a":"~"},"updateMods":{"$set":{"b":"~"}},
        "multi":true}],"nsInfo":[{"ns":"shop.orders"}],"$db":"admin"}
        """)]
    [InlineData("""{"unheardOf":"orders","values":["~"],"b":{"c":@},"$db":"shop"}""")]
    [InlineData("""{"currentOp":1,"command.filter.name":"~","$ownOps":true,"$db":"admin"}""")]
    [InlineData("""{"dataSize":"shop.orders","keyPattern":{"a":1},"min":{"a":"~"},"max":{"a":@},"maxSize":9,"$db":"shop"}""")]
    [InlineData("""{"usersInfo":{"user":"~","db":"~"},"$db":"admin"}""")]
    [InlineData("""{"usersInfo":["~"],"$db":"admin"}""")]
    [InlineData("""
        {"aggregate":"orders","pipeline":[{"$setWindowFields":{"partitionBy":"$a","sortBy":{"d":1},"output":{"window":{"$push":"~"},
        "sum":{"$sum":1,"window":{"documents":["unbounded","current"]}}}}},{"$densify":{"field":"d","partitionByFields":["a"],
        "range":{"step":1,"unit":"day","bounds":["~",@]}}},{"$densify":{"field":"d","range":{"step":5,"bounds":"full"}}},
        {"$fill":{"output":{"q":{"method":"linear"},"r":{"value":"~"}}}},
        {"$match":{"$expr":{"$regexMatch":{"input":"$a","regex":"$b","options":"i"}}}}],"$db":"shop"}
        """)]
    [InlineData("""
        {"aggregate":"orders","pipeline":[{"$project":{"h":{"$hour":{"date":"$d","timezone":"Europe/Berlin"}},
        "w":{"$dayOfWeek":{"date":"$d","timezone":"UTC"}},"y":{"$year":{"date":"$d","timezone":"UTC"}},
        "t":{"$dateTrunc":{"date":"$d","unit":"week","binSize":2,"startOfWeek":"monday"}},
        "f":{"$filter":{"input":"$l","as":"one","cond":{"$eq":["$$one.a","~"]},"limit":3}},
        "m":{"$map":{"input":"$l","as":"two","in":{"$concat":["$$two","~"]}}},
        "s":{"$setField":{"field":"price","input":"$$ROOT","value":"~"}},"u":{"$unsetField":{"field":"price","input":"$$ROOT"}},
        "g":{"$getField":"price"},"r":{"$regexFind":{"input":"$a","regex":"$b","options":"ix"}},
        "x":{"$regexFindAll":{"input":"~","regex":"$b"}},"n":{"$firstN":{"input":"$l","n":4}},
        "z":{"$sortArray":{"input":"$l","sortBy":{"a":-1}}},"c":{"$convert":{"input":"$a","to":"int"}},
        "e":{"$arrayElemAt":["$l",2]},"o":{"$meta":"textScore"},"l":{"$literal":"~"},"i":{"$minute":"$d"}}}],"$db":"shop"}
        """)]
    public void Values_go_and_what_a_command_is_made_of_stays(string template)
    {
        const string Value = "Secret-7";
        const string Number = "7654321";
        BsonDocument before = Json(template.Replace("~", Value, StringComparison.Ordinal).Replace("@", Number, StringComparison.Ordinal));
        BsonDocument after = Redacted(new Redactor(), before);
        string text = ExtendedJson.Write(after.Bytes);
        Assert.DoesNotContain(Value, text, StringComparison.Ordinal);
        Assert.DoesNotContain(Number, text, StringComparison.Ordinal);
        Assert.Equal(before.Bytes.Length, after.Bytes.Length);
        // The same value by the same one, so that putting both back gives what was there.
        string pseudonym = Regex.Match(text, "[A-Z][a-z]{5}-[0-9]").Value;
        string number = Regex.Match(text, "(?<![0-9])[1-9][0-9]{6}(?![0-9])").Value;
        string back = pseudonym.Length == 0 ? text : text.Replace(pseudonym, Value, StringComparison.Ordinal);
        back = number.Length == 0 ? back : back.Replace(number, Number, StringComparison.Ordinal);
        // Patterns are replaced as patterns, coordinates as any fraction.
        Assert.Equal(Plain(ExtendedJson.Write(before.Bytes)), Plain(back));

        static string Plain(string json) => Regex.Replace(
            Regex.Replace(json, "[0-9]+\\.[0-9]+", "#"), "(\"(?:\\$regex|pattern)\": ?\")[A-Z][a-z]{5}-[0-9]\"", "$1#\"");
    }

    /// <summary>GridFS asked for a file's checksum by the file's id.</summary>
    [Fact]
    public void A_value_beside_the_name_of_a_command_goes_and_what_no_path_is_keeps_no_dollar_text()
    {
        var id = new ObjectId(0x01020304, 5);
        Assert.Equal(-1, Redacted(new Redactor(), BsonDocument.Of(("filemd5", id), ("$db", "d"))).Bytes.IndexOf(new byte[] { 1, 2, 3, 4 }));
        Assert.DoesNotContain("$Secret", ExtendedJson.Write(Redacted(new Redactor(), Json(
            """{"aggregate":"a","pipeline":[{"$search":{"text":{"query":"$Secret","path":"a"}}}],"$db":"d"}""")).Bytes),
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("""{"find":"a","filter":{"$where":"this.secret == 1"},"$db":"d"}""")]
    [InlineData("""{"mapReduce":"a","map":"function() {}","reduce":"function() {}","out":{"inline":1},"$db":"d"}""")]
    [InlineData("""{"aggregate":"a","pipeline":[{"$group":{"_id":{"$function":{"body":"x","args":[],"lang":"js"}}}}],"$db":"d"}""")]
    [InlineData("""{"insert":"a","documents":[{"f":{"$code":"secret()"}}],"$db":"d"}""")]
    [InlineData("""{"$eval":{"$code":"secret()"},"$db":"d"}""")]
    public void Code_is_not_stored(string command) =>
        Assert.False(new Redactor().TryRedact(TrafficFile.MessageOf(1, 0, Json(command)), out _));

    [Fact]
    public void A_redacted_recording_replays_the_same_shapes_and_has_no_value()
    {
        byte[] documents = BsonDocument.Of(("_id", 1), ("name", "Secret-7")).Bytes.ToArray();
        byte[][] messages =
        [
            TrafficFile.MessageOf(1, 0, BsonDocument.Of(("insert", "orders"), ("$db", "shop")), OpMsgFlags.None, ("documents", documents)),
            TrafficFile.MessageOf(2, 0, Json("""{"find":"orders","filter":{"name":"Secret-7"},"sort":{"name":1},"$db":"shop"}""")),
            TrafficFile.MessageOf(3, 0, Json("""{"find":"orders","filter":{"$where":"Secret-7"},"$db":"shop"}""")),
        ];
        string path = _folder.At("a.rec");
        using (var recorder = new TrafficRecorder(path, redacts: true))
        {
            foreach (byte[] message in messages)
                recorder.Add(1, true, message);
            recorder.Add(1, false, CaptureTests.Found(2, 1));
            recorder.Dispose();
            Assert.Equal((2, 1), (recorder.Requests, recorder.Unredactable));
        }

        Assert.True(File.ReadAllBytes(path).AsSpan().IndexOf("Secret"u8) < 0);
        using Recording recording = Recording.Open(path);
        var pseudonyms = new List<string>();
        while (recording.TryRead(out RecordedMessage message))
        {
            if (message.Reply is { } reply)
            {
                Assert.Equal((1, 0UL), (reply.Reply.Documents, reply.Hash));
                continue;
            }

            OpMsg parsed = OpMsg.Parse(message.Message);
            foreach (DocumentSequence sequence in parsed.Sequences)
                pseudonyms.Add(new BsonDocument(sequence.Documents.ToArray()).FindString("name")!);
            if (new BsonDocument(parsed.Body.ToArray()).FindString("filter.name") is { } sought)
                pseudonyms.Add(sought);
        }

        Assert.Equal(2, pseudonyms.Count);
        Assert.Equal(pseudonyms[0], pseudonyms[1]);
        using Recording again = Recording.Open(path);
        Assert.Equal(["find shop.orders {name} sort name", "insert shop.orders"],
            ReplayScriptReader.Read(again, new ReplaySettings()).Shapes.Select(shape => shape.Name).Order());
    }

    /// <summary>Hostile requests end in an exception that skips them, never in another one.</summary>
    [Fact]
    public void What_is_nested_too_deeply_is_no_request()
    {
        BsonDocument nested = BsonDocument.Of(("a", 1));
        for (int i = 0; i < 300; i++)
            nested = BsonDocument.Of(("a", nested));
        Assert.ThrowsAny<BsonFormatException>(() => new Redactor().TryRedact(TrafficFile.MessageOf(1, 0, BsonDocument.Of(
            ("find", "a"), ("filter", nested), ("$db", "d"))), out _));
    }

    private static BsonDocument Redacted(Redactor redactor, BsonDocument command)
    {
        Assert.True(redactor.TryRedact(TrafficFile.MessageOf(5, 0, command), out ReadOnlySpan<byte> message));
        return new BsonDocument(OpMsg.Parse(message).Body.ToArray());
    }

    private static Decimal128 OfDecimal(string text)
    {
        Assert.True(Decimal128.TryParse(text, out Decimal128 value));
        byte[] bytes = new byte[16];
        value.CopyTo(bytes);
        return Decimal128.FromBytes(Replaced(BsonType.Decimal128, bytes));
    }

    private static BsonDocument Json(string json) => ExtendedJson.Parse(json);

    private static byte[] StringOf(string text)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(text);
        return [.. BitConverter.GetBytes(bytes.Length + 1), .. bytes, 0];
    }

    private static byte[] Replaced(BsonType type, byte[] value)
    {
        byte[] copy = (byte[])value.Clone();
        Pseudonyms.Replace(type, copy);
        return copy;
    }
}
