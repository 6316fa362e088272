using System.Text;

namespace MongoPerf.Mutation;

/// <summary>Writes a file's text with mutants in it: each asks whether it is on, and all else is as it was.</summary>
internal sealed class Renderer
{
    /// <summary>What mutated code calls.</summary>
    public const string Question = "global::MongoPerf.Mutation.Mutant.Is";

    private readonly string _text;
    private readonly (int Start, int End, (int Id, Mutation Mutation)[] Mutants)[] _places;
    private int _next;

    public Renderer(string text, IReadOnlyList<(int Id, Mutation Mutation)> mutants)
    {
        _text = text;
        _places = [.. mutants.GroupBy(m => (m.Mutation.Start, m.Mutation.End)).OrderBy(g => g.Key.Start).ThenByDescending(g => g.Key.End)
            .Select(g => (g.Key.Start, g.Key.End, g.OrderBy(m => m.Mutation.Placing != Placing.BlockStart).ThenBy(m => m.Id).ToArray()))];
    }

    public string Render() => Between(0, _text.Length);

    private string Between(int start, int end)
    {
        StringBuilder written = new();
        int at = start;
        while (_next < _places.Length && _places[_next].Start >= start && _places[_next].End <= end)
        {
            var place = _places[_next++];
            written.Append(_text, at, place.Start - at);
            string inner = Between(place.Start, place.End);
            foreach ((int id, Mutation mutation) in place.Mutants) inner = Wrap(id, mutation, inner);
            written.Append(inner);
            at = place.End;
        }
        return written.Append(_text, at, end - at).ToString();
    }

    private static string Wrap(int id, Mutation mutation, string inner) => mutation.Placing switch
    {
        Placing.Expression when mutation.Type is null => $"({Question}({id}) ? ({mutation.Text}) : ({inner}))",
        Placing.Expression => $"(({mutation.Type})({Question}({id}) ? ({mutation.Text}) : ({inner})))",
        Placing.Negation => $"({Question}({id}) ^ ({inner}))",
        Placing.Statement when mutation.Text.Length == 0 => $"{{ if (!{Question}({id})) {{ {inner} }} }}",
        Placing.Statement => $"{{ if ({Question}({id})) {{ {mutation.Text} }} else {{ {inner} }} }}",
        Placing.BlockStart => $"{{ if ({Question}({id})) {{ {mutation.Text} }} {inner[1..]}",
        Placing.VoidBody => $"{{ if (!{Question}({id})) {{ {inner[2..]} }} }}",
        _ => throw new ArgumentOutOfRangeException(nameof(mutation)),
    };
}
