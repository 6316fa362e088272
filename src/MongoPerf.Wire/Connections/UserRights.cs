using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Connections;

/// <summary>What the user of a connection may do, as the server says (connectionStatus). Immutable.</summary>
/// <remarks>
/// A server without logins names no user and no privilege, and lets everybody do everything; other servers may not list privileges
/// at all. Then nothing is known, and every question is answered with yes: whoever tries it sees.
/// </remarks>
public sealed class UserRights
{
    private const int LongestName = 60;

    private readonly IReadOnlyList<(BsonDocument Resource, HashSet<string> Actions)>? _privileges;

    private UserRights(
        string? user, IReadOnlyList<(string Name, string Database)> roles,
        IReadOnlyList<(BsonDocument Resource, HashSet<string> Actions)>? privileges) =>
        (User, Roles, _privileges) = (user, roles, privileges);

    /// <summary>Nothing is known.</summary>
    public static UserRights Unknown { get; } = new(null, [], null);

    /// <summary>Null when nobody is logged in, or the server does not say.</summary>
    public string? User { get; }

    /// <summary>The user's roles, each with the database that defines it.</summary>
    public IReadOnlyList<(string Name, string Database)> Roles { get; }

    public bool AreKnown => _privileges is not null;

    /// <summary>The server answered who is logged in, be it nobody.</summary>
    public bool Told { get; private init; }

    /// <summary>Databases that the user may write, where they are named; empty where that is all of them, or not known.</summary>
    public IReadOnlyList<string> WritableDatabases => [.. (_privileges ?? [])
        .Where(one => one.Actions.Contains("insert") && one.Resource.FindString("collection") == "")
        .Select(one => one.Resource.FindString("db") ?? "").Where(name => name.Length > 0).Distinct().Order(StringComparer.Ordinal)];

    /// <param name="connection">Open; its user is asked about.</param>
    public static UserRights Read(MongoConnection connection) =>
        From(connection.RunUnchecked("admin", BsonDocument.Of(("connectionStatus", 1), ("showPrivileges", true))));

    /// <param name="reply">The reply to connectionStatus with showPrivileges.</param>
    public static UserRights From(BsonDocument reply)
    {
        if (reply.FindString("authInfo.authenticatedUsers.0.user") is not { } user)
            return new UserRights(null, [], null) { Told = reply.FindDocument("authInfo.authenticatedUsers") is not null };
        (string, string)[] roles = [.. ItemsOf(reply, "authInfo.authenticatedUserRoles")
            .Select(role => (Name(role.FindString("role")), Name(role.FindString("db"))))];
        return new UserRights(Name(user), roles, reply.FindDocument("authInfo.authenticatedUserPrivileges") is null ? null
            : [.. ItemsOf(reply, "authInfo.authenticatedUserPrivileges").Select(privilege => (
                privilege.FindDocument("resource") ?? BsonDocument.Empty,
                (privilege.FindDocument("actions") ?? BsonDocument.Empty).Select(action => action.Value.ToString())
                    .ToHashSet(StringComparer.Ordinal)))]) { Told = true };
    }

    /// <param name="action">As MongoDB's manual names privilege actions, such as insert.</param>
    /// <param name="database">Its name.</param>
    /// <param name="collection">Its name; empty for every collection of the database.</param>
    public bool May(string action, string database, string collection) => _privileges is null || _privileges.Any(one =>
        one.Actions.Contains(action) && (one.Resource.IsTrue("anyResource")
            || (one.Resource.FindString("db") is { } d && (d.Length == 0 || d == database)
                && one.Resource.FindString("collection") is { } c && (c.Length == 0 || c == collection))));

    /// <param name="action">One of the server or cluster as a whole, such as fsync.</param>
    public bool MayOnCluster(string action) => _privileges is null
        || _privileges.Any(one => one.Actions.Contains(action) && (one.Resource.IsTrue("anyResource") || one.Resource.IsTrue("cluster")));

    private static string Name(string? text) => ForeignText.OneLine(text ?? "", LongestName);

    private static IEnumerable<BsonDocument> ItemsOf(BsonDocument reply, string list) =>
        (reply.FindDocument(list) ?? BsonDocument.Empty).Select(item => item.Value.ToDocument());
}
