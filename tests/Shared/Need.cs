namespace MongoPerf.Testing;

/// <summary>
/// Something that some tests need and not every machine has. Each test that is skipped has the reason of a need, by which ./run-tests
/// sums them up (scripts/test-results.sh).
/// </summary>
/// <param name="What">With its article, such as "a mongod".</param>
/// <param name="HowToHaveIt">What to do to run the tests that need it, or why they can't be run.</param>
public sealed record Need(string What, string HowToHaveIt)
{
    public static readonly Need Mongod = new("a mongod", "./mongoperf server install 8.0, or MONGOPERF_MONGOD=PATH");

    public static readonly Need Browser = new("a browser", "apt-get install chromium, or MONGOPERF_CHROMIUM=PATH");

    public static readonly Need Pymongo = new("pymongo for /usr/bin/python3", "apt-get install python3-pymongo python3-gridfs");

    public static readonly Need Vectors = new("MongoDB's test vectors",
        "MONGOPERF_VECTORS=FOLDER, which holds source/NAME/tests of github.com/mongodb/specifications as NAME");

    public static readonly Need Compiler = new("a C compiler", "apt-get install gcc libc6-dev");

    public static readonly Need Jq = new("jq", "apt-get install jq");

    public static readonly Need Root = new("root", "run ./run-tests as root");

    public static readonly Need OwnMounts = new("mounts of their own", "let users run 'unshare --map-root-user --mount'");

    /// <summary>Why a test is skipped that needs it.</summary>
    public string Reason => $"needs {What}: {HowToHaveIt}";

    /// <summary>Null: run the test. In CI it is never skipped, and fails where it misses this.</summary>
    /// <param name="isThere">Whether the machine has it.</param>
    public string? Unless(bool isThere) => isThere || RepositoryPaths.IsContinuousIntegration ? null : Reason;

    /// <summary>Skips the running test, also in CI.</summary>
    public void SkipUnless(bool isThere) => Assert.SkipUnless(isThere, Reason);
}
