using MongoPerf.Storage;

namespace MongoPerf.Tests.Scenarios;

/// <summary>A file that is wrong is refused with its line, what was found and what is allowed.</summary>
public sealed class WrongScenarioTests
{
    private const string Phases = "phases:\n  - name: p\n    operations: [{find: users, key: uniform}]\n";

    [Theory]
    [InlineData("dat:\n  x: 1\n", "test.yaml:1: scenario: unknown key 'dat'; allowed:", "did you mean 'data'?")]
    [InlineData("data: [1]\nphases: [{operations: [{find: u, key: uniform}]}]\n", "test.yaml:1: data is a list", "")]
    [InlineData("data:\n  users: {document: {a: 1}}\nphases: [{operations: [{find: users, key: uniform, writeConcern: {w: 1}}]}]\n",
        "test.yaml:3: phase 1: find: unknown key 'writeConcern'", "")]
    [InlineData("data:\n  users:\n    cuont: 5\nphases: [{load: users}]\n",
        "test.yaml:3: collection 'users': unknown key 'cuont'; allowed: count,", "did you mean 'count'?")]
    [InlineData("data:\n  users: {count: many}\nphases: [{load: users}]\n", "test.yaml:2: count: 'many' is not a count such as 500M", "")]
    [InlineData("data:\n  users: {document: {a: ^wrod}}\nphases: [{operations: [{find: users, key: uniform}]}]\n",
        "test.yaml:2: users.document.a: unknown generator '^wrod'; allowed: ^number,", "did you mean '^word'?")]
    [InlineData("data:\n  users: {document: {a: {^int: [5, 1]}}}\nphases: [{operations: [{find: users, key: uniform}]}]\n",
        "test.yaml:2: ^int: 5 to 1: the least value comes first", "write [1, 5]")]
    [InlineData("data:\n  users: {document: {a: {^number: {every: [5, 1]}}}}\nphases: [{load: users}]\n",
        "test.yaml:2: ^number: every: 5 to 1 is not a valid range", "every")]
    [InlineData("data:\n  users: {document: {a: {^number: {every: 0}}}}\nphases: [{load: users}]\n",
        "test.yaml:2: ^number: '0' is out of range; allowed", "")]
    [InlineData("data:\n  users: {document: {a: {^int: {mim: 1, max: 5}}}}\nphases: [{operations: [{find: users, key: uniform}]}]\n",
        "unknown key 'mim'; allowed: min, max", "did you mean 'min'?")]
    [InlineData("data:\n  users: {document: {a: ^key}}\nphases: [{operations: [{find: users, key: uniform}]}]\n",
        "^key: it is allowed only in operations on a collection of 'data'", "")]
    [InlineData("data:\n  users: {document: {a: {$oid: zz}}}\nphases: [{operations: [{find: users, key: uniform}]}]\n", "test.yaml:2:", "")]
    [InlineData("data:\n  mongoperf: {count: 1}\nphases: [{load: mongoperf}]\n",
        "test.yaml:2: data: 'mongoperf' is where MongoPerf keeps its markers", "")]
    [InlineData(
        "data:\n  fs: {files: {count: 5}}\nphases: [{load: fs}]\n", "test.yaml:2: files of 'fs': 'length' is missing", "length: 1.04MB")]
    [InlineData("data:\n  fs: {files: {length: 3GB}}\nphases: [{load: fs}]\n",
        "files of 'fs': length: '3GB' is 3,221,225,472 bytes; allowed: 1 to 2,147,483,591", "")]
    [InlineData("data:\n  fs: {files: {length: 1KB, chunkSize: 16MB}}\nphases: [{load: fs}]\n",
        "chunkSize: '16MB' is 16,777,216 bytes; allowed: 1 to 16,776,192", "")]
    [InlineData("data:\n  fs: {count: 5, files: {length: 1KB}}\nphases: [{load: fs}]\n",
        "collection 'fs': count is not allowed beside files", "files: {count: …}")]
    [InlineData("data:\n  fs: {files: {count: 1, length: 1KB}}\n  fs.files: {count: 1}\nphases: [{load: fs}]\n",
        "data: 'fs.files' is both a collection and part of a GridFS bucket", "")]
    [InlineData("data:\n  fs: {files: {count: 1, length: 1KB}}\nphases: [{load: fs, batch: 5}]\n",
        "load: batch is not allowed when files are loaded", "")]
    [InlineData("data:\n  fs: {files: {count: 1, length: 1KB}}\nphases: [{load: fs, writeConcern: {w: 0}}]\n",
        "w: 0 is not allowed for files of 'fs': a file is complete only when the server has acknowledged it", "use w: 1")]
    [InlineData("data:\n  fs: {files: {count: 1, length: 1KB}}\nphases: [{operations: [{find: fs, key: uniform}]}]\n",
        "find: 'fs' is a GridFS bucket; allowed: upload, download", "")]
    [InlineData(
        "data:\n  users: {count: 5, shard: 2, shardKey: {_id: 1}}\nphases: [{load: users}]\n",
        "test.yaml:2: collection 'users' has both shardKey, which spreads it, and shard, which keeps it on one shard",
        "remove one of them")]
    [InlineData("data:\n  users: {count: 5, shard: 0}\nphases: [{load: users}]\n", "shard is 0; allowed: 1 to 64", "")]
    [InlineData("data:\n  users: {document: {at: 1}, indexes: [{at: desc}]}\nphases: [{load: users}]\n",
        "test.yaml:2: collection 'users': indexes: 'at' is 'desc'; allowed: 1, -1, hashed, text, 2d, 2dsphere", "write {at: -1}")]
    [InlineData(
        "data:\n  users: {document: {at: 1}, indexes: [{at: 1, unique: true}]}\nphases: [{load: users}]\n",
        "test.yaml:2: collection 'users': indexes: 'unique' is 'true'; allowed: 1, -1,",
        "options of an index stand beside its key: {key: {…: 1}, unique: true}")]
    [InlineData("data:\n  users: {document: {at: 1}, shardKey: {at: -1}}\nphases: [{load: users}]\n",
        "test.yaml:2: collection 'users': shardKey: 'at' is '-1'; allowed: 1, hashed", "write 1, or hashed")]
    [InlineData(
        "data:\n  users: {document: {a: {^date: {from: 01/05/2026, to: 2026-06-01}}}}\nphases: [{load: users}]\n",
        "test.yaml:2: ^date: from is '01/05/2026'; expected a date such as 2011-03-13 or 2011-03-13T07:06:40Z",
        "write year, month, day: 2026-05-01 or 2026-01-05")]
    [InlineData("data:\n  users: {document: {a: {^date: {from: yesterday, to: 2026-06-01}}}}\nphases: [{load: users}]\n",
        "test.yaml:2: ^date: from is 'yesterday'; expected a date", "write year, month, day, such as 2011-03-13")]
    [InlineData(
        "data:\n  users:\n    count: 5\n   document: {n: 1}\nphases: [{load: users}]\n",
        "test.yaml:4: the indentation of this line fits none of the lines above",
        "keys of one mapping, and dashes of one list, begin in the same column")]
    [InlineData("data:\n  users:\n    count: 5\n     document: {n: 1}\nphases: [{load: users}]\n",
        "test.yaml:4: this line is indented deeper than line 3, which has a value already", "keys of one mapping begin in the same column")]
    [InlineData("data:\n  users: {count: 5}\nphases:\n  - load: users\n threads: 2\n",
        "test.yaml:5: the indentation of this line fits none of the lines above", "same column")]
    [InlineData("data:\n  users: {count: 5}\nphases:\n  - load: users\n      threads: 2\n",
        "test.yaml:5: this line is indented deeper than line 4, which has a value already", "same column")]
    [InlineData("data:\n  users: {count: 5}\nphases:\n  - load: users\n   - load: users\n",
        "test.yaml:5: the indentation of this line fits none of the lines above", "same column")]
    [InlineData("data:\n  users: {count: 5}\nphases:\n  - load: a: b\n", "test.yaml:4: invalid YAML: ", "")]
    [InlineData("description: \"five users\ndata:\n  users: {count: 5}\nphases:\n  - load: users\n",
        "test.yaml:1: a text begins here with a quote that is not closed", "close it with the quote that it begins with")]
    [InlineData("data:\n  users: {count: 5}\nphases:\n  - load: 'users\n",
        "test.yaml:4: a text begins here with a quote that is not closed", "close it with the quote that it begins with")]
    [InlineData("description: 'five users\ndata:\n  users: {count: 5}\nphases:\n  - load: 'users'\n",
        "test.yaml:1: a text begins here with a quote that is not closed before line 5", "close it with the quote that it begins with")]
    [InlineData(
        "data:\n  users: {shardKey: {a: 1}, indexes: [{key: {b: 1}, unique: true}]}\nphases: [{load: users}]\n",
        "collection 'users': the unique index b_1 can't be on shards: it does not begin with the shard key {a: 1}",
        "begin the index with {a: 1}, remove unique, or choose another shardKey")]
    [InlineData("data:\n  users: {shardKey: {b: hashed}, indexes: [{key: {b: 1}, unique: true}]}\nphases: [{load: users}]\n",
        "the unique index b_1 can't be on shards: it does not begin with the shard key {b: hashed}", "such as shardKey: {b: 1}")]
    [InlineData(
        "data:\n  users: {count: 5, shardKey: {a: 1}}\n"
        + "phases: [{operations: [{createIndexes: users, indexes: [{key: {b: 1}, unique: true}]}]}]\n",
        "the unique index b_1 can't be on shards: it does not begin with the shard key {a: 1}",
        "remove unique")]
    [InlineData(
        "data:\n  users: {indexes: [{key: {b: hashed}, unique: true}]}\nphases: [{load: users}]\n",
        "test.yaml:2: collection 'users': indexes: the index b_hashed is unique and hashed; MongoDB has no such index",
        "remove unique, or hashed")]
    [InlineData("x: !int 5\n", "test.yaml:1: the tag !int is not supported", "")]
    public void Whole_file(string text, string message, string hint) => Check(text, message, hint);

