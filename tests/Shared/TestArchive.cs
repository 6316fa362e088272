using System.Formats.Tar;
using System.IO.Compression;
using System.Security.Cryptography;
using System.Text;

namespace MongoPerf.Testing;

/// <summary>Archives in the form of MongoDB's, made for a test.</summary>
public static class TestArchive
{
    private const UnixFileMode Program = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;

    /// <summary>
    /// One with a mongod that only says its version, a mongos, and a text that makes it <paramref name="padding"/> bytes long and more.
    /// </summary>
    public static byte[] Of(string version, bool withMongos = true, int padding = 0)
    {
        string top = $"mongodb-linux-x86_64-debian12-{version}";
        string program = $"#!/bin/sh\necho 'db version v{version}'\n";
        List<TarEntry> entries =
        [
            Directory($"{top}/bin"), File($"{top}/README", Noise(padding)), File($"{top}/bin/mongod", Encoding.UTF8.GetBytes(program)),
        ];
        if (withMongos)
            entries.Add(File($"{top}/bin/mongos", Encoding.UTF8.GetBytes(program)));
        return Pack(entries);
    }

    /// <summary>One whose mongod is that program, by way of a script.</summary>
    public static byte[] Around(string mongod, string version) => Pack(
    [
        File($"mongodb-linux-x86_64-debian12-{version}/bin/mongod", Encoding.UTF8.GetBytes($"#!/bin/sh\nexec {mongod} \"$@\"\n")),
    ]);

    public static byte[] Pack(IEnumerable<TarEntry> entries)
    {
        using var packed = new MemoryStream();
        using (var gzip = new GZipStream(packed, CompressionLevel.Fastest))
        using (var tar = new TarWriter(gzip, TarEntryFormat.Pax))
        {
            foreach (TarEntry entry in entries)
                tar.WriteEntry(entry);
        }

        return packed.ToArray();
    }

    public static TarEntry File(string name, byte[] content) => new PaxTarEntry(TarEntryType.RegularFile, name) 
    {
        Mode = Program,
        DataStream = new MemoryStream(content),
        // The same archive each time it is made.
        ModificationTime = DateTimeOffset.UnixEpoch,
    };

    public static TarEntry Link(string name, string target) => new PaxTarEntry(TarEntryType.SymbolicLink, name) { LinkName = target };

    public static string Sha256(byte[] content) => Convert.ToHexStringLower(SHA256.HashData(content));

    /// <summary>A list of releases as MongoDB publishes it; each with an archive for debian12 on x86_64.</summary>
    public static string Feed(params (string Version, string? Sha256)[] releases) =>
        $"{{\"versions\": [{string.Join(",\n", releases.Select(r => Release(r.Version, r.Sha256)))}]}}";

    public static string PathOf(string version) => $"/linux/mongodb-linux-x86_64-debian12-{version}.tgz";

    private static TarEntry Directory(string name) =>
        new PaxTarEntry(TarEntryType.Directory, name) { ModificationTime = DateTimeOffset.UnixEpoch };

    private static string Release(string version, string? sha256)
    {
        string candidate = version.Contains('-') ? "true" : "false";
        string published = sha256 is null ? "" : $", \"sha256\": \"{sha256}\"";
        return $$"""
            {"version": "{{version}}", "production_release": true, "development_release": false, "release_candidate": {{candidate}}, "downloads": [
              {"target": "debian12", "arch": "x86_64", "edition": "enterprise",
               "archive": {"url": "https://downloads.mongodb.com/linux/mongodb-linux-x86_64-enterprise-debian12-{{version}}.tgz"}
              },
              {"target": "debian12", "arch": "x86_64", "edition": "targeted",
               "archive": {"url": "https://fastdl.mongodb.org{{PathOf(version)}}"{{published}} }
              }
            ]}
            """;
    }

    /// <summary>Bytes that do not compress, the same each time.</summary>
    private static byte[] Noise(int length)
    {
        byte[] bytes = new byte[length];
        new Random(1).NextBytes(bytes);
        return bytes;
    }
}
