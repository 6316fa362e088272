using MongoPerf.Load.Plans;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Steps as files write them, and what is said of those that can't be.</summary>
public sealed class StepsTests
{
    private const string Data = """
        data:
          users: {count: 100, document: {n: ^number, name: ^word, friend: ^number}}
          log: {document: {n: ^number}}

        """;

    private const string Kinds =
        "insert, insertMany, find, update, replace, delete, findAndModify, count, distinct, aggregate, runCommand";

    [Fact]
    public void Steps_have_names_of_their_own_and_what_later_ones_ask_for_is_kept()
    {
        StepSequence steps = Read("steps: [{find: users, key: zipfian, as: user}, {update: users, filter: {_id: {^from: user.friend}}, "
            + "with: {$set: {name: x}}}, {update: users, key: uniform, with: {$set: {name: y}}}, {think: {mean: 5ms}}, "
            + "{insert: log, name: note, with: {n: {^from: user.n}}, if: {user.n: {$gt: 5, $lte: 9}}}], transaction: "
            + "{readConcern: snapshot, writeConcern: {w: majority}, maxCommitTimeMS: 500}");
        Assert.Equal(["find", "update", "update 2", "note"], steps.Leaves.Select(leaf => leaf.Name));
        Assert.Equal(["find", "update", "update 2", "note", "commit", "abort"], steps.TimedSteps);
        Assert.Equal([1, null, null, null, null], steps.Sequence.Select(step => step.Keeps));
        Assert.Equal(("snapshot", 500), (steps.Transaction!.ReadConcern, steps.Transaction.MaxCommitMilliseconds));
        Assert.Equal(new ThinkTime(0, 0.005), steps.Sequence[3].Think);
        Assert.Equal(["$gt", "$lte"], steps.Sequence[4].Conditions.Select(condition => condition.Comparison));
        Assert.NotEqual(steps.Sequence[0].Operation!.Choice, steps.Sequence[2].Operation!.Choice);
        Assert.True(steps.IsWrite);
    }

    [Fact]
    public void Steps_that_send_no_command_draw_values_end_the_operation_or_wait()
    {
        StepSequence steps = Read("steps: [{values: {n: {^int: [1, 9]}, many: [1, 2]}, as: in}, {abort: true, if: {in.n: 5}}, "
            + "{delete: users, filter: {n: {^from: each}}, each: in.many, if: {each: {$gt: 1}}}, "
            + "{delete: log, filter: {n: {^from: each}}, each: in.many, if: {in.n: 2}}], think: {fixed: 5ms, mean: 1ms}");
        Assert.Equal(["delete", "delete 2", "abort"], steps.TimedSteps);
        Assert.Equal([false, true, false, false], steps.Sequence.Select(step => step.Aborts));
        Assert.Equal([false, false, true, false], steps.Sequence.Select(step => step.ChoosesElements));
        Assert.Equal(new ThinkTime(0.005, 0.001), steps.Think);
    }

