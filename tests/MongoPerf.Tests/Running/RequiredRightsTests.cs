using MongoPerf.Load.Plans;
using MongoPerf.Running.Sessions;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Running;

/// <summary>What a user lacks for a run is said before it begins.</summary>
public sealed class RequiredRightsTests
{
    private static readonly string[] Writer = ["find", "insert", "update", "remove", "createCollection", "createIndex"];

    private readonly Plan _plan = SeriesFile.Plan();

    [Fact]
    public void Who_may_write_the_database_and_of_whom_nothing_is_known_may_begin()
    {
        RequiredRights.Check(Rights(("shop", "", Writer)), "shop", _plan, isExisting: false);
        RequiredRights.Check(UserRights.Unknown, "shop", _plan, isExisting: false);
    }

    [Fact]
    public void A_reader_may_read_what_is_there_and_nothing_else()
    {
        UserRights reader = Rights(("shop", "", ["find"]));
        Assert.Equal("'loader' may only read shop.series, which this run creates or writes; nothing was started",
            Refusal(reader, "shop").Message);
        Assert.Equal("grant role readWrite on database shop, or read what is there as it is ('existing: true' in the scenario)",
            Refusal(reader, "shop").Hint);
    }

    [Fact]
    public void Another_database_that_he_may_write_is_named() =>
        Assert.Equal("grant role readWrite on database mongoperf, or use one that this user may write: --db shop",
            Refusal(Rights(("shop", "", Writer), ("stats", "", ["find"])), "mongoperf").Hint);

    [Fact]
    public void The_markers_need_their_collection() =>
        Assert.Equal("'loader' may not write shop.mongoperf, where MongoPerf keeps its markers; nothing was started",
            Refusal(Rights(("shop", "series", Writer)), "shop").Message);

    private UserException Refusal(UserRights rights, string database) =>
        Assert.Throws<UserException>(() => RequiredRights.Check(rights, database, _plan, isExisting: false));

    private static UserRights Rights(params (string Database, string Collection, string[] Actions)[] privileges)
    {
        using var server = new FakeMongos(isMongos: false);
        server.Replies["connectionStatus"] = _ => BsonDocument.Of(
            ("authInfo", BsonDocument.Of(
                ("authenticatedUsers", new[] { BsonDocument.Of(("user", "loader"), ("db", "admin")) }),
                ("authenticatedUserRoles", Array.Empty<BsonDocument>()),
                ("authenticatedUserPrivileges", privileges.Select(one => BsonDocument.Of(
                    ("resource", BsonDocument.Of(("db", one.Database), ("collection", one.Collection))), ("actions", one.Actions)))
                    .ToArray()))),
            ("ok", 1.0));
        using MongoConnection connection = MongoConnection.Open(server.Address, ConnectionSettings.Default);
        return UserRights.Read(connection);
    }
}
