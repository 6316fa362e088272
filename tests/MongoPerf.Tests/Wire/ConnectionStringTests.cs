using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Wire;

public sealed class ConnectionStringTests
{
    private const string Secret = "S3cr3tHorse";

    [Theory]
    [InlineData("mongodb://alice:S3cr3tHorse/bar@localhost/db")]
    [InlineData("mongodb://alice:bar/S3cr3tHorse@localhost/db")]
    [InlineData("mongodb://alice:S3cr3tHorse?bar@localhost/db")]
    [InlineData("mongodb://alice:123?S3cr3tHorse@localhost/db")]
    [InlineData("mongodb://alice:123?S3cr3tHorse=x@localhost/db")]
    [InlineData("mongodb://alice:123/S3cr3tHorse@localhost/db")]
    [InlineData("mongodb://alice:S3cr3tHorse:x@localhost")]
    [InlineData("mongodb://alice:S3cr3tHorse@x@localhost")]
    [InlineData("mongodb://alice:S3cr3tHorse%@localhost")]
    [InlineData("mongodb://alice:S3cr3tHorse%ff@localhost")]
    [InlineData("mongodb://alice:S3cr3tHorse@localhost:99999")]
    [InlineData("mongodb://alice:S3cr3tHorse@:1")]
    [InlineData("mongodb://alice:S3cr3tHorse@localhost/?tls=true&ssl=false")]
    [InlineData("mongodb://alice:S3cr3tHorse@localhost/?authMechanism=MONGODB-X509")]
    [InlineData("mongodb://alice:S3cr3tHorse@localhost/?w")]
    [InlineData("mongodb://localhost/?proxyPassword=S3cr3tHorse")]
    [InlineData("mongodb+srv://alice:S3cr3tHorse@cluster.example.com:27017/")]
    [InlineData("mongodb://alice:S3cr3tHorse@%2Ftmp%2Fmongodb.sock:27017/")]
    [InlineData("alice:S3cr3tHorse@localhost")]
    [InlineData("http://alice:S3cr3tHorse@localhost")]
    public void Refusal_is_one_line_that_never_holds_the_password(string uri)
    {
        string message = Assert.Throws<ConnectionStringException>(() => ConnectionString.Parse(uri)).Message;
        Assert.DoesNotContain(Secret, message, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain('\n', message);
        Assert.StartsWith("connection string: ", message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("mongodb://localhost:70000", "'70000'", "1 to 65535")]
    [InlineData("mongodb://a,,b", "''", "not a host name or address")]
    [InlineData("mongodb://::1", "several ':'", "brackets")]
    [InlineData("mongodb://[::g]", "'[::g]'", "IPv6")]
    [InlineData("mysql://localhost", "'mysql://'", "allowed: mongodb:// and mongodb+srv://")]
    [InlineData("mongodb://h/?authMechanism=KERBEROS", "'KERBEROS'", "allowed: SCRAM-SHA-256")]
    [InlineData("mongodb://h/?w=0&journal=true", "w=0", "journal")]
    [InlineData("mongodb://h/?w=-1", "w is -1", "0 or more")]
    [InlineData("mongodb://h/?minPoolSize=5&maxPoolSize=2", "minPoolSize", "maxPoolSize")]
    [InlineData("mongodb://h/?apiStrict=true", "apiStrict", "need apiVersion=1")]
    [InlineData("mongodb://h/?maxStalenessSeconds=120", "maxStalenessSeconds", "readPreference=primary")]
    [InlineData("mongodb://h/?readPreferenceTags=dc:ny", "readPreferenceTags", "readPreference=primary")]
    public void Refusal_names_what_was_found_and_what_is_allowed(string uri, string found, string allowed)
    {
        string message = Assert.Throws<ConnectionStringException>(() => ConnectionString.Parse(uri)).Message;
        Assert.Contains(found, message, StringComparison.Ordinal);
        Assert.Contains(allowed, message, StringComparison.Ordinal);
    }

    [Fact]
    public void Masked_string_hides_password_secret_options_and_unknown_values_and_keeps_the_rest()
    {
        ConnectionString parsed = ConnectionString.Parse(
            "mongodb://al%40ice:S3cr3tHorse@[::1]:27018,h/db?w=majority&authMechanismProperties=SERVICE_NAME:S3cr3tHorse&"
            + "tlsCertificateKeyFilePassword=S3cr3tHorse&pwd=S3cr3tHorse");
        Assert.Equal(
            "mongodb://al%40ice:***@[::1]:27018,h:27017/db?w=majority&authMechanismProperties=***&"
            + "tlsCertificateKeyFilePassword=***&pwd=***",
            parsed.ToMaskedString());
        Assert.Equal(parsed.ToMaskedString(), parsed.ToString());
        Assert.DoesNotContain(Secret, parsed.Credential!.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain(Secret, Assert.Single(parsed.Faults).ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Options_that_are_not_given_have_the_specifications_defaults()
    {
        ConnectionString parsed = ConnectionString.Parse("mongodb://localhost");
        Assert.Equal([new ServerAddress("localhost", 27017)], parsed.Hosts);
        Assert.Equal("localhost:27017", parsed.Hosts[0].ToString());
        Assert.Equal((TimeSpan.FromSeconds(10), Timeout.InfiniteTimeSpan), (parsed.ConnectTimeout, parsed.SocketTimeout));
        Assert.Equal(TimeSpan.FromSeconds(10), parsed.HeartbeatFrequency);
        Assert.Equal((null, null, null), (parsed.W, parsed.Journal, parsed.WriteConcern));
        Assert.False(parsed.Tls);
        Assert.Equal((null, null, null), (parsed.ReplicaSet, parsed.ReadConcernLevel, parsed.ReadPreference));
        Assert.Empty(ConnectionFeatures.Unsupported(parsed));
        Assert.Empty(parsed.OptionsWithoutEffect());
        Assert.Empty(parsed.Warnings);
    }

    [Fact]
    public void Options_that_are_given_come_back_typed()
    {
        ConnectionString parsed = ConnectionString.Parse(
            "mongodb://h/db?W=2&journal=true&wTimeoutMS=500&READPREFERENCE=secondarypreferred&readPreferenceTags=dc:ny,rack:1&"
            + "readPreferenceTags="
            + "&maxStalenessSeconds=90&appName=me@work&connectTimeoutMS=0&replicaSet=rs0&retryWrites=false&readConcernLevel=majority");
        Assert.Equal(new WriteNodes(2, null), parsed.W);
        Assert.True(parsed.Journal);
        Assert.Equal(500, parsed.Option("wTimeoutMS"));
        Assert.Equal(("secondaryPreferred", 90), (parsed.ReadPreference, parsed.MaxStalenessSeconds));
        Assert.Equal(2, parsed.ReadPreferenceTags.Count);
        Assert.Empty(parsed.ReadPreferenceTags[1]);
        Assert.Equal(("me@work", "rs0", "majority", "db"), (parsed.AppName, parsed.ReplicaSet, parsed.ReadConcernLevel, parsed.Database));
        Assert.Equal(Timeout.InfiniteTimeSpan, parsed.ConnectTimeout);
        // Where nobody need be, nobody waits for ever.
        Assert.Equal(TimeSpan.FromSeconds(2), ConnectionSettings.From(parsed).ConnectingWithin(TimeSpan.FromSeconds(2)).ConnectTimeout);
        Assert.Equal(TimeSpan.FromSeconds(1),
            new ConnectionSettings { ConnectTimeout = TimeSpan.FromSeconds(1) }.ConnectingWithin(TimeSpan.FromSeconds(2)).ConnectTimeout);
        Assert.False((bool?)parsed.Option("retryWrites"));
        Assert.Null(parsed.Credential);
        Assert.Equal("majority", ConnectionString.Parse("mongodb://h/?w=majority").W.ToString());
    }

    [Theory]
    [InlineData("mongodb://u@h/?authMechanism=GSSAPI", "authentication by GSSAPI")]
    [InlineData("mongodb://h/?authMechanism=MONGODB-OIDC&authMechanismProperties=ENVIRONMENT:test", "authentication by MONGODB-OIDC")]
    [InlineData("mongodb://u:p@h/?authMechanism=MONGODB-CR", "authentication by MONGODB-CR")]
    [InlineData("mongodb://h/?proxyHost=p", "proxy")]
    [InlineData("mongodb://h/?timeoutMS=5", "timeoutMS")]
    public void Feature_that_is_not_there_is_named(string uri, string feature)
    {
        ConnectionString parsed = ConnectionString.Parse(uri);
        Assert.Contains(feature, Assert.Single(ConnectionFeatures.Unsupported(parsed)), StringComparison.Ordinal);
        Assert.Contains(
            feature, Assert.Throws<ConnectionStringException>(() => ConnectionSettings.From(parsed)).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("mongodb://u:p@h/")]
    [InlineData("mongodb://h/?ssl=true")]
    [InlineData("mongodb://h/?compressors=zlib,snappy")]
    [InlineData("mongodb://h/?loadBalanced=false&timeoutMS=0")]
    [InlineData("mongodb://h/?readConcernLevel=linearizable")]
    [InlineData("mongodb://%2Ftmp%2Fmongodb-27017.sock")]
    [InlineData("mongodb://h/?w=majority&journal=true&readPreference=nearest")]
    [InlineData("mongodb://h/?readPreferenceTags=")]
    public void What_is_there_is_not_refused(string uri)
    {
        ConnectionString parsed = ConnectionString.Parse(uri);
        Assert.Empty(ConnectionFeatures.Unsupported(parsed));
        Assert.Empty(parsed.OptionsWithoutEffect());
        Assert.Empty(parsed.Warnings);
        _ = ConnectionSettings.From(parsed);
    }

    [Fact]
    public void Options_about_what_is_not_there_are_named() => Assert.Equal(
        ["maxPoolSize", "retryWrites"], ConnectionString.Parse("mongodb://h/?retryWrites=true&w=1&maxPoolSize=5").OptionsWithoutEffect());

    [Fact]
    public void A_unix_socket_and_a_name_to_be_looked_up_are_shown_as_they_were_given()
    {
        Assert.Equal(
            "mongodb://%2Ftmp%2Fmongodb-27017.sock/", ConnectionString.Parse("mongodb://%2Ftmp%2Fmongodb-27017.sock").ToMaskedString());
        Assert.Equal("mongodb+srv://u:***@cluster.example.com/?w=1",
            ConnectionString.Parse("mongodb+srv://u:p@cluster.example.com/?w=1").ToMaskedString());
    }

    [Theory]
    [InlineData("foo=bar", "unknown option 'foo'")]
    [InlineData("tlsAllowInvalidHostname=true", "unknown option 'tlsAllowInvalidHostname'")]
    [InlineData("w=1&W=2", "w is given twice; give it once")]
    [InlineData("journal=1", "journal is '1'; allowed: true, false")]
    [InlineData("j=true&journal=false", "j and journal are two names for the same option; give only one")]
    [InlineData("tls=yes", "tls is 'yes'; allowed: true, false")]
    [InlineData("tls=1", "tls is '1'; allowed: true, false")]
    [InlineData("tls=", "tls is empty; allowed: true, false")]
    [InlineData("replicaSet=", "replicaSet is empty")]
    [InlineData("connectTimeoutMS=-4", "connectTimeoutMS is '-4'; allowed: 0 to 2147483647")]
    [InlineData("zlibCompressionLevel=99", "zlibCompressionLevel is '99'; allowed: -1 to 9")]
    [InlineData("heartbeatFrequencyMS=499", "heartbeatFrequencyMS is '499'; allowed: 500 to 2147483647")]
    [InlineData("maxStalenessSeconds=10&readPreference=nearest", "maxStalenessSeconds is '10'; allowed: -1 and 90 to 2147483647")]
    [InlineData("readPreference=secondry",
        "readPreference is 'secondry'; allowed: primary, primaryPreferred, secondary, secondaryPreferred, nearest")]
    [InlineData(
        "readPreference=secondary&readPreferenceTags=dc", "readPreferenceTags has 'dc'; name:value pairs separated by commas are expected")]
    [InlineData("compressors=zstdd", "compressors has 'zstdd'; allowed: snappy, zlib, zstd")]
    [InlineData("compressors=zstd,foo", "compressors has 'foo'; allowed: snappy, zlib, zstd")]
    [InlineData("readPreference=secondry&readPreferenceTags=dc:ny",
        "readPreference is 'secondry'; allowed: primary, primaryPreferred, secondary, secondaryPreferred, nearest")]
    [InlineData("tls=S3cr3t@h", "tls is '***'; allowed: true, false")]
    [InlineData("readConcernLevel=foo", "readConcernLevel is 'foo'; allowed: local, available, majority, linearizable, snapshot")]
    [InlineData("authMechanismProperties=x",
        "authMechanismProperties: NAME:value pairs separated by commas are expected, without a comma in a value")]
    public void What_would_be_ignored_is_refused(string options, string message)
    {
        string uri = "mongodb://u:p@h/?" + options;
        Assert.Equal("connection string: " + message,
            Assert.Throws<ConnectionStringException>(() => ConnectionString.Parse(uri).RequireSupport()).Message);
        Assert.Throws<ConnectionStringException>(() => ConnectionSettings.From(ConnectionString.Parse(uri)));
    }

    [Fact]
    public void An_old_name_is_applied_with_a_warning()
    {
        ConnectionString parsed = ConnectionString.Parse("mongodb://h/?wtimeout=5");
        parsed.RequireSupport();
        Assert.Equal(5, parsed.Option("wTimeoutMS"));
        Assert.Equal("option 'wtimeout' is called wTimeoutMS now", Assert.Single(parsed.Warnings));
    }

    [Theory]
    [InlineData("mongodb://h/?authMechanism=MONGODB-OIDC", "MONGODB-OIDC")]
    [InlineData("mongodb://u:p@h/?authMechanism=MONGODB-OIDC&authMechanismProperties=ENVIRONMENT:moon", "MONGODB-OIDC")]
    [InlineData("mongodb://u@h/?authMechanism=MONGODB-OIDC&authSource=db", "MONGODB-OIDC")]
    [InlineData("mongodb://h/?authMechanism=GSSAPI", "GSSAPI")]
    [InlineData("mongodb://h/?authMechanism=MONGODB-CR", "MONGODB-CR")]
    public void A_mechanism_that_is_not_there_is_refused_by_name_whatever_else_is_wrong(string uri, string mechanism) => Assert.Equal(
        $"connection string: authentication by {mechanism} is not supported (docs/connecting.md says what is)",
        Assert.Throws<ConnectionStringException>(() => ConnectionString.Parse(uri)).Message);

    [Theory]
    [InlineData("mongodb://a,b/?directConnection=true", "directConnection=true allows one host; found 2")]
    [InlineData("", "nothing (it is empty)")]
    [InlineData("x", "no scheme")]
    public void It_is_said_what_is_wrong(string uri, string why) =>
        Assert.Contains(why, Assert.Throws<ConnectionStringException>(() => ConnectionString.Parse(uri)).Message, StringComparison.Ordinal);

    /// <summary>The server refuses a longer one: 128 bytes, by the handshake's specification.</summary>
    [Fact]
    public void An_application_has_a_name_of_128_bytes_at_most()
    {
        Assert.Equal(new string('a', 128), ConnectionString.Parse($"mongodb://h/?appName={new string('a', 128)}").AppName);
        Assert.Equal("connection string: appName has 130 bytes, at most 128 are allowed", Assert.Throws<ConnectionStringException>(() =>
            ConnectionString.Parse($"mongodb://h/?appName={new string('ä', 65)}")).Message);
    }

    [Fact]
    public void An_unknown_mechanism_is_answered_with_those_that_work() => Assert.Equal(
        "connection string: authMechanism is 'FOO'; allowed: SCRAM-SHA-256, SCRAM-SHA-1, MONGODB-X509, PLAIN, MONGODB-AWS",
        Assert.Throws<ConnectionStringException>(() => ConnectionString.Parse("mongodb://u:p@h/?authMechanism=FOO")).Message);

    [Fact]
    public void A_unix_sockets_path_is_shown_decoded_and_holds_no_control_character()
    {
        Assert.Equal("/tmp/nope.sock", ConnectionString.Parse("mongodb://%2Ftmp%2Fnope.sock").Hosts[0].ToString());
        string message = Assert.Throws<ConnectionFailedException>(() =>
            MongoConnection.Open(new ServerAddress("/nowhere/nope.sock", 0), ConnectionSettings.Default)).Message;
        Assert.Equal("/nowhere/nope.sock: connection failed (there is no such socket)", message);
        Assert.Contains(
            "control character",
            Assert.Throws<ConnectionStringException>(() => ConnectionString.Parse("mongodb://%2Ftmp%2F%1B[2J.sock")).Message,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("", false)]
    [InlineData("&tlsDisableCertificateRevocationCheck=true", false)]
    [InlineData("&tlsDisableOCSPEndpointCheck=true", false)]
    [InlineData("&tlsDisableCertificateRevocationCheck=false", true)]
    [InlineData("&tlsDisableOCSPEndpointCheck=false", true)]
    public void Revocation_is_checked_where_switching_it_off_is_refused(string option, bool isChecked) =>
        Assert.Equal(isChecked, ConnectionString.Parse("mongodb://h/?tls=true" + option).TlsChecksRevocation);

    [Theory]
    [InlineData("", false, false)]
    [InlineData("&tlsInsecure=true", true, true)]
    [InlineData("&tlsInsecure=false", false, false)]
    [InlineData("&tlsAllowInvalidCertificates=true", true, false)]
    [InlineData("&tlsAllowInvalidHostnames=true", false, true)]
    [InlineData("&tlsAllowInvalidCertificates=false&tlsAllowInvalidHostnames=false", false, false)]
    public void Only_what_is_allowed_goes_unchecked(string option, bool anyCertificate, bool anyName)
    {
        ConnectionString uri = ConnectionString.Parse("mongodb://h/?tls=true" + option);
        Assert.Equal((anyCertificate, anyName), (uri.TlsAllowInvalidCertificates, uri.TlsAllowInvalidHostnames));
    }

    [Fact]
    public void Passwords_are_put_in_where_they_belong()
    {
        ConnectionString uri = ConnectionString.Parse(
            "mongodb://u%40x@h:1,i/d?tls=true&tlsCertificateKeyFilePassword=old&appName=a");
        Assert.Equal("mongodb://u%40x:p%3Aq@h:1,i:27017/d?tls=true&tlsCertificateKeyFilePassword=old&appName=a", uri.With("p:q"));
        Assert.Equal(
            "mongodb://u%40x@h:1,i:27017/d?tls=true&appName=a&tlsCertificateKeyFilePassword=n%26w", uri.With(keyPassword: "n&w"));
    }

    [Fact]
    public void A_fault_that_may_be_a_password_is_told_with_how_to_write_it_and_another_one_without()
    {
        string hidden = Assert.Throws<ConnectionStringException>(() => ConnectionString.Parse("mongodb://u:p/w@h/")).Message;
        Assert.EndsWith("; in a user name or password, write @ : / ? # % as %40 %3A %2F %3F %23 %25", hidden, StringComparison.Ordinal);
        string shown = Assert.Throws<ConnectionStringException>(() => ConnectionString.Parse("mongodb://h:1:2/")).Message;
        Assert.DoesNotContain("%40", shown, StringComparison.Ordinal);
    }

    [Fact]
    public void Settings_that_nothing_asks_for_wait_as_long_as_they_say()
    {
        ConnectionSettings settings = ConnectionSettings.From(ConnectionString.Parse("mongodb://h"));
        Assert.Equal((10, 60, 15, 10), (settings.ConnectTimeout.TotalSeconds, settings.ReplyTimeout.TotalSeconds,
            settings.LocalThreshold.TotalMilliseconds, settings.HeartbeatFrequency.TotalSeconds));
        Assert.Equal((4_096, -1, "mongoperf"), (settings.ReceiveBufferBytes, settings.ZlibLevel, settings.ApplicationName));
        Assert.Equal(new ConnectionSettings().ConnectTimeout, settings.ConnectTimeout);
    }

    [Theory]
    [InlineData("1", "1", false, false)]
    [InlineData("1,strict", "1,strict", true, false)]
    [InlineData("1,deprecationErrors", "1,deprecationErrors", false, true)]
    [InlineData("1,deprecationErrors,strict", "1,strict,deprecationErrors", true, true)]
    public void A_server_api_is_a_version_with_what_is_asked_for(string text, string shown, bool isStrict, bool refusesDeprecated)
    {
        ServerApi api = ServerApi.Parse(text);
        Assert.Equal(
            (shown, "1", isStrict, refusesDeprecated), (api.ToString(), api.Version, api.IsStrict, api.RefusesDeprecated));
    }

    [Theory]
    [InlineData("2")]
    [InlineData("")]
    [InlineData("strict")]
    [InlineData("1,")]
    [InlineData("1,strict,x")]
    [InlineData("1,x,strict")]
    public void Another_server_api_is_answered_with_those_that_are_there(string text) => Assert.Equal(
        $"'{text}' is not a server API; allowed: 1, 1,strict, 1,deprecationErrors, 1,strict,deprecationErrors",
        Assert.Throws<FormatException>(() => ServerApi.Parse(text)).Message);

    [Fact]
    public void Semicolon_separates_options_as_it_did_of_old()
    {
        ConnectionString parsed = ConnectionString.Parse("mongodb://h/?w=1;journal=true");
        Assert.Equal((1, true), (parsed.W!.Value.Count!.Value, parsed.Journal));
    }
}
