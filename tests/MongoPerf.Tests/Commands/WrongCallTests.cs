using MongoPerf.Commands;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Commands;

/// <summary>These tests redirect the console, which is one for the whole process.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class ConsoleTests
{
    public const string Name = "console";
}

/// <summary>Calls that can't be meant: exit code 2, a line that names what was found, and nothing left behind.</summary>
[Collection(ConsoleTests.Name)]
public sealed class WrongCallTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData("", "no command given")]
    [InlineData("serie --target 1M", "did you mean 'series'?")]
    [InlineData("elephant", "unknown command 'elephant'")]
    [InlineData("list", "")]
    [InlineData("list runz", "did you mean 'runs'?")]
    [InlineData("series", "--target is missing")]
    [InlineData("series --taget 1M", "did you mean '--target'?")]
    [InlineData("series --target", "--target")]
    [InlineData("series --target 1M --elephants", "unknown option '--elephants' of 'series'")]
    [InlineData("series --target 1M --elephants=secret", "unknown option '--elephants' of 'series'")]
    [InlineData("run q4 --password:secret", "unknown option '--password' of 'run'")]
    [InlineData("run q4 --password:secret", "did you mean '--password-file'?")]
    [InlineData("compare --password=secret a b", "unknown option '--password' of 'compare'")]
    [InlineData("series --target lots", "--target: 'lots' is not a count")]
    [InlineData("run", "run: SCENARIO is missing")]
    [InlineData("run series --records 5", "--records: the scenario grows its collections\nhint:  use --target")]
    [InlineData("run six-nodes --records 5",
        "--records: the scenario loads 5 collections (ordered, hashed, whole1, whole2, whole3); it has to load exactly one")]
    [InlineData("list", "list: no command given\nhint:  allowed: runs, scenarios, plots, phases, metrics")]
    [InlineData("show doc", "unknown command 'doc' of 'show'\nhint:  allowed: document, command")]
    [InlineData("series --target 0", "--target: '0' is out of range; allowed: 1")]
    [InlineData("series --target -5", "")]
    [InlineData("series --target 1.5", "--target: '1.5' is not a whole number")]
    [InlineData("series --target 1M 2M", "unexpected argument '2M'")]
    [InlineData("run q4 --agents-within 5s --topology null", "--agents-within only applies with --agents")]
    [InlineData("run q4 --agents 2 --agents-within 0", "--agents-within: '0' is out of range; allowed: more than 0s, at most 8760h")]
    [InlineData("learn --budget 500ms -o a.yaml", "--budget: '500ms' is out of range; allowed: 1s to 8760h")]
    [InlineData("learn --budget 64mb,1B -o a.yaml", "--budget: '1B' is 1 bytes; allowed: 1MB or more")]
    [InlineData("learn --budget 5k,1d,10k -o a.yaml", "--budget: '5k,1d,10k' has two counts; allowed: one of each")]
    [InlineData("series --target 1M --step 0", "--step: '0' is out of range")]
    [InlineData("series --target 1M --shares 50/50", "--shares: '50/50' is not three percentages")]
    [InlineData("series --target 1M --shares 50/50/50", "--shares: '50/50/50' is not three percentages that add up to 100")]
    [InlineData("series --target 1M --shares 150/-50/0", "--shares:")]
    [InlineData("series --target 1M --tests q4,q44", "did you mean 'q4'?")]
    [InlineData("series --target 1M --tests ,", "--tests: ',' is an empty list")]
    [InlineData("series --target 1M --tests q4,q4", "--tests: 'q4,q4' lists a value twice")]
    [InlineData("series --target 1M --threads 0", "--threads: '0' is out of range")]
    [InlineData("series --target 1M --threads 1,x", "--threads: 'x' is not a count")]
    [InlineData("series --target 1M --threads 20000", "--threads: '20000' is out of range; allowed: 1 to 10,000")]
    [InlineData("series --target 1M --threads ,", "--threads: ',' is an empty list")]
    [InlineData("series --target 1M --batch 200000", "--batch: '200000' is out of range; allowed: ")]
    [InlineData("series --target 1M --window 5", "--window: '5' is not a duration such as 90s")]
    [InlineData("series --target 1M --window 0s", "--window is 0")]
    [InlineData("series --target 1M --window 2s --warmup 3s", "--warmup is 3 s of a window of 2 s")]
    [InlineData("series --target 1M --verify 5", "--verify: '5' is not valid; allowed: all, none, or a percentage")]
    [InlineData("series --target 1M --verify 101%", "--verify: '101%'")]
    [InlineData("series --target 1M --compressibility 101", "--compressibility: '101' is out of range; allowed: ")]
    [InlineData("series --target 1M --ordered maybe", "--ordered: 'maybe' is not valid; allowed: true, false")]
    [InlineData("series --target 1M --seed -1", "--seed")]
    [InlineData("series --target 1M --rate 0", "--rate: '0' is out of range")]
    [InlineData("series --target 1M --max-errors few", "--max-errors: 'few' is not a count")]
    [InlineData("series --target 1M --format yaml", "--format: 'yaml' is not valid; allowed: text, json, csv, markdown")]
    [InlineData("series --target 1M --topology ring", "--topology: 'ring' is not valid; allowed: standalone, replicaset, sharded, null")]
    [InlineData("series --target 1M --shard-key hashed", "--shard-key only applies to a sharded collection")]
    [InlineData("series --target 1M --presplit 6 --topology single", "--presplit only applies to a sharded collection")]
    [InlineData("series --target 1M --preset 2011", "--preset only applies to a sharded collection")]
    [InlineData("run q4 --balancer off --topology null", "--balancer only applies to a sharded collection")]
    [InlineData(
        "series --target 1M --topology sharded --shard-key a:b", "--shard-key: 'a:b' is not a shard key field; allowed: hashed, FIELD")]
    [InlineData("series --target 1M --topology sharded --shard-key _id,Number:hashed", "--shard-key:")]
    [InlineData("series --target 1M --topology sharded --presplit 9000", "--presplit: '9000' is out of range; allowed: 1 to 8,192")]
    [InlineData("series --target 1M --topology sharded --chunk-size 100KB",
        "--chunk-size: '100KB' is not a chunk size; allowed: whole megabytes from 1MB to 1GB")]
    [InlineData("series --target 1M --topology sharded --chunk-size 2GB", "--chunk-size: '2GB' is not a chunk size")]
    [InlineData("series --target 1M --topology sharded --balancer sometimes",
        "--balancer: 'sometimes' is not valid; allowed: on, off, or a window such as 22:00-06:00")]
    [InlineData("series --target 1M --topology sharded --balancer 25:00-06:00", "--balancer: '25:00-06:00'")]
    [InlineData("series --target 1M --topology sharded --balancer 06:00-06:00", "--balancer: '06:00-06:00'")]
    [InlineData("series --target 1M --topology sharded --preset 2012", "--preset: '2012' is not valid; allowed: 2011")]
    [InlineData("series --target 1M --topology sharded --shards 0", "--shards: '0' is out of range; allowed: 1")]
    [InlineData("series --target 1M --topology sharded --shards 65", "--shards: '65' is out of range; allowed: 1 to 64")]
    [InlineData("series --target 1M --topology sharded --members 4", "--members: '4' is out of range; allowed: 1 to 3")]
    [InlineData("series --target 1M --topology sharded --memory-limit little", "--memory-limit: 'little' is not a size")]
    [InlineData("series --target 1M --shards 3", "--shards only applies to a cluster that MongoPerf starts")]
    [InlineData("series --target 1M --topology sharded --uri mongodb://host --members 2",
        "--members only applies to a cluster or replica set that MongoPerf starts")]
    [InlineData("series --target 1M --topology null --memory-limit none",
        "--topology null stores nothing and can't be combined with --memory-limit")]
    [InlineData("series --target 1M --cluster /nosuch --shards 3",
        "--cluster names an existing cluster; --shards only applies to one that MongoPerf starts")]
    [InlineData("series --target 1M --cluster /nosuch --cache 1GB", "--cache only applies to one that MongoPerf starts")]
    [InlineData(
        "series --target 1M --cluster /nosuch --uri mongodb://host", "--cluster names the deployment and can't be combined with --uri")]
    [InlineData("series --target 1M --cluster /nosuch --topology single", "can't be combined with --topology standalone")]
    [InlineData("series --target 1M --cluster /nosuch", "no cluster in /nosuch")]
    [InlineData("series --target 1M --topology sharded --mongod /nosuch/mongod", "--mongod: /nosuch/mongod does not exist")]
    [InlineData("run q4 --cluster /nosuch", "no cluster in /nosuch")]
    [InlineData("series --target 1 M", "hint:  write the unit without a space: --target 1M")]
    [InlineData("series --target=1 M", "hint:  write the unit without a space: --target=1M")]
    [InlineData("run q4 --duration 5 s", "hint:  write the unit without a space: --duration 5s")]
    [InlineData("series --target 1M --step 2M", "--step is 2,000,000, which is above --target (1,000,000)")]
    [InlineData("series --target 1M --cache 7", "--cache: '7' is 7 bytes; allowed: 1MB or more (did you mean 7GB?)")]
    [InlineData("series --target 1M --memory-limit 64", "--memory-limit: '64' is 64 bytes; allowed: 1MB or more (did you mean 64GB?)")]
    [InlineData("forecast x --memory 64", "--memory: '64' is 64 bytes; allowed: 1MB or more (did you mean 64GB?)")]
    [InlineData("series --target 1M --threads 0", "--threads: '0' is out of range; allowed: 1 to 10,000")]
    [InlineData("help nonsense", "unknown command 'nonsense'")]
    [InlineData("nonsense --help", "unknown command 'nonsense'")]
    [InlineData("run nothing.yaml",
        "hint:  'mongoperf new nothing.yaml' writes one to start from; 'mongoperf list scenarios' lists the built-in ones")]
    [InlineData("run nothing.yml", "no scenario 'nothing.yml': no such file")]
    [InlineData("run ycsb/aa.yaml", "did you mean 'ycsb/a'?")]
    [InlineData("cluster", "")]
    [InlineData("cluster strt", "did you mean 'start'?")]
    [InlineData("cluster start --topology single", "--topology: 'single' is not valid; allowed: sharded, replicaset")]
    [InlineData("cluster start --shards 0", "--shards: '0' is out of range")]
    [InlineData("cluster start --members 4", "--members: '4' is out of range; allowed: ")]
    [InlineData("cluster start --port 70000", "--port: '70000' is out of range; allowed: ")]
    [InlineData("cluster start --folder /nosuch/cluster --mongod /nosuch/mongod", "--mongod: /nosuch/mongod does not exist")]
    [InlineData("cluster status --folder /nosuch", "no cluster in /nosuch")]
    [InlineData("cluster stop --folder /nosuch", "no cluster in /nosuch")]
    [InlineData("series --target 1M --cache 1MB", "--cache is 1 MiB; allowed: 64 MiB or more")]
    [InlineData("series --target 1M --cache huge", "--cache: 'huge' is not a size such as 7GB")]
    [InlineData("series --target 1M --cache 900000TB", "of memory")]
    [InlineData("series --target 1M --mongod /nosuch/mongod", "--mongod: /nosuch/mongod does not exist")]
    [InlineData("series --target 1M --db a.b", "--db: 'a.b' contains '.'")]
    [InlineData("series --target 1M --db admin", "is reserved for the server")]
    [InlineData("series --target 1M --collection system.x", "--collection: 'system.x' is not allowed")]
    [InlineData("series --target 1M --collection mongoperf", "keeps its markers")]
    [InlineData("series --target 1M --uri http://host", "mongodb://")]
    [InlineData("series --target 1M --uri mongodb://", "")]
    [InlineData("series --target 1M --uri mongodb://host:99999", "99999")]
    [InlineData("series --target 1M --uri mongodb+srv://host:27017", "mongodb+srv allows no port")]
    [InlineData("series --target 1M --uri mongodb://user:hunter2@host/?authMechanism=MONGODB-CR",
        "authentication by MONGODB-CR is not supported")]
    [InlineData("series --target 1M --uri mongodb://user:hunter2@host/?authMechanism=PLAIN",
        "PLAIN sends the password unprotected and needs tls=true")]
    [InlineData("series --target 1M --uri mongodb://host/?authMechanism=MONGODB-X509", "needs tls=true and tlsCertificateKeyFile=FILE")]
    [InlineData("series --target 1M --uri mongodb://host/?loadBalanced=true&replicaSet=rs0",
        "loadBalanced=true and replicaSet can't be combined")]
    [InlineData("series --target 1M --uri mongodb://host/?readPreference=secondary&maxStalenessSeconds=100&heartbeatFrequencyMS=100000",
        "maxStalenessSeconds is 100; allowed with heartbeatFrequencyMS=100000: 110 or more")]
    [InlineData("series --target 1M --uri mongodb://host --password-file /etc/passwd",
        "--password-file: it has no effect, as no connection string is missing a password")]
    [InlineData("series --target 1M --password-file /etc/passwd",
        "--password-file: it has no effect, as no connection string is missing a password")]
    [InlineData("series --target 1M --uri mongodb://host/?w=0", "w=0: whether writes are acknowledged")]
    [InlineData("series --target 1M --mongod /nosuch/a,/nosuch/b", "--mongod: /nosuch/a does not exist")]
    [InlineData("series --target 1M --mongod /nosuch/a,/nosuch/a", "--mongod: '/nosuch/a,/nosuch/a' lists a value twice")]
    [InlineData("series --target 1M --uri mongodb://host --mongod 7.0,8.0",
        "a list of programs (--mongod) starts its own servers and can't be combined with --uri or --against")]
    [InlineData("cluster start --folder /nosuch/cluster --mongod 7.0,8.0", "--mongod names 2 programs; here it takes one")]
    [InlineData("series --target 1M --server-api 2", "--server-api: '2' is not a server API; allowed: 1, 1,strict, 1,deprecationErrors, "
        + "1,strict,deprecationErrors")]
    [InlineData("series --target 1M --uri mongodb://host --server-api 1,stict", "--server-api: '1,stict' is not a server API")]
    [InlineData("series --target 1M --uri mongodb://host/?apiVersion=1 --server-api 1",
        "the server API is given twice: by --server-api and as apiVersion in the connection string")]
    [InlineData("run ycsb/a --uri tyrant://host --server-api 1", "--server-api only applies to MongoDB, not to Tokyo Tyrant")]
    [InlineData("series --target 1M --uri mongodb://host --mongod /usr/bin/mongod",
        "--uri names an existing server; --mongod only applies to one that MongoPerf starts")]
    [InlineData("series --target 1M --uri mongodb://host --cache 1GB",
        "--uri names an existing server; --cache only applies to one that MongoPerf starts")]
    [InlineData("series --target 1M --uri mongodb://host --topology null", "--topology null starts its own server")]
    [InlineData("series --target 1M --out mongodb://user:hunter2@host/", "is a connection string, not a folder (--uri names a deployment)")]
    [InlineData("run ycsb/a --format ycsb --repeat 3", "--format ycsb shows one run")]
    [InlineData("run ycsb-sharded --against mongodb://host", "--against names the second of two deployments, but the first is missing")]
    [InlineData(
        "run ycsb/a --find-max --assert p99<10ms --dry-run", "--dry-run shows what would run and can't be combined with --find-max")]
    [InlineData("run size --find-max --assert p99<10ms",
        "run size reads the sizes once; --duration, --until, --warmup, --operations, --rate, --find-max")]
    [InlineData("series --target 1M --uri @staging", "--uri: no deployment has the name 'staging'")]
    [InlineData("run", "SCENARIO")]
    [InlineData("run q9", "'q9' is not a scenario or a phase of the series; phases: unack, batch, safe, q4, q5, q6, q7, size")]
    [InlineData("run bacth", "did you mean 'batch'?")]
    [InlineData("run q4 --duration 2s --warmup 2s", "--warmup is 2 s of a phase of 2 s")]
    [InlineData("run q4 --duration 0s", "duration is 0")]
    [InlineData("run q4 --operations 0", "--operations: '0' is out of range")]
    [InlineData("run q4 --records few", "--records: 'few' is not a count")]
    [InlineData("run q4 q5", "unexpected argument 'q5'")]
    [InlineData("run q4 --uri mongodb://user@host/?authMechanism=GSSAPI", "authentication by GSSAPI is not supported")]
    [InlineData("run q4 --uri mongodb://host/?tls=yes", "tls is 'yes'; allowed: true, false")]
    [InlineData("run q4 --uri mongodb://host/?compressors=zstdd", "did you mean 'zstd'?")]
    [InlineData("run q4 --uri mongodb://host/?timeoutMS=5",
        "timeoutMS (one limit for a whole operation; use connectTimeoutMS and socketTimeoutMS) is not supported")]
    [InlineData("new --growth /nonexistent/x.yaml", "/nonexistent/x.yaml: the folder /nonexistent does not exist")]
    [InlineData("new --growth .", ". is a folder; a file is expected")]
    [InlineData("resume", "RUN")]
    [InlineData("resume 2026-11-21-z", "no run '2026-11-21-z'")]
    [InlineData("report 2026-11-21-z", "no run '2026-11-21-z'")]
    [InlineData("report x --format yaml", "--format: 'yaml' is not valid")]
    [InlineData("clean 2026-11-21-z", "'mongoperf list runs' shows all runs")]
    [InlineData("compare", "RUN")]
    [InlineData("compare a b", "no run 'a'")]
    [InlineData("compare a b --noise-threshold 5", "--noise-threshold: '5' is not a percentage such as 5%")]
    [InlineData("compare a b --noise-threshold 200%", "allowed: 0% to 99%")]
    [InlineData("compare a b --format yaml", "--format: 'yaml' is not valid")]
    [InlineData("compare a b --baselin a", "did you mean '--baseline'?")]
    [InlineData(
        "series --target 1M --topology single,ring", "--topology: 'ring' is not valid; allowed: standalone, replicaset, sharded, null")]
    [InlineData("series --target 1M --topology single,null --shards 2", "--shards only applies to a cluster that MongoPerf starts")]
    [InlineData("series --target 1M --topology single,null --shard-key _id", "--shard-key only applies to a sharded collection")]
    [InlineData("series --target 1M --topology null,null", "--topology: 'null,null' lists a value twice")]
    [InlineData("series --target 1M --topology single,null --uri mongodb://host", "a list of topologies starts its own servers")]
    [InlineData("series --target 1M --engine elephant", "--engine: 'elephant' is not an engine; allowed: wire, driver")]
    [InlineData("series --target 1M --engine wire,wire", "--engine: 'wire,wire' lists a value twice")]
    [InlineData("run ycsb/a --engine driver --uri tyrant://host", "--engine driver speaks MongoDB's protocol only")]
    [InlineData("series --target 1M --against mongodb://host", "--against names the second of two deployments, but the first is missing")]
    [InlineData("series --target 1M --repeat 0", "--repeat: '0' is out of range")]
    [InlineData("series --target 1M --topology single,null --repeat 2", "--repeat is 2; comparing deployments run by run takes 3 or more")]
    [InlineData("series --target 1M --topology replicaset --shards 2", "--shards only applies to a cluster that MongoPerf starts")]
    [InlineData("series --target 1M --topology replicaset --shard-key _id", "--shard-key only applies to a sharded collection")]
    [InlineData("series --target 1M --topology replicaset --members 4", "--members: '4' is out of range; allowed: 1 to 3")]
    [InlineData("series --target 1M --topology replicaset --uri mongodb://host", "a replica set that --uri names is recognised as one")]
    [InlineData("series --target 1M --members 3", "--members only applies to a cluster or replica set that MongoPerf starts")]
    [InlineData("series --target 1M --topology single,null --members 3",
        "--members only applies to a cluster or replica set that MongoPerf starts")]
    [InlineData("series --target 1M --tls maybe", "--tls: 'maybe' is not valid; allowed: on, off")]
    [InlineData("series --target 1M --auth on,on", "--auth: 'on,on' lists a value twice")]
    [InlineData(
        "series --target 1M --uri mongodb://host --tls", "--uri names an existing server; --tls only applies to one that MongoPerf starts")]
    [InlineData("series --target 1M --cluster /nosuch --auth",
        "--cluster names an existing cluster; --auth only applies to one that MongoPerf starts")]
    [InlineData("series --target 1M --topology null --tls on", "--topology null stores nothing and can't be combined with --tls")]
    [InlineData("cluster start --tls on,off", "--tls is a list; 'cluster start' takes one value")]
    [InlineData("cluster start --topology replicaset --shards 2", "--shards does not apply to --topology replicaset")]
    [InlineData("serve --data /nosuch/d --listen 0.0.0.0",
        "--listen 0.0.0.0 lets other machines in, and without --auth anybody on them may read and delete everything")]
    [InlineData("serve --data /nosuch/d --listen ::", "--listen :: lets other machines in")]
    [InlineData("serve --data /nosuch/d --listen db1", "--listen: 'db1' is not an IP address such as 127.0.0.1, 0.0.0.0 or ::1")]
    [InlineData("serve --data /nosuch/d --auth", "hint:  mongoperf serve --data /nosuch/d --add-user NAME adds one")]
    [InlineData("serve --data /nosuch/d --tls-ca-file x", "--tls-ca-file needs --tls-certificate-key-file")]
    [InlineData("serve --data /nosuch/d --tls-certificate-key-file /nosuch/x",
        "--tls-certificate-key-file: '/nosuch/x' can't be read: there is no such file")]
    [InlineData("serve --data /nosuch/d --tls-certificate-key-file /", "--tls-certificate-key-file: '/' can't be read: it is a folder")]
    [InlineData("serve --data /nosuch/d --password-file x", "--password-file is for --add-user, which is missing")]
    [InlineData("serve --data /nosuch/d --add-user x --auth", "--add-user starts no server and can't be combined with --auth")]
    [InlineData("serve --data /nosuch/d --remove-user x", "--remove-user: /nosuch/d has no user x")]
    [InlineData("serve --data /nosuch/d --remove-user x --port 1", "--remove-user starts no server and can't be combined with --port")]
    [InlineData(
        "serve --data /nosuch/d --remove-user x --add-user y", "--add-user starts no server and can't be combined with --remove-user")]
    [InlineData("serve --data /nosuch/d --remove-user x --password-file y", "--password-file is for --add-user, which is missing")]
    [InlineData("serve --data /nosuch/d --listen 0.0.0.0 --tls-certificate-key-file /nosuch/x", "--listen 0.0.0.0 lets other machines in")]
    [InlineData("serve --data /nosuch/d --add-user x --password-file /nosuch/x",
        "--password-file: '/nosuch/x' can't be read: there is no such file")]
    [InlineData("run size --repeat 3", "run size reads the sizes once")]
    [InlineData("run q4 --against mongodb://host", "the first is missing")]
    [InlineData("series --target 1M --memory-limit 1GB,1GB", "--memory-limit: '1GB,1GB' lists a value twice")]
    [InlineData(
        "series --target 1M --memory-limit 1GB,100MB", "--memory-limit is 100 MiB; allowed with a cache of 64 MiB: 224 MiB or more")]
    [InlineData(
        "series --target 1M --memory-limit 1GB --cache 1GB", "--memory-limit is 1 GiB; allowed with a cache of 1 GiB: 1.25 GiB or more")]
    [InlineData("series --target 1M --uri mongodb://host --memory-limit 1GB",
        "--uri names an existing server; --memory-limit only applies to one that MongoPerf starts")]
    [InlineData("series --target 1M --cluster /nosuch --cpus 1",
        "--cluster names an existing cluster; --cpus only applies to one that MongoPerf starts")]
    [InlineData("series --target 1M --cpus 0", "--cpus: '0' is out of range; allowed: 1")]
    [InlineData("series --target 1M --cpus 1,4096", "--cpus is 4096; allowed: 1 to ")]
    [InlineData("cluster start --memory-limit 1GB,2GB", "--memory-limit is a list; 'cluster start' takes one value")]
    [InlineData("run q4 --deployment x", "--deployment only applies to scenarios; 'q4' is a phase of the series")]
    [InlineData("run ycsb/a --deployment x", "--deployment: no deployment 'x'; the scenario names no deployments")]
    public void A_wrong_call_says_what_is_wrong_and_leaves_nothing_behind(string call, string text)
    {
        (int code, string errors) = Run(call);
        Assert.True(code == 2, errors);
        Assert.Contains(text, errors, StringComparison.Ordinal);
        Assert.StartsWith("error: ", errors, StringComparison.Ordinal);
        Assert.Contains("exit code 2: wrong usage", errors, StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", errors, StringComparison.Ordinal);
        Assert.DoesNotContain("hunter2", errors, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFileSystemEntries(_folder.Path));
    }

    [Theory]
    [InlineData("resume 2026-11-21-aa", "did you mean '2026-11-21-a'?")]
    [InlineData("report 2026-11-2-a", "did you mean '2026-11-21-a'?")]
    [InlineData("clean 2026-11-21-b", "did you mean '2026-11-21-a'?")]
    [InlineData("resume 2026-11-21-a", "has no run.db; not a run folder")]
    [InlineData("report 2026-11-21-a", "has no run.db; not a run folder")]
    [InlineData("clean 2026-11-21-a", "has no run.db; not a run folder")]
    public void A_run_that_is_not_there_names_the_nearest(string call, string text)
    {
        Directory.CreateDirectory(_folder.At("2026-11-21-a"));
        (int code, string errors) = Run(call);
        Assert.Equal(2, code);
        Assert.Contains(text, errors, StringComparison.Ordinal);
        Assert.Equal([_folder.At("2026-11-21-a")], Directory.GetFileSystemEntries(_folder.Path));
        Assert.Empty(Directory.GetFileSystemEntries(_folder.At("2026-11-21-a")));
    }

    [Theory]
    [InlineData("run mongodb://user:hunter2@host")]
    [InlineData("resume mongodb://user:hunter2@host")]
    [InlineData("report mongodb://user:hunter2@host")]
    [InlineData("compare mongodb://user:hunter2@host x")]
    [InlineData("series --target mongodb://user:hunter2@host")]
    [InlineData("series --target 1M mongodb://user:hunter2@host")]
    [InlineData("series --target 1M --db mongodb://user:hunter2@host")]
    [InlineData("validate mongodb://user:hunter2@host")]
    [InlineData("mongodb://user:hunter2@host")]
    [InlineData("user:hunter2@host")]
    public void A_password_that_was_typed_in_the_wrong_place_is_not_shown(string call)
    {
        (int code, string errors) = Run(call);
        Assert.Equal(2, code);
        Assert.Contains("***", errors, StringComparison.Ordinal);
        Assert.DoesNotContain("hunter2", errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("series --target 1M --frobnicate=mongodb://user:hunter2@host")]
    [InlineData("series --target 1M --frobnicate:hunter2")]
    [InlineData("compare --frobnicate=hunter2 a b")]
    public void The_value_of_an_option_that_does_not_exist_is_not_shown(string call)
    {
        (int code, string errors) = Run(call);
        Assert.Equal(2, code);
        Assert.Contains("unknown option '--frobnicate' of '", errors, StringComparison.Ordinal);
        Assert.DoesNotContain("hunter2", errors, StringComparison.Ordinal);
    }

    /// <summary>
    /// Runs in this process with --out at the folder, where the command takes it, and without what the environment may name.
    /// </summary>
    private (int Code, string Errors) Run(string call)
    {
        string[] args = call.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        if (args is ["series" or "run" or "resume" or "report" or "clean" or "compare", ..] && !args.Contains("--out"))
            args = [args[0], "--out", _folder.Path, .. args[1..]];
        TextWriter before = Console.Error;
        string? uri = Environment.GetEnvironmentVariable("MONGOPERF_URI");
        using var errors = new StringWriter();
        Console.SetError(errors);
        Environment.SetEnvironmentVariable("MONGOPERF_URI", null);
        try
        {
            int code = CommandLine.Run(args);
            return (code, errors.ToString());
        }
        finally
        {
            Console.SetError(before);
            Environment.SetEnvironmentVariable("MONGOPERF_URI", uri);
        }
    }
}