    [Theory]
    [InlineData("phases: []\n", "phases is an empty list; expected a list of phases", "")]
    [InlineData(
        "phases:\n  - name: p\n",
        "test.yaml:6: phase 'p': grow, create, load, check, checks, balancer, groups or operations is missing", "")]
    [InlineData("phases:\n  - {load: user}\n", "load: no collection 'user' in data; allowed: users", "did you mean 'users'?")]
    [InlineData("phases:\n  - {load: users, duration: 5s}\n", "phase 'load users': duration is not allowed in a phase that loads", "")]
    [InlineData("phases:\n  - name: p\n    threads: 20000\n    operations: [{find: users, key: uniform}]\n",
        "test.yaml:7: phase 'p': threads is 20,000; allowed: 1 to 10,000", "")]
    [InlineData("phases:\n  - name: p\n    duration: 5\n    operations: [{find: users, key: uniform}]\n",
        "phase 'p': duration: '5' is not a duration such as 90s", "")]
    [InlineData("phases:\n  - name: p\n    duration: 2s\n    warmup: 2s\n    operations: [{find: users, key: uniform}]\n",
        "warmup is 2 s and duration 2 s, so nothing would be measured", "")]
    [InlineData(
        "phases:\n  - name: p\n    operations: [{fnd: users}]\n", "p: unknown operation 'fnd'; allowed: insert,", "did you mean 'find'?")]
    [InlineData("phases:\n  - name: p\n    operations: [{find: users, key: uniform, insert: users}]\n",
        "p: find and insert are both given; an operation does one of them", "")]
    [InlineData(
        "phases:\n  - name: p\n    operations:\n      - update: users\n        key: uniform\n        update: {$set: {n: 1}}\n",
        "test.yaml:10: the key 'update' appears twice",
        "what an operation changes stands under 'with', such as with: {$set: {name: ^word}}")]
    [InlineData("phases:\n  - name: p\n    operations: [{findAndModify: users, key: uniform, update: {$set: {n: 1}}}]\n",
        "p: findAndModify and update are both given; an operation does one of them", "what an operation changes stands under 'with'")]
    [InlineData("phases:\n  - name: p\n    operations: [{update: users, key: uniform, $set: {n: 1}}]\n", "p: update: unknown key '$set'",
        "write with: {$set: {n: 1}}")]
    [InlineData("phases:\n  - name: p\n    operations: [{update: users, key: uniform, with: {update: {$set: {n: 1}}}}]\n",
        "p.update.with has no update operator", "write with: {$set: {…}}")]
    [InlineData("phases:\n  - name: p\n    threads: 0\n    operations: [{find: users, key: uniform}]\n",
        "test.yaml:7: phase 'p': threads is 0; allowed: 1 to 10,000", "")]
    [InlineData("phases:\n  - name: p\n    operations: [{find: users, key: uniform}, {find: users, key: uniform}]\n",
        "phase 'p': two operations are called 'find'", "give one of them another name")]
    [InlineData("phases:\n  - name: p\n    operations:\n      - find: users\n        key: uniform\n        name: total\n",
        "test.yaml:10: phase 'p': an operation is called 'total', the name of the sum of all", "give it another name")]
    [InlineData(
        "phases:\n  - name: p\n    groups:\n      - {name: reads, count: 1, operations: [{find: users, key: uniform}, {count: users}]}\n"
        + "      - {name: x, operations: [{find: users, key: uniform, name: reads total}]}\n",
        "test.yaml:9: phase 'p': an operation is called 'reads total', the name of the sum of a group's operations",
        "give it another name")]
    [InlineData("phases:\n  - {balancer: maybe}\n", "test.yaml:6: phase 'balancer maybe': balancer is 'maybe'", "")]
    [InlineData("phases:\n  - {balancer: 22:00-22:00}\n", "allowed: on, off, now, or two different times such as 22:00-06:00", "")]
    [InlineData("phases:\n  - {balancer: off, within: 5s}\n", "within is not allowed with a balancer that is off", "")]
    [InlineData("phases:\n  - {balancer: now, within: 0s}\n", "within is 0; it must be longer", "")]
    [InlineData(
        "phases:\n  - {balancer: now, threads: 5}\n", "phase 'balancer now': threads is not allowed in a phase that sets the balancer", "")]
    [InlineData("phases:\n  - {within: 5s, operations: [{find: users, key: uniform}]}\n",
        "phase 'phase 1': within is not allowed without a balancer", "")]
    [InlineData(
        "phases:\n  - name: p\n    groups: [{name: g, balancer: on, count: 5}]\n", "p.g: count is not allowed beside a balancer", "")]
    [InlineData("phases:\n  - name: p\n    operations: [{upload: users}]\n",
        "upload: 'users' is a collection of documents; expected a GridFS bucket", "files: {count: 1k")]
    [InlineData("parameters: {reads: 0}\nphases:\n  - name: p\n    operations: [{find: users, key: uniform, weight: $(reads)}]\n",
        "p: all weights are 0", "")]
    [InlineData("phases:\n  - name: p\n    operations: [{update: users, key: uniform}]\n", "'with' is missing", "$set")]
    [InlineData("phases:\n  - name: p\n    operations: [{find: users, key: zipfan}]\n",
        "key is 'zipfan'; allowed: uniform, zipfian,", "did you mean 'zipfian'?")]
    [InlineData("phases:\n  - name: p\n    operations: [{find: users, filter: {a: {^field: nam}}}]\n",
        "the collection's documents have no field 'nam'", "did you mean 'name'?")]
    [InlineData("phases:\n  - name: p\n    operations: [{find: users, key: uniform, readConcern: lokal}]\n",
        "readConcern is 'lokal'; allowed: local,", "did you mean 'local'?")]
    [InlineData("phases:\n  - name: p\n    operations: [{find: users, key: uniform, readPreference: secundary}]\n",
        "readPreference is 'secundary'; allowed: primary,", "did you mean 'secondary'?")]
    [InlineData("phases:\n  - name: p\n    operations: [{find: users, key: uniform, readPreference: {tags: [{dc: ny}]}}]\n",
        "'mode' is missing", "one of primary,")]
    [InlineData("phases:\n  - name: p\n    operations: [{find: users, key: uniform, readPreference: {mode: primary, tags: [{dc: ny}]}}]\n",
        "there is only one primary", "")]
    [InlineData(
        "phases:\n  - name: p\n    operations: [{find: users, key: uniform, readPreference: {mode: nearest, maxStalenessSeconds: 10}}]\n",
        "maxStalenessSeconds is 10; allowed: 90 to ", "")]
    [InlineData("phases:\n  - name: p\n    operations: [{find: users, key: uniform, readPreference: {mode: nearest, tag: {}}}]\n",
        "unknown key 'tag'; allowed: mode, tags, maxStalenessSeconds", "did you mean 'tags'?")]
    [InlineData("phases:\n  - name: p\n    operations: [{find: users, key: uniform}]\n    assert: [raed.p99 < 1ms]\n",
        "assert: no operation 'raed'; allowed: find, total", "")]
    [InlineData("phases:\n  - name: p\n    operations: [{find: users, key: uniform}]\n    assert: [find.p990 < 1ms]\n",
        "assert: no metric 'p990'; allowed: min,", "percentiles are p1 to p99")]
    [InlineData("phases:\n  - name: p\n    operations: [{find: users, key: uniform}]\n    assert: [find.p99 fast]\n",
        "does not have the form operation.metric < value", "")]
    [InlineData("phases:\n  - name: p\n    groups:\n      - {name: g, operations: [{find: users, key: uniform}]}\n",
        "phase 'p': no group has a duration or count, so the phase would never end", "")]
    [InlineData("parameters: {a: 1}\n" + Phases, "parameter 'a' is never used", "$(a)")]
    [InlineData("parameters: {limit: 1}\nphases: [{name: p, operations: [{find: users, filter: {}, limit: $(limt)}]}]\n",
        "no parameter 'limt'; allowed: limit", "did you mean 'limit'?")]
    [InlineData("parameters: {run: {a: {limit: 1}}}\nphases: [{name: p, operations: [{find: users, filter: {}, limit: $(run.limt)}]}]\n",
        "parameter 'run': its value 'a' has no part 'limt'; allowed: limit", "did you mean 'limit'?")]
    [InlineData("parameters: {run: 1}\nphases: [{name: p, operations: [{find: users, filter: {}, limit: $(run.limit)}]}]\n",
        "parameter 'run' is '1', which has no part 'limit'", "")]
    [InlineData("cluster: {members: 2}\n" + Phases, "cluster: 'shards' is missing", "")]
    [InlineData("cluster: {shards: 65}\n" + Phases, "cluster: shards is 65; allowed: 1 to 64", "")]
    [InlineData(
        "cluster: {shards: 2}\n" + Phases, "test.yaml:5: cluster is sharded, but no collection has a shardKey", "shardKey: {_id: hashed}")]
    [InlineData("parameters: {limit: []}\n" + Phases, "parameter 'limit' has no value", "")]
    [InlineData(
        "phases:\n  - {create: user}\n", "test.yaml:6: create: no collection 'user' in data; allowed: users", "did you mean 'users'?")]
    [InlineData(
        "phases:\n  - {create: users, load: users}\n", "phase 'load users': load is not allowed in a phase that creates a collection", "")]
    [InlineData("phases:\n  - {create: users, threads: 2}\n",
        "phase 'create users': threads is not allowed in a phase that creates a collection", "")]
    [InlineData("phases:\n  - {load: users}\n  - {create: users}\n",
        "test.yaml:6: phase 'load users' needs collection 'users', which only a later phase creates", "create: users")]
    [InlineData("phases:\n  - name: p\n    operations: [{find: users, key: uniform}]\n  - {create: users}\n",
        "test.yaml:6: phase 'p' needs collection 'users', which only a later phase creates", "")]
    [InlineData("phases:\n  - {name: p, operations: [{runCommand: {ping: 1}}], sizes: true}\n  - {create: users}\n",
        "phase 'p' needs collection 'users'", "")]
    [InlineData("phases:\n  - {name: p, operations: [{find: users, key: uniform}], ranges: true}\n",
        "phase 'p': ranges is not allowed in a phase that measures operations", "")]
    [InlineData("phases:\n  - {name: p, operations: [{find: users, key: uniform}], lap: 5}\n",
        "phase 'p': lap is not allowed in a phase that is limited by time", "use count")]
    [InlineData("phases:\n  - {name: p, operations: [{find: users, key: uniform}], count: 1M, lap: 1}\n",
        "lap is 1, which makes 1,000,000 laps in 1,000,000; at most 100,000 are allowed", "a lap of 11")]
    [InlineData("phases:\n  - {load: users, lap: 0}\n", "test.yaml:6: count: '0' is out of range; allowed", "")]
    [InlineData("phases:\n  - {load: users, restart: hot}\n", "restart is 'hot'; allowed: none, warm, cold", "")]
    public void Phases_and_operations(string text, string message, string hint) => Check(ScenarioTexts.Data + text, message, hint);

