using MongoPerf.Load.Plans;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Which writes have a known effect: those of documents that must exist.</summary>
public sealed class WriteChecksTests
{
    private const string Users = "data:\n  users: {count: 100, document: {n: ^number, d: {^double: [0, 1]}, name: ^word}}\n"
        + "  log: {document: {n: ^number}}\n";

    [Theory]
    [InlineData("{update: users, key: uniform, with: {$set: {name: ^word}}}", true)]
    [InlineData("{update: users, key: uniform, with: {$set: {name: ^word}}, upsert: true}", true)]
    [InlineData("{replace: users, key: uniform}", true)]
    [InlineData("{findAndModify: users, key: uniform, with: {$set: {name: x}}}", true)]
    [InlineData("{readModifyWrite: users, key: uniform, with: {$set: {name: x}}}", true)]
    [InlineData("{update: users, filter: {_id: ^key, n: {^field: n}}, with: {$set: {name: x}}}", true)]
    [InlineData("{update: users, filter: {n: {^field: n}}, with: {$set: {name: x}}, many: true}", true)]
    [InlineData("{update: users, filter: {name: {^field: name}}, with: {$set: {name: ^word}}}", false)]
    [InlineData("{update: users, filter: {_id: ^key, name: {^field: name}}, with: {$set: {name: ^word}}}", false)]
    [InlineData("{update: users, filter: {_id: ^key, name: {^field: name}}, with: [{$set: {n: 1}}]}", false)]
    [InlineData("{replace: users, filter: {n: {^field: n}}}", false)]
    [InlineData("{update: users, filter: {n: {^int: [0, 99]}}, with: {$set: {name: x}}}", false)]
    [InlineData("{update: users, filter: {n: {$gt: {^field: n}}}, with: {$set: {name: x}}}", false)]
    [InlineData("{update: users, filter: {}, with: {$set: {name: x}}}", false)]
    [InlineData("{findAndModify: users, key: uniform, remove: true}", false)]
    public void A_document_must_be_found_where_its_number_was_drawn_and_nothing_changes_what_names_it(string operation, bool mustMatch) =>
        Assert.Equal(mustMatch, MustMatch(Operations(operation)[0]));

    [Theory]
    [InlineData("{delete: users, key: uniform}", false)]
    [InlineData("{delete: log, key: uniform}", true)]
    [InlineData("{findAndModify: users, key: uniform, remove: true}", false)]
    [InlineData("{aggregate: users, pipeline: [{$out: users}]}", false)]
    [InlineData("{aggregate: users, pipeline: [{$out: log}]}", true)]
    [InlineData("{runCommand: {ping: 1}, name: ping, database: admin}", true)]
    [InlineData("{runCommand: {dropDatabase: 1}, name: drop}", false)]
    [InlineData("{runCommand: {delete: users, deletes: []}, name: deletes}", false)]
    [InlineData("{insert: users}", true)]
    [InlineData("{insert: users, writeConcern: {w: 0}}", false)]
    [InlineData("{createIndexes: users, indexes: [n]}", true)]
    public void Nothing_must_be_found_once_something_may_have_removed_it(string beside, bool mustMatch)
    {
        const string Update = "{update: users, key: uniform, with: {$set: {name: x}}}";
        Assert.Equal(mustMatch, MustMatch(Operations($"{Update}, {beside}")[0]));
        Plan later = Read($"phases:\n  - {{name: a, count: 1, operations: [{Update}]}}\n  - {{name: b, count: 1, operations: [{beside}]}}\n"
            + $"  - {{name: c, count: 1, operations: [{Update}]}}\n");
        Assert.Equal([true, mustMatch], ((string[])["a", "c"])
            .Select(name => MustMatch(later.Phases.Single(phase => phase.Name == name).Groups[0].Operations[0].Operation)));
    }

    [Theory]
    [InlineData("capped: true, size: 1000000")]
    [InlineData("timeseries: {timeField: at}")]
    public void Nothing_must_be_found_where_the_server_keeps_documents_as_it_likes(string options)
    {
        string data =
            $"data:\n  users: {{count: 100, document: {{at: {{^date: {{start: 2024-01-01, step: 1s}}}}}}, options: {{{options}}}}}\n";
        Assert.False(MustMatch(Read("phases: [{name: p, count: 1, operations: [{update: users, key: uniform, with: {$set: {x: 1}}}]}]\n",
            data).Phases.Last().Groups[0].Operations[0].Operation));
    }

    [Theory]
    [InlineData("{$inc: {n: 1}}", true)]
    [InlineData("{$inc: {visits: -2}}", true)]
    [InlineData("{$push: {list: 1}}", true)]
    [InlineData("{$inc: {n: 0}}", false)]
    [InlineData("{$inc: {d: 1}}", false)]
    [InlineData("{$inc: {n: {^int: [0, 1]}}}", false)]
    [InlineData("{$push: {list: {$each: []}}}", false)]
    [InlineData("{$set: {n: 1}}", false)]
    public void An_update_must_modify_what_it_finds_where_it_can_not_leave_it_as_it_was(string with, bool mustModify) =>
        Assert.Equal(mustModify, ((UpdateDocuments)Operations($"{{update: users, key: uniform, with: {with}}}")[0]).MustModify);

    [Fact]
    public void Documents_of_a_growth_must_be_found_at_each_size()
    {
        const string Growth = """
            data: {users: {document: {n: ^number}}}
            phases:
              - grow: users
                to: 100
                writes: [{name: w, writeConcern: {w: 0}}]
                beside: [{name: b, operations: [{update: users, name: beside, key: uniform, with: {$set: {a: 1}}}]}]
                each: [{name: e, count: 1, operations: [{update: users, key: uniform, with: {$set: {a: 1}}}]}]

            """;
        foreach (string concern in (string[])["{w: 0}", "{w: 1}"])
        {
            GrowthPlan growth = Read(Growth.Replace("{w: 0}", concern, StringComparison.Ordinal), "").Rounds[0].Phases.Single().Growth!;
            Assert.True(MustMatch(growth.Each[0].Groups[0].Operations[0].Operation));
            // What is not acknowledged may not be there yet.
            Assert.Equal(concern == "{w: 1}", MustMatch(growth.Beside[0].Operations[0].Operation));
        }
    }

    private static bool MustMatch(Operation operation) => operation.Steps[^1] switch
    {
        UpdateDocuments update => update.MustMatch,
        FindAndModify change => change.MustMatch,
        _ => throw new ArgumentException($"{operation} is no update", nameof(operation)),
    };

    private static Operation[] Operations(string operations) =>
        [.. Read($"phases: [{{name: p, count: 1, operations: [{operations}]}}]\n").Phases.Last().Groups[0].Operations
            .Select(o => o.Operation)];

    private static Plan Read(string phases, string data = Users) => ScenarioTexts.Plan($"description: x\n{data}{phases}");
}
