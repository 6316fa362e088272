using MongoPerf.Texts;

namespace MongoPerf.Tests.Texts;

public sealed class CommandTextTests
{
    [Theory]
    [InlineData("mongoperf run q4 --repeat 3 --no-report --quiet", "run q4 --repeat 15", "--repeat 15")]
    [InlineData("mongoperf run q4 --repeat=3 --full --threads 1", "run q4 --threads 1 --repeat 15", "--repeat 15")]
    [InlineData("mongoperf series --cache 1GB --out 'my runs --cache'", "series --out 'my runs --cache'", "--cache")]
    [InlineData("mongoperf series --target 1M", "series --step 1M --target 4M", "--step 1M", "--target 4M")]
    public void A_call_is_made_again_with_other_values_of_its_options(string call, string again, params string[] options) =>
        Assert.Equal($"{CommandText.Program} {again}", CommandText.Again(call, options));

    [Theory]
    [InlineData("'mongoperf list runs' shows all runs", "'./mongoperf list runs' shows all runs")]
    [InlineData("no file 'mongoperf.yaml' for mongoperf", "no file 'mongoperf.yaml' for mongoperf")]
    public void A_hint_calls_the_program_as_it_was_called(string hint, string shown) =>
        Assert.Equal(shown, CommandText.Typed(hint, "./mongoperf"));

    [Fact]
    public void An_option_is_never_given_twice() => Assert.Equal(
        $"{CommandText.Program} run q4 --repeat 15", CommandText.Again("mongoperf run q4 --repeat 3 --repeat 5", "--repeat 15"));
}
