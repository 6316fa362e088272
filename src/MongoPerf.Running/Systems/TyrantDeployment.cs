using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Running.Systems;

/// <summary>A Tokyo Tyrant server that exists (<c>--uri tyrant://</c>): never started nor stopped.</summary>
internal sealed class TyrantDeployment(ServerAddress address, ConnectionSettings settings) : IDeployment
{
    private const string ServerName = "ttserver";

    private TyrantStatus _status = TyrantStatus.Empty;

    public DeploymentKind Kind => DeploymentKind.Tyrant;

    public ServerAddress Address => address;

    public IReadOnlyList<string> Remarks =>
        ["put overwrites records with the same key and is acknowledged before anything is on disk: Tokyo Tyrant has no journal"];

    /// <summary>Asks it what it is.</summary>
    /// <returns>Always false: nothing was started.</returns>
    /// <exception cref="DeploymentException">It does not answer, is no Tokyo Tyrant server, or has no table.</exception>
    public bool EnsureRunning()
    {
        try
        {
            using TyrantConnection connection = TyrantConnection.Open(address, settings);
            _status = connection.Server;
            return false;
        }
        catch (ConnectionFailedException e)
        {
            throw new DeploymentException(Fault.CannotConnect, e.Message, e);
        }
        catch (WireProtocolException e)
        {
            throw new DeploymentException(Fault.CannotConnect, $"{e.Message}\nhint:  what answers there is not a Tokyo Tyrant server", e);
        }
        catch (TyrantServerException e)
        {
            throw new DeploymentException(
                Fault.WrongUsage, $"{e.Message}\nhint:  start it on the file of a table database: ttserver FILE.tct", e);
        }
    }

    /// <summary>What <see cref="EnsureRunning"/> was told.</summary>
    public Inspection Inspect()
    {
        int? processId = FindLocalProcess(ProcessTable.System);
        // The database's file, as the server was told: maybe relative to a folder that is not known here.
        string? folder = processId is not null && _status.Path is { } path && Path.IsPathRooted(path) ? Path.GetDirectoryName(path) : null;
        var info = new DeploymentInfo
        {
            Kind = Kind,
            Topology = Topology.TokyoTyrant,
            ServerVersion = _status.Version,
            StorageEngine = _status.Type,
            Address = address.ToString(),
            Namespace = "the table",
            ProcessId = processId,
            Remarks = Remarks,
        };
        return new Inspection(info, Directory.Exists(folder) ? folder : null);
    }

    /// <summary>Another machine's process number may be in use here too: host and name must fit as well.</summary>
    private int? FindLocalProcess(ProcessTable table) =>
        _status.FindInt64("pid") is { } pid && DeploymentInspector.IsLoopback(address.Host) && table.Find((int)pid) is not null
        && table.NameOf((int)pid) == ServerName
            ? (int)pid
            : null;
}
