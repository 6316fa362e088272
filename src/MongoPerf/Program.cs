using MongoPerf.Cli;

return StartConditions.AreMet() ? CommandLine.Run(args) : StartConditions.WrongUsage;
