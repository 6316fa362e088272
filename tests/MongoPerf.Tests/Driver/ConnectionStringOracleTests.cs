using System.Net;
using System.Text.Json;
using MongoDB.Driver;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;
using CompressorType = MongoDB.Driver.Core.Compression.CompressorType;
using Scheme = MongoDB.Driver.Core.Configuration.ConnectionStringScheme;
using TheirString = MongoDB.Driver.Core.Configuration.ConnectionString;

namespace MongoPerf.Tests.Driver;

/// <summary>The published connection strings, read by ours and by MongoDB.Driver: where both take one, it means the same.</summary>
public sealed class ConnectionStringOracleTests
{
    /// <summary>What the driver can't read although it is valid, with the reason.</summary>
    private static readonly Dictionary<string, string> Exceptions = new()
    {
        ["Arbitrary string readConcernLevel does not cause a warning"] = "its levels are an enumeration",
    };

    /// <summary>
    /// The driver leaves out what it would have to warn of. It has no unix sockets, and takes one for a host's name. Some that are not
    /// valid it takes.
    /// </summary>
    public static TheoryData<string, int, string> Strings => VectorCase.Rows(
        static vector => VectorCase.IsValid(vector) && !(vector.TryGetProperty("warning", out JsonElement warns) && warns.GetBoolean())
            && !Exceptions.ContainsKey(vector.Text("description")!) && !vector.Text("uri")!.Contains(".sock", StringComparison.Ordinal),
        "tests", "connection-string/*.json", "uri-options/*.json", "auth/legacy/connection-string.json",
        "read-write-concern/connection-string/*.json");

    [VectorTheory]
    [MemberData(nameof(Strings))]
    public void Both_read_the_same(string file, int index, string description)
    {
        string uri = VectorCase.Entry(file, "tests", index).Text("uri")!;
        ConnectionString ours = ConnectionString.Parse(uri);
        Assert.True(ours.Faults.Count == 0, description);
        Assert.Equal(PartsOf(ours), PartsOf(new TheirString(uri)));
    }

    private static string[] PartsOf(ConnectionString read) =>
    [
        .. read.Hosts.Select(host => $"host {host}"),
        $"user {read.UserName}, password {read.Password}, database {read.Database}",
        $"mechanism {read.AuthMechanism}, source {read.Option("authSource")}",
        $"set {read.ReplicaSet}, direct {read.DirectConnection ?? false}, balanced {read.LoadBalanced}",
        $"srv {read.IsSrv}, most {read.SrvMaxHosts}, service {read.SrvServiceName}",
        $"tls {read.Tls}, insecure {read.TlsInsecure}",
        $"w {read.W}, journal {read.Journal}, wtimeout {(read.Option("wTimeoutMS") is int wait ? TimeSpan.FromMilliseconds(wait) : null)}",
        $"read concern {read.ReadConcernLevel}, mode {read.ReadPreference}, staleness {read.MaxStalenessSeconds}",
        .. read.ReadPreferenceTags.Select(set => "tags " + string.Join(',', set.Select(tag => $"{tag.Key}:{tag.Value}"))),
        $"name {read.AppName}, threshold {read.LocalThreshold}, heartbeat {read.HeartbeatFrequency}",
        $"compressors {string.Join(',', read.Compressors)}, level {read.ZlibCompressionLevel}",
    ];

    private static string[] PartsOf(TheirString read) =>
    [
        .. read.Hosts.Select(host => $"host {NameOf(host)}"),
        $"user {read.Username}, password {read.Password}, database {read.DatabaseName}",
        $"mechanism {read.AuthMechanism}, source {read.AuthSource}",
        $"set {read.ReplicaSet}, direct {read.DirectConnection}, balanced {read.LoadBalanced}",
        $"srv {IsSrv(read)}, most {read.SrvMaxHosts ?? 0}, service {read.SrvServiceName ?? "mongodb"}",
        $"tls {read.Tls ?? IsSrv(read)}, insecure {read.TlsInsecure ?? false}",
        $"w {read.W}, journal {read.Journal}, wtimeout {read.WTimeout}",
        $"read concern {InCamelCase(read.ReadConcernLevel)}, mode {InCamelCase(read.ReadPreference)}, "
        + $"staleness {read.MaxStaleness?.TotalSeconds}",
        .. (read.ReadPreferenceTags ?? []).Select(set => "tags " + string.Join(',', set.Tags.Select(tag => $"{tag.Name}:{tag.Value}"))),
        $"name {read.ApplicationName}, threshold {read.LocalThreshold ?? TimeSpan.FromMilliseconds(15)}, "
        + $"heartbeat {read.HeartbeatInterval ?? TimeSpan.FromSeconds(10)}",
        $"compressors {string.Join(',', read.Compressors.Select(one => InCamelCase(one.Type)))}, level {LevelOf(read)}",
    ];

    private static bool IsSrv(TheirString read) => read.Scheme == Scheme.MongoDBPlusSrv;

    private static string InCamelCase(object? value) => JsonNamingPolicy.CamelCase.ConvertName($"{value}");

    private static int LevelOf(TheirString read) =>
        read.Compressors.FirstOrDefault(one => one.Type == CompressorType.Zlib) is { } zlib
        && zlib.Properties.TryGetValue("Level", out object? level) ? (int)level : -1;

    private static string NameOf(EndPoint host) => host switch
    {
        // Of mongodb+srv, which has no ports, it has DNS's own.
        DnsEndPoint { Port: 53 } looked => looked.Host,
        DnsEndPoint named => $"{named.Host}:{named.Port}",
        _ => $"{host}",
    };
}
