using MongoPerf.Cli;

return StartConditions.AreMet() ? CommandLine.RunAlone(args) : StartConditions.WrongUsage;