    [Theory]
    [InlineData(
        "{grow: [c, d], to: 1k}", "grow is a list; expected a collection, or several such as {users: 1, orders: 5}", "grow: {c: 1, d: 1}")]
    [InlineData("{grow: c, to: 1k, step: 2k}", "phase 'c': step is 2,000, which is above the 1,000 documents to grow to",
        "a step of 100, the default, makes ten sizes")]
    [InlineData("{grow: c, sizes: [1k, 2k], to: 3k}", "use either 'sizes' or 'to'", "")]
    [InlineData("{grow: c, sizes: [1k, 2k], step: 1k}", "use either 'sizes' or 'step'", "")]
    [InlineData("{grow: c, to: 1k, writes: [{share: 0}]}", "every share is 0", "a share above 0")]
    [InlineData("{grow: c, to: 1k, writes: [{name: total}]}",
        "phase 'c': an operation is called 'total', the name of the sum of all", "give it another name")]
    [InlineData("{grow: c, to: 1k, beside: [{operations: [{find: c, key: uniform, name: insert}]}]}",
        "phase 'c': two operations are called 'insert'", "another name")]
    [InlineData("{grow: c, to: 1k, each: [{name: total, operations: [{find: c, key: uniform}]}]}",
        "phase 'total': an operation is called 'total'", "give it another name")]
    public void Growths(string phase, string message, string hint) =>
        Check($"data:\n  c: {{document: {{a: 1}}}}\n  d: {{document: {{a: 1}}}}\nphases: [{phase}]\n", message, hint);

