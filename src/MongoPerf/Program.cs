Console.WriteLine("MongoPerf");
