using MongoPerf.Server.Users;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Security;

/// <summary>
/// The user that clients of servers with logins log in as: one for each server, or replica set, that keeps users of its own.
/// </summary>
internal static class LocalUser
{
    private const int AlreadyExists = 51003;

    /// <summary>Makes it unless it is there.</summary>
    /// <param name="server">Takes writes.</param>
    /// <param name="security">Holds its password.</param>
    /// <param name="needsInternalCommands">
    /// A mongod routes: what clients send it are commands that servers send one another, and only __system may.
    /// </param>
    /// <exception cref="DeploymentException">The server does not make it.</exception>
    public static void Ensure(ServerAddress server, SecurityFiles security, bool needsInternalCommands = false)
    {
        BsonDocument[] roles = needsInternalCommands ? [Role("root"), Role("__system")] : [Role("root")];
        try
        {
            using MongoConnection connection = MongoConnection.Open(server, security.System);
            connection.RunCommand(
                "admin", BsonDocument.Of(("createUser", SecurityFiles.UserName), ("pwd", security.ReadPassword()), ("roles", roles)));
        }
        catch (ServerCommandException e) when (e.Code == AlreadyExists)
        {
            // By an earlier start.
        }
        catch (Exception e) when (e is IOException or ServerCommandException)
        {
            throw new DeploymentException(
                Fault.CannotConnect, $"{server}: the user {SecurityFiles.UserName} can't be created: {e.Message}", e);
        }
    }

    /// <summary>Stores the user of the embedded server, before that starts.</summary>
    /// <param name="dataFolder">The data folder of that server.</param>
    /// <param name="security">Holds the password.</param>
    /// <exception cref="IOException">The folder can't be written, or holds something else.</exception>
    public static void Store(string dataFolder, SecurityFiles security) =>
        new UserStore(dataFolder).Put(SecurityFiles.UserName, security.ReadPassword());

    private static BsonDocument Role(string name) => BsonDocument.Of(("role", name), ("db", "admin"));
}
