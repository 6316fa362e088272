using MongoPerf.Cli;
using MongoPerf.Engine.Workloads.Scenarios;
using MongoPerf.Scenarios;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Reads scenarios from text.</summary>
internal static class ScenarioTexts
{
    public const string Data = """
        data:
          users:
            count: 1000
            document: {n: ^number, name: ^word}

        """;

    public static ReadScenario Read(string text, ScenarioOverrides? overrides = null) => ScenarioReader.Read(new ScenarioFile("test", "test.yaml", text), overrides ?? ScenarioOverrides.None, 42);

    public static Scenario Scenario(string text, ScenarioOverrides? overrides = null) => Read(text, overrides).Scenario;

    /// <returns>The message and the hint of the refusal.</returns>
    public static (string Message, string Hint) Refusal(string text, ScenarioOverrides? overrides = null)
    {
        UserException refused = Assert.Throws<UserException>(() => Read(text, overrides));
        Assert.Equal(ExitCode.WrongUsage, refused.Code);
        return (refused.Message, refused.Hint ?? "");
    }
}
