using System.Diagnostics;
using System.Text;
using MongoPerf.Commands;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>
/// The program's commands in the tests' own process, several at once: most of what a short run costs in a process of its own is compiling.
/// </summary>
/// <remarks>
/// The servers that a run starts are processes as ever. What ends or measures the program's own process needs
/// <see cref="ProgramRun.Start"/>.
/// </remarks>
internal static class ProgramHere
{
    private static readonly AsyncLocal<(Said Output, Said Errors)?> Current = new();

    static ProgramHere()
    {
        // What a developer has set or installed must not change what tests find; programs that are started inherit it from here.
        _ = MongodBinary.SkipReason;
        foreach (string name in (string[])["MONGOPERF_URI", "MONGOPERF_MONGOD", "NO_COLOR"])
            Environment.SetEnvironmentVariable(name, null);
        Environment.SetEnvironmentVariable("MONGOPERF_SERVERS", "/nonexistent/servers");
        Environment.SetEnvironmentVariable("XDG_CONFIG_HOME", "/nonexistent/config");
        Environment.SetEnvironmentVariable("MONGOPERF_CHARTS", "none");
        Environment.SetEnvironmentVariable(
            "PATH", string.Join(Path.PathSeparator, (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator)
                .Where(static folder => !File.Exists(Path.Combine(folder, "mongod")))));
        Console.SetOut(new Switch(Console.Out, static said => said.Output));
        Console.SetError(new Switch(Console.Error, static said => said.Errors));
    }

    /// <summary>Sets the process up, once; what is started before gets the environment of whoever started the tests.</summary>
    public static void Prepare() => _ = Current.Value;

    /// <summary>Runs a command to its end. A command that does not end in time is left behind.</summary>
    public static ProgramResult Run(string[] arguments, TimeSpan limit)
    {
        (Said Output, Said Errors) said = (new Said(), new Said());
        int code = 0;
        long start = Stopwatch.GetTimestamp();
        // A thread of its own: what it and its threads say is told apart by the context that they inherit.
        var thread = new Thread(() =>
        {
            Current.Value = said;
            code = CommandLine.Run(arguments);
        }) { IsBackground = true, Name = "program" };
        thread.Start();
        Assert.True(thread.Join(limit), $"not ended after {limit.TotalSeconds:0} s\n--- stdout\n{said.Output}\n--- stderr\n{said.Errors}");
        return new ProgramResult(code, said.Output.ToString(), said.Errors.ToString(), Stopwatch.GetElapsedTime(start));
    }

    /// <summary>Of one command; its threads write one after the other.</summary>
    private sealed class Said
    {
        private readonly StringBuilder _text = new();

        public Said() => Writer = TextWriter.Synchronized(new StringWriter(_text) { NewLine = "\n" });

        public TextWriter Writer { get; }

        /// <summary>Synchronized writers lock themselves.</summary>
        public override string ToString()
        {
            lock (Writer)
                return _text.ToString();
        }
    }

    /// <summary>To the command that the writing thread works for; of the tests themselves where there is none.</summary>
    private sealed class Switch(TextWriter otherwise, Func<(Said Output, Said Errors), Said> of) : TextWriter
    {
        public override Encoding Encoding => Encoding.UTF8;

        private TextWriter Target => Current.Value is { } said ? of(said).Writer : otherwise;

        public override void Write(char value) => Target.Write(value);

        public override void Write(char[] buffer, int index, int count) => Target.Write(buffer, index, count);

        public override void Write(ReadOnlySpan<char> buffer) => Target.Write(buffer);

        public override void Write(string? value) => Target.Write(value);

        public override void WriteLine(string? value) => Target.WriteLine(value);
    }
}
