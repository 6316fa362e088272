using MongoPerf.Commands;

return StartConditions.AreMet() ? CommandLine.RunAlone(args) : StartConditions.WrongUsage;
