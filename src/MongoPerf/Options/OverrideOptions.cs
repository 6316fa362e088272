using System.CommandLine;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Options;

/// <summary>The options of <see cref="PlanOptions"/> for one command's line.</summary>
internal sealed class OverrideOptions
{
    private readonly Dictionary<PlanOption, Option<object?>> _options = PlanOptions.All.ToDictionary(option => option, Make);

    /// <summary>The option to add to the command.</summary>
    public Option this[PlanOption option] => _options[option];

    /// <inheritdoc cref="this[PlanOption]"/>
    public IEnumerable<Option> In(IReadOnlyList<PlanOption> options) => options.Select(option => _options[option]);

    /// <summary>What was typed of those that the command has.</summary>
    /// <exception cref="UserException">Two of them exclude one another.</exception>
    public PlanOverrides Read(ParseResult parsed)
    {
        var typed = new PlanOverrides();
        foreach (PlanOption option in PlanOptions.All)
        {
            if (parsed.GetValue(_options[option]) is { } value)
                typed = option.With(typed, value);
        }

        PlanOptions.RequireCompatible(typed);
        return typed;
    }

    private static Option<object?> Make(PlanOption option)
    {
        Option<object?> made = OptionTypes.Make<object?>(option.Name, option.Alias, option.Help, option.ValueName, option.Parse);
        if (option.IsList)
            made.Arity = ArgumentArity.OneOrMore;
        return made;
    }
}
