using System.Globalization;
using System.Text.RegularExpressions;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Wire;

/// <summary>Write errors come without the name of their code; the table has the names that the server gives them.</summary>
public sealed partial class ErrorNamesTests
{
    [Theory]
    [InlineData(121, "DocumentValidationFailure")]
    [InlineData(11000, "DuplicateKey")]
    [InlineData(64, "WriteConcernFailed")]
    [InlineData(17280, "OBSOLETE_KeyTooLong")]
    [InlineData(40353, "Location40353")]
    public void A_write_error_is_called_as_the_server_calls_it(int code, string name) =>
        Assert.Equal(name, ServerError.From(BsonDocument.Of(("index", 0), ("code", code), ("errmsg", "no"))).Name);

    [Fact]
    public void A_name_that_came_with_the_error_stays() =>
        Assert.Equal("Mine", ServerError.From(BsonDocument.Of(("code", 121), ("codeName", "Mine"), ("errmsg", "no"))).Name);

    /// <summary>Both the codes that the client tells apart and those that the embedded server answers with.</summary>
    [Fact]
    public void Every_code_in_the_sources_has_the_name_that_stands_beside_it()
    {
        (string File, int Code, string Name)[] all =
        [
            .. RepositoryPaths.SourcesIn("src").SelectMany(file => Pairs().Matches(File.ReadAllText(file)).Select(pair => (
                Path.GetFileName(file), int.Parse(pair.Groups["code"].Value, CultureInfo.InvariantCulture), pair.Groups["name"].Value))),
        ];
        Assert.True(all.Length > 100, $"only {all.Length} codes were found");
        Assert.Empty(all.Where(one => ErrorNames.Of(one.Code) != one.Name).Distinct());
    }

    /// <summary>(121, "DocumentValidationFailure"…) and 121 // DocumentValidationFailure.</summary>
    private const string Code = @"(?<code>[1-9]\d{0,5})";
    private const string Name = "(?<name>(?!Location)[A-Z][A-Za-z]+)";

    [GeneratedRegex($@"\({Code}, ""{Name}""(?=[,)])|\b{Code}(?: }})?;? // {Name}(?= *\r?\n)")]
    private static partial Regex Pairs();
}
