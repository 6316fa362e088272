using System.Security.Cryptography.X509Certificates;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Security;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Deployments.Security;

/// <summary>
/// What servers and clients know each other by: made once, readable by one user, and named but never shown on a command line.
/// </summary>
public sealed class SecurityFilesTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Files_are_made_once_and_for_this_user_alone()
    {
        SecurityFiles files = Make(auth: true, tls: true);
        Dictionary<string, string> made = Directory.GetFiles(files.Folder).ToDictionary(file => Path.GetFileName(file), File.ReadAllText);
        Assert.Equal(["ca.pem", "keyfile", "password", "server.pem"], made.Keys.Order(StringComparer.Ordinal));
        Assert.All(Directory.GetFiles(files.Folder),
            file => Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(file)));
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute, File.GetUnixFileMode(files.Folder));
        files.Ensure();
        Assert.All(made, file => Assert.Equal(file.Value, File.ReadAllText(Path.Combine(files.Folder, file.Key))));
        // A key file has 6 to 1024 characters of base64.
        Assert.Equal(96, Convert.FromBase64String(made["keyfile"]).Length);
        var other = new SecurityFiles(_folder.At("other"), auth: true, tls: true);
        other.Ensure();
        Assert.NotEqual(made["password"], other.ReadPassword());
    }

    [Fact]
    public void What_a_start_that_was_killed_left_is_made_anew()
    {
        Directory.CreateDirectory(_folder.At("security.new"));
        File.WriteAllText(_folder.At("security.new/keyfile"), "half");
        Assert.Equal(4, Directory.GetFiles(Make(auth: true, tls: false).Folder).Length);
        Assert.False(Directory.Exists(_folder.At("security.new")));
    }

    [Fact]
    public void The_certificate_is_for_this_machine_and_for_servers_and_members_alike()
    {
        SecurityFiles files = Make(auth: false, tls: true);
        using X509Certificate2 server = X509Certificate2.CreateFromPemFile(Path.Combine(files.Folder, "server.pem"));
        Assert.True(server.HasPrivateKey);
        Assert.All(["localhost", "127.0.0.1", "::1"], name => Assert.True(server.MatchesHostname(name), name));
        Assert.False(server.MatchesHostname("example.com"));
        using X509Certificate2 authority = X509Certificate2.CreateFromPem(File.ReadAllText(files.AuthorityFile));
        using var chain = new X509Chain();
        chain.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
        chain.ChainPolicy.CustomTrustStore.Add(authority);
        chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
        chain.ChainPolicy.ApplicationPolicy.Add(new("1.3.6.1.5.5.7.3.1"));
        chain.ChainPolicy.ApplicationPolicy.Add(new("1.3.6.1.5.5.7.3.2"));
        Assert.True(chain.Build(server), string.Join("; ", chain.ChainStatus.Select(status => status.StatusInformation)));
    }

    [Theory]
    [InlineData(true, false, "--keyFile")]
    [InlineData(false, true, "--tlsMode --tlsCertificateKeyFile --tlsCAFile --tlsAllowConnectionsWithoutCertificates")]
    [InlineData(true, true, "--keyFile --tlsMode --tlsCertificateKeyFile --tlsCAFile --tlsAllowConnectionsWithoutCertificates")]
    public void Command_lines_name_the_files_that_are_needed_and_show_none_of_them(bool auth, bool tls, string options)
    {
        SecurityFiles files = Make(auth, tls);
        Assert.Equal(options, string.Join(' ', files.Arguments.Where(argument => argument.StartsWith("--", StringComparison.Ordinal))));
        Assert.DoesNotContain(files.ReadPassword(), string.Join(' ', files.Arguments), StringComparison.Ordinal);
        Assert.All(files.Arguments.Where(argument => argument.StartsWith('/')), file => Assert.True(File.Exists(file), file));
        Assert.Equal((tls, auth), (files.User.Tls is not null, files.User.Credential is not null));
        Assert.Equal(auth ? ("__system", "local", SecurityFiles.UserName, "admin") : (null, null, null, null),
            (files.System.Credential?.UserName, files.System.Credential?.Source, files.User.Credential?.UserName,
                files.User.Credential?.Source));
        Assert.Null(files.Anonymous.Credential);
        Assert.DoesNotContain(files.ReadPassword(), $"{files.User}", StringComparison.Ordinal);
    }

    [Fact]
    public void A_mongod_that_has_other_options_for_TLS_is_refused()
    {
        SecurityFiles.RequireTls(new Version(4, 2, 0));
        var e = Assert.Throws<DeploymentException>(() => SecurityFiles.RequireTls(new Version(4, 0, 28)));
        Assert.Equal("--tls needs mongod 4.2 or later, and this one is 4.0.28", e.Message);
    }

    private SecurityFiles Make(bool auth, bool tls)
    {
        var files = new SecurityFiles(_folder.Path, auth, tls);
        files.Ensure();
        return files;
    }
}
