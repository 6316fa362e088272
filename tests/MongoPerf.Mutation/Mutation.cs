using System.Text.Json.Serialization;

namespace MongoPerf.Mutation;

/// <summary>How a mutant is put in place of what it changes.</summary>
internal enum Placing
{
    /// <summary>An expression, instead of an expression.</summary>
    Expression,

    /// <summary>The opposite of a Boolean expression, which is evaluated once either way.</summary>
    Negation,

    /// <summary>Statements (perhaps none), instead of a statement.</summary>
    Statement,

    /// <summary>What a block begins with.</summary>
    BlockStart,

    /// <summary>Nothing, instead of the expression that a member without a result consists of.</summary>
    VoidBody,
}

/// <summary>A change to a line of a source file.</summary>
/// <param name="File">The file, from the repository's root.</param>
/// <param name="Start">Where what is changed begins: characters from the start of the file.</param>
/// <param name="End">Where it ends.</param>
/// <param name="Placing">How it is put in place.</param>
/// <param name="Text">What takes its place.</param>
/// <param name="Type">The type to which both are converted, as C# writes it; null where they need none.</param>
/// <param name="Operator">What kind of change it is.</param>
/// <param name="Line">The line, from 1.</param>
/// <param name="Original">What was there, for people.</param>
/// <param name="Mutated">What is there now, for people.</param>
/// <param name="Context">The whole line, without blanks at its ends, by which it is found again when lines have moved.</param>
internal sealed record Mutation(
    string File, int Start, int End, Placing Placing, string Text, string? Type,
    string Operator, int Line, string Original, string Mutated, string Context)
{
    /// <summary>What the mutant has in common with itself after lines around it changed.</summary>
    [JsonIgnore]
    public string Key => string.Join('\n', File, Context, Operator, Original, Mutated);
}
