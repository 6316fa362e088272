using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

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

    public static ReadPlan Read(string text, PlanOverrides? overrides = null) =>
        PlanReader.Read(new ScenarioFile("test", "test.yaml", text), overrides ?? new PlanOverrides(), 42);

    public static Plan Plan(string text, PlanOverrides? overrides = null) => Read(text, overrides).Plan;

    /// <returns>The message and the hint of the refusal.</returns>
    public static (string Message, string Hint) Refusal(string text, PlanOverrides? overrides = null)
    {
        UserException refused = Assert.Throws<UserException>(() => Read(text, overrides));
        Assert.Equal(ExitCode.WrongUsage, refused.Code);
        return (refused.Message, refused.Hint ?? "");
    }
}
