using System.CommandLine;
using System.Text;

namespace MongoPerf.Completion;

/// <summary>
/// Scripts by which shells complete the program's command line: the tables of all commands, made from the command tree, in a script that
/// looks them up. The shell itself lists files, so no candidate needs the program.
/// </summary>
internal static class CompletionScript
{
    private const string TablesMark = "@TABLES@";

    /// <summary>Names of the shells.</summary>
    public static IReadOnlyList<string> Shells { get; } = ["bash", "zsh", "fish", "pwsh"];

    /// <param name="shell">One of <see cref="Shells"/>.</param>
    /// <param name="root">Its descriptions are shown by shells that show any.</param>
    public static string Of(string shell, RootCommand root)
    {
        IReadOnlyList<CompletedCommand> commands = CompletedCommand.AllOf(root);
        string tables = shell switch
        {
            "bash" => CaseTables(commands, (name, _) => Quoted(name)) + Resource("sh"),
            // A colon ends the word that is described.
            "zsh" => CaseTables(commands, (name, description) => Quoted($"{name}:{description}")) + Resource("sh"),
            "fish" => FishLines(commands),
            "pwsh" => PowerShellTables(commands),
            _ => throw new ArgumentOutOfRangeException(nameof(shell), shell, "no such shell"),
        };
        return Resource(shell).Replace(TablesMark, tables.TrimEnd('\n'), StringComparison.Ordinal);
    }

    /// <param name="shell">A shell, or sh for what bash and zsh have in common.</param>
    private static string Resource(string shell)
    {
        using Stream stream = typeof(CompletionScript).Assembly.GetManifestResourceStream($"completion.{shell}")!;
        return new StreamReader(stream).ReadToEnd();
    }

    /// <summary>Functions of bash and zsh: the words after a command, and what a value may be. They fail where there is none.</summary>
    /// <param name="commands">All of them.</param>
    /// <param name="word">Makes a quoted word of a name and its description.</param>
    private static string CaseTables(IReadOnlyList<CompletedCommand> commands, Func<string, string, string> word)
    {
        var script = new StringBuilder("_mongoperf_words() {\n  case $1 in\n");
        foreach (CompletedCommand command in commands)
        {
            script.Append($"    {Quoted(command.Path)})\n");
            script.Append($"      commands=({string.Join(' ', command.Commands.Select(one => word(one.Name, one.Description)))})\n");
            IEnumerable<string> options = command.Options.SelectMany(one => one.Names.Select(name => word(name, one.Description)));
            script.Append($"      options=({string.Join(' ', options)}) ;;\n");
        }

        script.Append("    *) return 1 ;;\n  esac\n}\n\n_mongoperf_value() {\n  case $1 in\n");
        foreach ((CompletedValue value, IEnumerable<string> places) in ValuesByPlace(commands))
        {
            script.Append($"    {string.Join(" | ", places.Select(Quoted))})\n");
            script.Append($"      kind={KindText(value)} list={(value.IsList ? "1" : "")} ");
            script.Append($"values=({string.Join(' ', value.Words.Select(Quoted))}) ;;\n");
        }

        return script.Append("    *) return 1 ;;\n  esac\n}\n\n").ToString();
    }

    /// <summary>Lines for fish, which knows what an option is; only what stands in place of a value must be said.</summary>
    private static string FishLines(IReadOnlyList<CompletedCommand> commands)
    {
        var script = new StringBuilder("function __mongoperf_command\n    set -l at\n    for word in (commandline -opc)[2..-1]\n"
            + "        switch \"$at $word\"\n            case ");
        script.Append(string.Join(' ', commands.Where(one => one.Path.Length > 0).Select(one =>
            Quoted(one.Path.Contains(' ') ? one.Path : " " + one.Path))));
        script.Append("\n                set at (string trim \"$at $word\")\n        end\n    end\n    echo $at\nend\n\n");
        foreach (CompletedCommand command in commands)
        {
            string start = $"complete -c mongoperf -n {FishQuoted($"__mongoperf_at {command.Path}".TrimEnd())}";
            foreach (CompletedWord one in command.Commands)
                script.Append($"{start} -a {one.Name} -d {FishQuoted(one.Description)}\n");
            foreach (CompletedValue argument in command.Arguments)
                script.Append($"{start}{FishValue(argument)}\n");
            foreach (CompletedOption option in command.Options)
            {
                script.Append(start);
                foreach (string name in option.Names)
                    script.Append(name.StartsWith("--", StringComparison.Ordinal) ? $" -l {name[2..]}" : $" -s {name[1..]}");
                script.Append(option.Value is { } value ? $" -x{FishValue(value)}" : "").Append($" -d {FishQuoted(option.Description)}\n");
            }
        }

        return script.ToString();
    }

