using System.CommandLine;
using MongoPerf.Completion;
using MongoPerf.Options;

namespace MongoPerf.Commands;

/// <summary><c>completion bash|zsh|fish|pwsh</c>: prints a script by which a shell completes this command line.</summary>
internal static class CompletionCommand
{
    public static Command Create()
    {
        var command = new Command("completion", "Print a script that lets your shell complete commands, options, run ids and scenarios")
        {
            new Command("bash", "For bash: mongoperf completion bash > ~/.local/share/bash-completion/completions/mongoperf"),
            new Command("zsh", "For zsh: mongoperf completion zsh > _mongoperf, in a folder of $fpath"),
            new Command("fish", "For fish: mongoperf completion fish > ~/.config/fish/completions/mongoperf.fish"),
            new Command("pwsh", "For PowerShell: mongoperf completion pwsh > mongoperf.ps1, which $PROFILE runs"),
        };
        foreach (Command shell in command.Subcommands)
            shell.Runs(_ => Console.Out.Write(CompletionScript.Of(shell.Name, LanguageOption.Translated(CommandTree.Build()))));
        return command;
    }
}
