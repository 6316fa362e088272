using System.Text;
using MongoPerf.Commands;

if (!StartConditions.AreMet())
    return StartConditions.WrongUsage;
FullCompilation.Require(args);
// The code page that a Windows console begins with has neither arrows nor Chinese.
if (OperatingSystem.IsWindows())
    Console.OutputEncoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false);
return CommandLine.RunAlone(args);
