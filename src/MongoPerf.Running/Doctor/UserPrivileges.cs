using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Running.Doctor;

/// <summary>What the user of a connection may do, as the server says. Immutable.</summary>
/// <param name="User">Null when nobody is logged in.</param>
/// <param name="Roles">The roles, such as "readWrite on shop".</param>
/// <param name="Privileges">Null when the server does not list them: then anything may be allowed.</param>
public sealed record UserPrivileges(string? User, IReadOnlyList<string> Roles, IReadOnlyList<BsonDocument>? Privileges)
{
    private const int LongestName = 60;

    public static UserPrivileges Read(MongoConnection connection) =>
        From(connection.RunUnchecked("admin", BsonDocument.Of(("connectionStatus", 1), ("showPrivileges", true))));

    /// <param name="reply">The reply to connectionStatus, with privileges.</param>
    public static UserPrivileges From(BsonDocument reply)
    {
        string? user = reply.FindString("authInfo.authenticatedUsers.0.user");
        return new UserPrivileges(
            user is null ? null : Shown(user),
            [.. ItemsOf(reply, "authInfo.authenticatedUserRoles")
                .Select(role => $"{Shown(role.FindString("role"))} on {Shown(role.FindString("db"))}")],
            user is null || reply.FindDocument("authInfo.authenticatedUserPrivileges") is null ? null
                : [.. ItemsOf(reply, "authInfo.authenticatedUserPrivileges")]);
    }

    /// <param name="action">The action as MongoDB's manual names it, such as insert.</param>
    /// <param name="database">Null for an action of the server or cluster as a whole.</param>
    public bool May(string action, string? database) => Privileges is null || Privileges.Any(privilege =>
        ItemTexts(privilege, "actions").Contains(action) && privilege.FindDocument("resource") is { } resource
        && (resource.IsTrue("anyResource") || (database is null ? resource.IsTrue("cluster")
            : resource.FindString("collection") is "" && resource.FindString("db") is { } db && (db.Length == 0 || db == database))));

    private static string Shown(string? name) => ForeignText.OneLine(name ?? "", LongestName);

    private static IEnumerable<BsonDocument> ItemsOf(BsonDocument document, string list) =>
        (document.FindDocument(list) ?? BsonDocument.Empty).Select(item => item.Value.ToDocument());

    private static IEnumerable<string> ItemTexts(BsonDocument document, string list) =>
        (document.FindDocument(list) ?? BsonDocument.Empty).Select(item => item.Value.ToString());
}