    [Theory]
    [InlineData("nowhere", "1", "--set: no parameter 'nowhere'; the file has limit")]
    [InlineData("limit", "", "--set: limit has no value")]
    public void Override_of_a_parameter(string name, string value, string message)
    {
        var overrides = new PlanOverrides { Parameters = new Dictionary<string, string> { [name] = value } };
        string text = ScenarioTexts.Data
            + "parameters: {limit: 1}\nphases: [{name: p, operations: [{find: users, filter: {}, limit: $(limit)}]}]\n";
        Assert.StartsWith(message, ScenarioTexts.Refusal(text, overrides).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Scale_that_leaves_nothing()
    {
        (string message, string hint) = ScenarioTexts.Refusal(ScenarioTexts.Data + Phases, new PlanOverrides { Scale = 0.0001 });
        Assert.StartsWith("test.yaml:3: count is 1,000, which rounds to 0 with --scale 0.0001", message, StringComparison.Ordinal);
        Assert.Equal("--scale 0.001 leaves at least one of each", hint);
    }

    [Fact]
    public void A_file_that_can_not_be_scaled_refuses_it_and_runs_as_it_is()
    {
        const string text = "scalable: false\nparameters: {n: 10}\ndata:\n  users: {count: $(n), document: {a: 1}}\n" + Phases;
        Assert.Equal(10, Assert.Single(ScenarioTexts.Read(text).Plan.Collections).Count);
        Assert.Equal(
            ("test.yaml:1: --scale is not allowed: what is done depends on the file's counts", "--set changes its parameters: n"),
            ScenarioTexts.Refusal(text, new PlanOverrides { Scale = 0.1 }));
    }

    [Theory]
    [InlineData("{memory: 64}", "memory", "a plain number is bytes: did you mean 64GB?")]
    [InlineData("{cache: 7}", "cache", "a plain number is bytes: did you mean 7GB?")]
    public void A_size_of_a_deployment_without_its_unit(string deployment, string key, string hint)
    {
        (string found, string foundHint) = ScenarioTexts.Refusal($"deployments:\n  small: {deployment}\n" + ScenarioTexts.Data + Phases);
        Assert.StartsWith($"test.yaml:2: deployment 'small': {key} ", found, StringComparison.Ordinal);
        Assert.Equal(hint, foundHint);
    }

    [Fact]
    public void A_warm_up_of_the_command_line_that_leaves_nothing_of_a_phase()
    {
        string text = ScenarioTexts.Data + "phases: [{name: p, duration: 4s, operations: [{find: users, key: uniform}]}]\n";
        Assert.Equal(
            ("command line: p: warmup is 60 s and duration 4 s, so nothing would be measured",
                "--warmup has to be shorter than each phase"),
            ScenarioTexts.Refusal(text, new PlanOverrides { Warmup = 60 }));
    }

    [Fact]
    public void A_step_of_the_command_line_above_the_growth() => Assert.StartsWith(
        "command line: phase 'c': step is 5,000, which is above the 1,000 documents to grow to",
        ScenarioTexts.Refusal("data: {c: {}}\nphases: [{grow: c, to: 1k}]\n", new PlanOverrides { Step = 5000 }).Message,
        StringComparison.Ordinal);

    [Theory]
    [InlineData("items.product", "name an element of the array: {^field: items.0.product}")]
    [InlineData("items.0.prduct", "did you mean 'items.0.product'?")]
    [InlineData("city", "did you mean 'address.city'?")]
    [InlineData("adress.city", "did you mean 'address.city'?")]
    public void A_field_of_nested_documents_that_is_not_there_names_the_nearest(string field, string hint)
    {
        (string message, string found) = ScenarioTexts.Refusal(
            $"data:\n  c: {{count: 5, document: {{address: {{city: ^word}}, items: {{^array: {{length: [1, 3], of: {{product: 1}}}}}}}}}}\n"
            + $"phases: [{{name: p, operations: [{{find: c, filter: {{n: {{^field: {field}}}}}}}]}}]\n");
        Assert.Contains($"the collection's documents have no field '{field}'", message, StringComparison.Ordinal);
        Assert.Equal(hint, found);
    }

    [Fact]
    public void Threads_that_no_phase_takes() => Assert.StartsWith(
        "--threads: no phase of the scenario has threads of its own",
        ScenarioTexts.Refusal(ScenarioTexts.Data + "phases: [{load: users}]\n", new PlanOverrides { Threads = [5] }).Message,
        StringComparison.Ordinal);

    private static void Check(string text, string message, string hint)
    {
        (string found, string foundHint) = ScenarioTexts.Refusal(text);
        Assert.Contains(message, found, StringComparison.Ordinal);
        Assert.StartsWith("test.yaml", found, StringComparison.Ordinal);
        Assert.Contains(hint, foundHint, StringComparison.Ordinal);
    }
}
