using System.Text;
using System.Text.RegularExpressions;
using MongoPerf.Deployments.Security;
using MongoPerf.Learning.Writing;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Platforms;
using MongoPerf.Running.Agents;
using MongoPerf.Running.Live;
using MongoPerf.Server;
using MongoPerf.Server.Commands;
using MongoPerf.Server.Users;
using MongoPerf.Storage;
using MongoPerf.Tests.Server;
using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Traffic.Redacting;
using MongoPerf.Traffic.Replaying;
using MongoPerf.Wire.Authentication;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests;

/// <summary>What nobody may guess is drawn at random, every bit of it, and anew each time; so are ids that must not come twice.</summary>
public sealed class SecretsTests : IDisposable
{
    /// <summary>That a random bit is the same in all of them happens once in 10^19 times.</summary>
    private const int Draws = 64;

    private static readonly MongoCredential Credential = new("user", "pencil", "admin", null, new Dictionary<string, string>());

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void The_systems_random_bytes_are() => RequireRandom(40, () => SystemRandom.GetBytes(40));

    [Fact]
    public void Keys_of_the_live_page_and_of_hashed_names_are()
    {
        RequireRandom(8, () => Convert.FromHexString(LiveChild.NewKey()));
        RequireRandom(16, () => Convert.FromHexString(WrittenNames.NewKey()));
    }

    /// <summary>The key is seen by what it makes of values: of a hundred binaries the bytes that it draws for them.</summary>
    [Fact]
    public void Keys_of_redacted_recordings_are()
    {
        BsonDocument command = BsonDocument.Of(("find", "c"), ("filter", BsonDocument.Of(("a", new byte[32]))), ("$db", "d"));
        RequireRandom(32, () =>
        {
            Assert.True(new Redactor().TryRedact(OpMsgOf(command), out ReadOnlySpan<byte> redacted));
            return new BsonDocument(OpMsg.Parse(redacted).Body.ToArray()).Find("filter.a")!.Value.ToBinary().ToArray();
        });
    }

    [Theory]
    [InlineData(Scram.Sha256, 28)]
    [InlineData(Scram.Sha1, 16)]
    public void Salts_of_passwords_are_and_the_keys_that_no_password_fits(string mechanism, int saltBytes)
    {
        byte[] secret = new byte[32];
        RequireRandom(saltBytes, () => ScramCredential.Create(mechanism, "user", "pencil").Salt, draws: 12);
        int keyBytes = ScramCredential.Fake(mechanism, "user", secret).StoredKey.Length;
        RequireRandom(2 * keyBytes, () =>
        {
            ScramCredential fake = ScramCredential.Fake(mechanism, "user", secret);
            return [.. fake.StoredKey, .. fake.ServerKey];
        });
    }

    [Fact]
    public void Nonces_of_clients_and_servers_are()
    {
        RequireRandom(24, () => Convert.FromBase64String(Scram.NewNonce()));
        RequireRandom(24, () => Convert.FromBase64String(NonceIn(new ScramConversation(Scram.Sha256, Credential).Start())));
        var credential = ScramCredential.Fake(Scram.Sha256, "user", new byte[32]);
        RequireRandom(24, () => Convert.FromBase64String(
            NonceIn(new ScramServerConversation(Scram.Sha256, _ => credential).Start("n,,n=user,r=mine"u8))["mine".Length..]));
        RequireRandom(32, () => new BsonDocument(new AwsConversation(new AwsKeys("id", "key", null)).Start()).Find("r")!
            .Value.ToBinary().ToArray());

        static string NonceIn(byte[] message) => Regex.Match(Encoding.UTF8.GetString(message), "r=([^,]*)").Groups[1].Value;
    }

    /// <summary>By the salt that a user has who is not there, once with and once without users.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Secrets_of_an_embedded_servers_users_are(bool hasUsers)
    {
        int made = 0;
        RequireRandom(28, () =>
        {
            var users = new UserStore(_folder.At($"{made++}"));
            if (hasUsers)
                users.Put("user", "pencil");
            return users.Find(Scram.Sha256, UserStore.Database, "nobody").Salt;
        }, draws: hasUsers ? 12 : Draws);
    }

    [Fact]
    public void Passwords_and_key_files_of_started_servers_are()
    {
        int made = 0;
        SecurityFiles Make()
        {
            var files = new SecurityFiles(_folder.At($"{made++}"), auth: true, tls: false);
            files.Ensure();
            return files;
        }

        RequireRandom(96, () => Convert.FromBase64String(File.ReadAllText(Path.Combine(Make().Folder, "keyfile"))), draws: 20);
        RequireRandom(24, () => Convert.FromHexString(Make().ReadPassword()), draws: 20);
    }

