using MongoPerf.Cli;

// System.Text.Json would compile an accessor for each property that a run's records have, a quarter of a second of a command's start; by
// reflection they are fast enough. MongoDB's driver, which a resumed run may use, is measured with its expressions compiled.
if (!args.Any(static argument => argument == "resume" || argument.Contains("driver", StringComparison.OrdinalIgnoreCase)))
    AppContext.SetSwitch("System.Runtime.CompilerServices.RuntimeFeature.IsDynamicCodeSupported", false);
return StartConditions.AreMet() ? CommandLine.RunAlone(args) : StartConditions.WrongUsage;
