using MongoPerf.Commands;

if (!StartConditions.AreMet())
    return StartConditions.WrongUsage;
FullCompilation.Require(args);
return CommandLine.RunAlone(args);