    [Fact]
    public void Tokens_of_runs_are()
    {
        int made = 0;
        RequireRandom(16, () =>
        {
            using RunStore store = RunStore.Create(_folder.At($"{made++}"), RunParts.Run(), RunParts.Settings());
            return Convert.FromHexString(store.Token!);
        }, draws: 20);
    }

    /// <summary>By these ids agents and those who hold a lease know what is theirs from what others left under the same names.</summary>
    [Fact]
    public void Ids_of_agents_plans_and_of_writers_leases_are()
    {
        using EmbeddedServer server = EmbeddedServer.Start(new EmbeddedServerOptions { CacheBytes = 64L << 20 });
        using var starter = new Coordinator($"mongodb://127.0.0.1:{server.Port}", CancellationToken.None);
        RequireRandom(12, () => Convert.FromHexString(starter.Offer(RunParts.Settings(), 1, 1)), draws: 12);
        using var client = new TestClient(server.Port);
        using MongoConnection connection = MongoConnection.Open(new ServerAddress("127.0.0.1", server.Port), ConnectionSettings.Default);
        int made = 0;
        RequireRandom(16, () =>
        {
            new WriterLeases("test", "run", null, TimeSpan.FromSeconds(30)).Take(connection, $"c{++made}");
            return Convert.FromHexString(
                Assert.Single(client.FindAll($"{{'find': 'mongoperf', 'filter': {{'_id': 'c{made}'}}}}")).FindString("writer.session")!);
        }, isUuid: true);
    }

    /// <summary>A replay's sessions have the recorded ids, changed by these; version and variant stay.</summary>
    [Fact]
    public void Salts_of_replayed_sessions_are()
    {
        using var folder = new TemporaryFolder();
        using var recording = Recording.Open(new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("ping", 1), ("$db", "d")), BsonDocument.Of(("ok", 1))).Write(folder.At("a.bin")));
        ReplayScript script = ReplayScriptReader.Read(recording, new ReplaySettings());
        RequireRandom(16, () => new ReplayState(script).SessionSalt, isUuid: true);
    }

    [Fact]
    public void Ids_of_sessions_cursors_and_documents_are()
    {
        RequireRandom(16, () => new WireSession(null, isCausal: false, null).Id.Find("id")!.Value.ToBinary().ToArray(), isUuid: true);
        RequireRandom(8, () => BitConverter.GetBytes(ObjectIds.Next().Low));
        using EmbeddedServer server = EmbeddedServer.Start(new EmbeddedServerOptions { CacheBytes = 64L << 20 });
        using var client = new TestClient(server.Port);
        RequireRandom(16, () => client.Run("{'startSession': 1}", "admin").Find("id.id")!.Value.ToBinary().ToArray(), isUuid: true);
        client.Run("{'insert': 'c', 'documents': [{'_id': 1}, {'_id': 2}]}");
        // Positive, and never 0.
        RequireRandom(8, () => BitConverter.GetBytes(client.Run("{'find': 'c', 'batchSize': 1}").FindInt64("cursor.id")!.Value),
            isFixed: bit => bit is 0 or 63);
    }

    /// <param name="bytes">How many it has.</param>
    /// <param name="draw">Draws one.</param>
    /// <param name="isUuid">Its version and variant are no random bits.</param>
    /// <param name="isFixed">Other bits that are none: the lowest of the first byte is 0.</param>
    /// <param name="draws">Fewer where one takes time; that a byte is the same in all of them still never happens.</param>
    private static void RequireRandom(
        int bytes, Func<byte[]> draw, bool isUuid = false, Func<int, bool>? isFixed = null, int draws = Draws)
    {
        byte[][] drawn = [.. Enumerable.Range(0, draws).Select(_ => draw())];
        Assert.All(drawn, one => Assert.Equal(bytes, one.Length));
        int[] constant = [.. Enumerable.Range(0, draws < Draws ? bytes : 8 * bytes)
            .Where(at => draws < Draws ? drawn.All(one => one[at] == drawn[0][at])
                : drawn.All(one => Bit(one, at) == Bit(drawn[0], at)) && !(isUuid && at is (>= 52 and < 56) or 70 or 71)
                    && isFixed?.Invoke(at) != true)];
        Assert.Empty(constant);

        static int Bit(byte[] of, int at) => (of[at / 8] >> (at % 8)) & 1;
    }

    private static byte[] OpMsgOf(BsonDocument command) => TrafficFile.MessageOf(1, 0, command);
}
