using System.Reflection;
using System.Text.RegularExpressions;
using MongoPerf.Commands;
using MongoPerf.Load.Plans;
using MongoPerf.Server;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests;

/// <summary>
/// What .editorconfig says of namespaces and names: as a part of every build this check would take a quarter of its time.
/// </summary>
public sealed partial class ConventionTests
{
    private static readonly EnumerationOptions OfAnyCase = new() { MatchCasing = MatchCasing.CaseInsensitive };

    [Fact]
    public void Namespaces_are_those_of_files() => Assert.Empty(
        from folder in (string[])["src", "tests"]
        from path in RepositoryPaths.SourcesIn(folder)
        where BlockNamespace().IsMatch(File.ReadAllText(path))
        select path);

    [Fact]
    public void Private_fields_begin_with_an_underscore_and_constants_with_a_capital_letter() => Assert.Empty(
        from file in Directory.GetFiles(AppContext.BaseDirectory, "mongoperf*.dll", OfAnyCase)
        where !file.EndsWith("Tests.dll", StringComparison.Ordinal)
        let assembly = Assembly.LoadFrom(file)
        from type in assembly.GetTypes()
        where !type.FullName!.Contains('<', StringComparison.Ordinal) && !type.FullName.StartsWith("System.", StringComparison.Ordinal)
        from field in type.GetFields(BindingFlags.DeclaredOnly | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static)
        where field.IsPrivate && !field.Name.Contains('<', StringComparison.Ordinal) && type.GetEvent(field.Name) is null
        where !(field.IsLiteral || (field.IsStatic && field.IsInitOnly) ? Constant() : Field()).IsMatch(field.Name)
        select $"{type}.{field.Name}");

    /// <summary>Text in raw strings is data, which is as long as it is.</summary>
    [Fact]
    public void Lines_end_at_140_columns() => Assert.Empty(
        from folder in (string[])["src", "tests"]
        from path in RepositoryPaths.SourcesIn(folder)
        from line in LinesOutsideRawStrings(path)
        where line.Text.Length > 140
        select $"{path}:{line.Number} has {line.Text.Length} columns");

    private static IEnumerable<(int Number, string Text)> LinesOutsideRawStrings(string path)
    {
        bool isInside = false;
        foreach ((int index, string text) in File.ReadLines(path).Index())
        {
            // Those of a verbatim string begin none.
            int quotes = text.Contains("@\"") ? 0 : text.Split("\"\"\"").Length - 1;
            if (!isInside && quotes == 0)
                yield return (index + 1, text);
            isInside ^= quotes % 2 == 1;
        }
    }

    [GeneratedRegex(@"^namespace [\w.]+\s*(\{|$)", RegexOptions.Multiline)]
    private static partial Regex BlockNamespace();

    [GeneratedRegex("^[A-Z]")]
    private static partial Regex Constant();

    [GeneratedRegex("^_[a-z]")]
    private static partial Regex Field();
}
