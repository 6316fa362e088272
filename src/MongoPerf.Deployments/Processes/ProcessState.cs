using System.Text.Json;
using MongoPerf.Storage;
using MongoPerf.Wire.Files;

namespace MongoPerf.Deployments.Processes;

/// <summary>Which server process uses a data folder, written there so that a later MongoPerf knows it again.</summary>
internal sealed record ProcessState
{
    public const string FileName = "mongoperf-server.json";

    private static readonly JsonSerializerOptions Json = new() { WriteIndented = true };

    /// <summary>0 while it is being started.</summary>
    public int ProcessId { get; init; }

    public long StartTicks { get; init; }

    public string BootId { get; init; } = "";

    /// <summary>Random, of the program that ends the process with itself; another one's when it was taken over.</summary>
    public string Keeper { get; init; } = "";

    public int Port { get; init; }

    public string Binary { get; init; } = "";

    /// <summary>The control group that was made for it, a folder; null for none.</summary>
    public string? Group { get; init; }

    public ProcessIdentity Identity => new(ProcessId, StartTicks, BootId);

    public static string PathIn(string dataFolder) => Path.Combine(dataFolder, FileName);

    /// <returns>Null when there is none, or a broken one: it says nothing then.</returns>
    public static ProcessState? Read(string dataFolder)
    {
        try
        {
            return JsonSerializer.Deserialize<ProcessState>(OwnFiles.Read(PathIn(dataFolder)), Json);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or JsonException)
        {
            return null;
        }
    }

    /// <summary>Writes it whole or not at all.</summary>
    public void Write(string dataFolder) =>
        WholeFile.Replace(PathIn(dataFolder), file => JsonSerializer.Serialize(file, this, Json));

    public static void Delete(string dataFolder) => File.Delete(PathIn(dataFolder));
}
