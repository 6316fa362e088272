using System.CommandLine;
using MongoPerf.Manual;
using MongoPerf.Options;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>man DIR</c>: writes the manual, a page for each command.</summary>
internal static class ManCommand
{
    public static Command Create()
    {
        var folder = new Argument<string>("DIR") { Description = "Folder to write into, such as ~/.local/share/man/man1" };
        var command = new Command("man", "Write man pages: mongoperf.1 and one for each command, such as mongoperf-run.1") { folder };
        command.Runs(parsed =>
        {
            string named = parsed.GetValue(folder)!;
            if (named.Length == 0)
                throw new UserException(ExitCode.WrongUsage, "DIR is empty");
            if (File.Exists(named))
                throw new UserException(ExitCode.WrongUsage, $"{named} is a file; a folder is expected");
            Directory.CreateDirectory(named);
            IReadOnlyList<ManPage> pages = ManPage.AllOf(LanguageOption.Translated(CommandTree.Build()));
            foreach (ManPage page in pages)
                OwnFiles.Replace(Path.Combine(named, page.FileName), output => output.Write(page.Text));
            Console.WriteLine($"{Units.Counted(pages.Count, "man page")} written to {named}; to read one: "
                + $"man {CommandText.Quoted(Path.Combine(CommandText.OfPath(Path.GetFullPath(named)), pages[0].FileName))}");
        });
        return command;
    }
}
