using MongoPerf.Cli;

return CommandLine.Run(args);