    [Theory]
    [InlineData("steps: []", "p.steps: steps has no list of steps", "such as steps: [{find: users, key: uniform, as: user}, "
        + "{update: users, filter: {_id: {^from: user.friend}}, with: {…}}]")]
    [InlineData("steps: [{think: 5ms}]", "p.steps: no step does anything", "add an operation, such as {find: users, key: uniform}")]
    [InlineData("steps: [{find: users, key: uniform, as: user}, {find: users, filter: {_id: {^from: usr.friend}}}]",
        "p.steps.find 2.filter._id: ^from: no earlier step returns 'usr'; allowed: user", "did you mean 'user'?")]
    [InlineData("steps: [{find: users, filter: {_id: {^from: user.friend}}}]",
        "^from: no earlier step names what it returns, so there is no 'user'", "name what a step returns: {find: …, as: user}")]
    [InlineData("steps: [{find: users, filter: {_id: {^from: user.friend}}}, {find: users, key: uniform, as: user}]",
        "^from: 'user' is read by step 2, which has not run by then", "move that step before this one")]
    [InlineData("steps: [{find: users, filter: {_id: {^from: user.friend}}, as: user}]",
        "^from: 'user' is read by step 1, which has not run by then", "move that step before this one")]
    [InlineData("steps: [{find: users, key: uniform, as: user}, {find: users, filter: {_id: {^from: user..n}}}]",
        "'user..n' is no path", "such as order.customer, or order.items.0.product")]
    [InlineData("steps: [{find: users, key: uniform, as: user}, {find: users, filter: {_id: {^from: each.n}}}]",
        "^from: 'each' is about the elements of a step's array, and this step has no each",
        "such as each: order.items, and then {^from: each.product}")]
    [InlineData("steps: [{find: users, key: uniform, as: user}, {find: users, key: uniform, each: usr.items}]",
        "p.steps, step 2: each: no earlier step returns 'usr'; allowed: user", "did you mean 'user'?")]
    [InlineData("steps: [{find: users, key: uniform, if: {}}]", "p.steps, step 1: if asks for nothing; expected a name, or conditions "
        + "on what earlier steps returned", "such as if: order, or if: {order.status: open, order.total: {$gt: 100}}")]
    [InlineData("steps: [{find: users, key: uniform, as: user}, {find: users, key: uniform, if: {user.n: {$gr: 5}}}]",
        "p.steps, step 2: if.user.n: unknown comparison '$gr'; allowed: $eq, $ne, $gt, $gte, $lt, $lte, $exists", "did you mean '$gt'?")]
    [InlineData("steps: [{find: users, key: uniform, if: user}]",
        "p.steps, step 1: if: no earlier step names what it returns, so there is no 'user'",
        "name what a step returns: {find: …, as: user}")]
    [InlineData("steps: [{steps: [{find: users, key: uniform}]}]", "p.steps, step 1: steps can't have steps of their own",
        "write them one after the other; each repeats a step for every element of an array, and if leaves one out")]
    [InlineData("steps: [{readModifyWrite: users, key: uniform, with: {$set: {n: 1}}}]",
        "p.steps: readModifyWrite is not allowed here; allowed: " + Kinds,
        "write find and update as two steps, or make it an operation of its own")]
    [InlineData("steps: [{bulkWrite: [{insert: log}]}]", "p.steps: bulkWrite is not allowed here; allowed: " + Kinds,
        "write each of its writes as a step, or make it an operation of its own")]
    [InlineData("steps: [{upload: photos}]", "p.steps: upload is not allowed here; allowed: " + Kinds, "make it an operation of its own")]
    [InlineData("steps: [{finds: users, key: uniform}]", "p.steps: unknown operation 'finds'", "did you mean 'find'?")]
    [InlineData("steps: [{find: users, key: uniform, as: a}, {find: users, key: uniform, as: a}]",
        "p.steps, step 2: an earlier step is already called 'a'", "give it another name")]
    [InlineData("steps: [{find: users, key: uniform, as: each}]",
        "p.steps, step 1: as is 'each'; expected a name of letters, digits and _, other than each and place", "")]
    [InlineData("steps: [{values: {n: 5}}, {find: users, key: uniform}]", "p.steps, step 1: values: 'as' is missing",
        "such as as: in; later steps take the values from there: {^from: in.field}")]
    [InlineData("steps: [{values: {n: 5}, as: in, limit: 5}, {find: users, key: uniform}]",
        "p.steps, step 1: values: unknown key 'limit'; allowed: values, as, if, each", "")]
    [InlineData("steps: [{find: users, key: uniform}, {abort: true}]", "p.steps, step 2: abort: 'if' is missing",
        "such as if: {in.isInvalid: true}; without one, every operation would end here")]
    [InlineData("steps: [{find: users, key: uniform, as: u}, {abort: false, if: u}]", "p.steps, step 2: abort is false; allowed: true",
        "remove the step")]
    [InlineData("steps: [{find: users, key: uniform, as: u}, {values: {n: {^from: place}}, as: in}]",
        "^from: 'place' is about the elements of a step's array, and this step has no each",
        "such as each: order.items, and then {^from: each.product}")]
    [InlineData("steps: [{find: users, key: uniform, as: u}, {values: {n: {^from: place.n}}, each: u, as: in}]",
        "^from: 'place.n' goes on after place, which is a number", "")]
    [InlineData("steps: [{find: users, filter: {n: {^add: [1, x]}}}]",
        "p.steps.find.filter.n: ^add: a value of type String is not a number", "")]
    [InlineData("find: users, filter: {n: {^add: 1}}", "^add: expected a list of two or more numbers",
        "write {^add: [{^from: order.number}, 1]}")]
    [InlineData("find: users, filter: {n: {^int: {min: 5, max: 1, nurand: 3}}}", "^int: 5 to 1 is not a range within 0 to 2147483647",
        "write {^int: [20, 1020]}")]
    [InlineData("find: users, filter: {n: {^number: {shuffled: true}}}",
        "^number: shuffled needs a cycle, the numbers that come in another order", "such as {cycle: 100, shuffled: true}")]
    [InlineData("find: users, filter: {n: {^spelled: {number: 5, digits: 2, with: [a]}}}",
        "^spelled: with has 1 texts; expected 2 to 256, one for each digit from 0",
        "write {^spelled: {number: {^int: [0, 99]}, digits: 2, with: [ba, bo, bi]}}")]
    [InlineData("steps: [{find: users, key: uniform, name: a}, {count: users, name: a}]",
        "p.steps, step 2: another step is called 'a'", "give it another name")]
    [InlineData("steps: [{find: users, key: uniform, name: commit}]",
        "p.steps, step 1: another step is called 'commit'", "give it another name")]
    [InlineData("steps: [{delete: users, key: uniform, writeConcern: {w: 0}}]",
        "p.steps, step 1: w: 0 is not allowed in steps, which wait for each other", "")]
    [InlineData("steps: [{count: users}], transaction: true", "p.steps, step 1: MongoDB has no count in transactions",
        "write aggregate with pipeline: [{$match: {…}}, {$count: n}]")]
    [InlineData("steps: [{aggregate: users, pipeline: [{$out: log}]}], transaction: true",
        "p.steps, step 1: MongoDB has no $out and no $merge in transactions", "")]
    [InlineData("steps: [{find: users, key: uniform, readConcern: majority}], transaction: true",
        "p.steps, step 1: readConcern is the transaction's, not a step's", "write transaction: {readConcern: …} beside steps")]
    [InlineData("steps: [{find: users, key: uniform}], transaction: {readConcern: linearizable}",
        "p.steps: transaction: readConcern is 'linearizable'; allowed: local, majority, snapshot", "")]
    [InlineData("steps: [{find: users, key: uniform}], transaction: yes", "transaction is 'yes'; allowed: true, false", "")]
    [InlineData("steps: [{find: users, key: uniform}], session: casual", "session is 'casual'; allowed: causal", "did you mean 'causal'?")]
    [InlineData("find: users, filter: {_id: {^from: user}}", "^from: it is allowed only in steps",
        "write the operations as steps: [{find: …, as: order}, …]")]
    public void A_mistake_is_named_with_what_is_allowed(string operation, string message, string hint)
    {
        (string found, string help) = ScenarioTexts.Refusal(Text(operation));
        Assert.Contains(message, found, StringComparison.Ordinal);
        Assert.Equal(hint, help);
    }

