using System.Text.RegularExpressions;
using MongoPerf.Server.Commands;
using MongoPerf.Server.Commands.Aggregation;
using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Commands.Sharding;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>docs/embedded-server.md says what the server's own tables say, and what the server does.</summary>
public sealed class EmbeddedServerDocumentTests : ServerTest
{
    private const int NotImplemented = 238;

    [Fact]
    public void Its_commands_are_those_of_the_command_table() =>
        Assert.Equal(CommandTable.Names.Order(StringComparer.Ordinal),
            Names("Commands", 2).Concat(Names("Commands", 3)).Order(StringComparer.Ordinal));

    [Fact]
    public void Its_commands_as_a_mongos_are_those_of_the_router()
    {
        Assert.Equal(RouterCommands.OwnNames.Order(StringComparer.Ordinal), Names("Router's commands", 2));
        Assert.Equal(RouterCommands.Refused.Order(StringComparer.Ordinal), Names("Router's commands", 3));
    }

    [Fact]
    public void Commands_that_it_says_are_refused_are()
    {
        foreach (string name in Names("Commands", 3))
            Fails($"{{'{name}': 1}}", NotImplemented, "does not support " + name, "admin");
    }

    [Fact]
    public void What_it_says_is_refused_is_what_the_parsers_refuse()
    {
        Assert.Equal(FilterCompiler.MongoOperators.Order(StringComparer.Ordinal), Names("Filters", 3));
        Assert.Equal(StageParser.MongoStages.Order(StringComparer.Ordinal), Names("Stages", 3));
        Assert.Equal(GroupStage.MongoAccumulators.Order(StringComparer.Ordinal), Names("Accumulators", 3));
        Assert.Equal(ExpressionParser.MongoExpressions.Order(StringComparer.Ordinal), Names("Expressions", 3));
    }

    [Fact]
    public void Every_function_is_listed() => Assert.Empty(FunctionOperators.Names.Except(Names("Expressions", 2)));

    /// <summary>Whatever else may be wrong with the command, it is not that the name is unknown.</summary>
    [Theory]
    [InlineData("Filters", "{'find': 'c', 'filter': {'$and': [{'a': {'NAME': 1}}]}}", 2, "unknown operator")]
    [InlineData("Stages", "{'aggregate': 'c', 'pipeline': [{'NAME': 1}], 'cursor': {}}", 40324, "Unrecognized pipeline stage")]
    [InlineData("Accumulators", "{'aggregate': 'c', 'pipeline': [{'$group': {'_id': 1, 'x': {'NAME': {}}}}], 'cursor': {}}",
        15952, "unknown group operator")]
    [InlineData("Expressions", "{'find': 'c', 'projection': {'x': {'NAME': 1}}}", 31325, "Unknown expression")]
    [InlineData("Updates", "{'update': 'c', 'updates': [{'q': {}, 'u': {'NAME': 1}}]}", 9, "Unknown modifier")]
    public void What_it_says_is_answered_is_known(string row, string command, int codeOfUnknown, string textOfUnknown)
    {
        BsonDocument unknown = Run(command.Replace("NAME", "$nosuch", StringComparison.Ordinal));
        Assert.Equal(codeOfUnknown, Code(unknown));
        foreach (string name in Names(row, 2).Except(["$and", "$or", "$nor", "$expr", "$comment", "$options"]))
        {
            BsonDocument reply = Run(command.Replace("NAME", name, StringComparison.Ordinal));
            Assert.False(
                Code(reply) == NotImplemented
                || (Code(reply) == codeOfUnknown && Text(reply).Contains(textOfUnknown, StringComparison.Ordinal)),
                $"{name}: {ExtendedJson.Write(reply.Bytes)}");
        }
    }

    [Fact]
    public void A_command_that_is_not_listed_is_not_found()
    {
        foreach (string name in (string[])["mapReduce", "renameCollection", "currentOpX", "saslStart"])
            Assert.Equal(Names("Commands", 2).Contains(name), Code(Run($"{{'{name}': 1}}")) != 59);
    }

    private static long? Code(BsonDocument reply) => reply.FindInt64("code") ?? reply.FindInt64("writeErrors.0.code");

    private static string Text(BsonDocument reply) => reply.FindString("errmsg") ?? reply.FindString("writeErrors.0.errmsg") ?? "";

    /// <summary>The names in one cell of the table of lists, in their order.</summary>
    private static string[] Names(string row, int column)
    {
        string line = File.ReadLines(Path.Combine(RepositoryPaths.Root, "docs/embedded-server.md"))
            .First(text => text.StartsWith($"| {row} |", StringComparison.Ordinal));
        return [.. Regex.Matches(line.Split('|')[column], "`([^`]+)`")
            .Select(match => match.Groups[1].Value).Order(StringComparer.Ordinal)];
    }
}