    private static string FishValue(CompletedValue value)
    {
        string words = string.Join(' ', value.Words.Select(FishQuoted));
        string listed = value.Kind switch
        {
            ValueKind.Files => "(__fish_complete_path (__mongoperf_token))",
            ValueKind.Folders => "(__fish_complete_directories (__mongoperf_token))",
            ValueKind.Runs => "(__mongoperf_list (__mongoperf_runs))",
            ValueKind.Scenarios => $"(__mongoperf_scenarios {words})",
            ValueKind.Plots => $"(__mongoperf_yaml {words})",
            ValueKind.Deployments => "(__mongoperf_deployments)",
            _ when words.Length == 0 => "",
            _ when value.IsList => $"(__mongoperf_list {words})",
            _ => $"(printf '%s\\n' {words})",
        };
        return listed.Length == 0 ? "" : $" -a {FishQuoted(listed)}";
    }

    private static string PowerShellTables(IReadOnlyList<CompletedCommand> commands)
    {
        var script = new StringBuilder("$commands = @{\n");
        foreach (CompletedCommand command in commands)
        {
            script.Append($"  {PowerShellQuoted(command.Path)} = [ordered]@{{ ");
            script.Append(string.Join("; ", command.Commands.Select(one => Pair(one.Name, one.Description)))).Append(" }\n");
        }

        script.Append("}\n$options = @{\n");
        foreach (CompletedCommand command in commands)
        {
            script.Append($"  {PowerShellQuoted(command.Path)} = [ordered]@{{\n");
            foreach (CompletedOption option in command.Options)
                script.Append($"    {string.Join("; ", option.Names.Select(name => Pair(name, option.Description)))}\n");
            script.Append("  }\n");
        }

        script.Append("}\n$values = @{\n");
        foreach ((CompletedValue value, IEnumerable<string> places) in ValuesByPlace(commands))
        {
            string made = $"@{{ Kind = '{KindText(value)}'; IsList = ${(value.IsList ? "true" : "false")}; "
                + $"Words = @({string.Join(", ", value.Words.Select(PowerShellQuoted))}) }}";
            foreach (string place in places)
                script.Append($"  {PowerShellQuoted(place)} = {made}\n");
        }

        return script.Append("}\n").ToString();

        static string Pair(string name, string description) => $"{PowerShellQuoted(name)} = {PowerShellQuoted(description)}";
    }

    /// <summary>
    /// Values with the places where they stand: a command and an option ("series --out"), or an argument's number ("report 1"); * for any
    /// number from there on ("compare *").
    /// </summary>
    private static IEnumerable<(CompletedValue Value, IEnumerable<string> Places)> ValuesByPlace(IReadOnlyList<CompletedCommand> commands)
    {
        var all =
            from command in commands
            from place in command.Options.SelectMany(option => option.Names.Select(name => (Name: name, option.Value)))
                .Concat(command.Arguments.Select((value, index) =>
                    (Name: command.RepeatsArgument && index == command.Arguments.Count - 1 ? "*" : $"{index + 1}",
                        Value: (CompletedValue?)value)))
            where place.Value is not null
            select (place.Value, Place: $"{command.Path} {place.Name}");
        return
            from one in all
            group one by $"{one.Value.Kind} {one.Value.IsList} {string.Join('\n', one.Value.Words)}" into same
            select (same.First().Value, same.Select(one => one.Place));
    }

    private static string KindText(CompletedValue value) => value.Kind.ToString().ToLowerInvariant();

    /// <summary>The text quoted for bash and zsh.</summary>
    private static string Quoted(string text) => $"'{text.Replace("'", "'\\''", StringComparison.Ordinal)}'";

    private static string FishQuoted(string text) =>
        $"'{text.Replace("\\", "\\\\", StringComparison.Ordinal).Replace("'", "\\'", StringComparison.Ordinal)}'";

    private static string PowerShellQuoted(string text) => $"'{text.Replace("'", "''", StringComparison.Ordinal)}'";
}