    [Fact]
    public void What_steps_insert_is_neither_vouched_for_nor_checked()
    {
        const string Steps = "steps: [{insert: log}, {find: users, key: uniform}]";
        Phase[] phases = [.. ScenarioTexts.Plan($"{Data}phases:\n  - {{name: p, count: 1, operations: [{{{Steps}}}]}}\n"
            + "  - {name: q, count: 1, operations: [{find: log, key: uniform}, {update: log, key: uniform, with: {$inc: {n: 1}}}]}\n")
            .Phases];
        Operation[] later = [.. phases[^1].Groups[0].Operations.Select(o => o.Operation)];
        Assert.Null(((FindDocuments)later[0]).Expected);
        Assert.False(((UpdateDocuments)later[1]).MustMatch);
        (string message, _) = ScenarioTexts.Refusal(
            $"{Data}phases:\n  - {{name: p, count: 1, operations: [{{{Steps}}}]}}\n  - {{name: c, check: log}}\n");
        Assert.Contains("'log' gets documents from steps", message, StringComparison.Ordinal);
    }

    private static StepSequence Read(string operation) =>
        (StepSequence)ScenarioTexts.Plan(Text(operation)).Phases.Last().Groups[0].Operations[0].Operation;

    private static string Text(string operation) => $"{Data}phases:\n  - {{name: p, count: 1, operations: [{{{operation}}}]}}\n";
}
