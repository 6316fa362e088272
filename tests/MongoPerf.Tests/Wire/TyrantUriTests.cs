using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Tests.Wire;

/// <summary>tyrant://host[:port], and what is wrong with anything else.</summary>
public sealed class TyrantUriTests
{
    [Theory]
    [InlineData("tyrant://news", "news", 1978)]
    [InlineData("tyrant://news/", "news", 1978)]
    [InlineData("tyrant://127.0.0.1:2000", "127.0.0.1", 2000)]
    [InlineData("TYRANT://news:65535/", "news", 65535)]
    [InlineData("tyrant://[::1]", "::1", 1978)]
    [InlineData("tyrant://[::1]:1979", "::1", 1979)]
    public void Names_one_server(string text, string host, int port) => Assert.Equal(new ServerAddress(host, port), TyrantUri.Parse(text));

    [Theory]
    [InlineData("mongodb://news", "'tyrant://host[:port]' is expected")]
    [InlineData("tyrant://", "no host; tyrant://host[:port] is expected")]
    [InlineData("tyrant://:1978", "no host; tyrant://host[:port] is expected")]
    [InlineData("tyrant://a b", "host 'a b' is not a host name or address")]
    [InlineData("tyrant://news:0", "port '0'; allowed: 1 to 65535")]
    [InlineData("tyrant://news:65536", "port '65536'; allowed: 1 to 65535")]
    [InlineData("tyrant://news:", "port ''; allowed: 1 to 65535")]
    [InlineData("tyrant://::1", "host '::1' with several ':'; host:port is allowed; write IPv6 addresses in brackets")]
    [InlineData("tyrant://[::1", "host '[::1' is not an IPv6 address in brackets")]
    [InlineData("tyrant://[news]", "host '[news]' is not an IPv6 address in brackets")]
    [InlineData("tyrant://a,b:1", "several hosts 'a,b:1', one is allowed with tyrant://")]
    [InlineData("tyrant://a/db", "path '/db', none is allowed: a Tokyo Tyrant server has one database")]
    [InlineData("tyrant://a/?w=0", "options '?w=0', none are allowed with tyrant://")]
    public void Says_what_is_wrong(string text, string message) =>
        Assert.Equal($"connection string: {message}", Assert.Throws<ConnectionStringException>(() => TyrantUri.Parse(text)).Message);

    [Theory]
    [InlineData("tyrant://me:secret@news")]
    [InlineData("tyrant://me:sec/ret?@news")]
    public void Never_shows_what_may_be_a_password(string text)
    {
        string message = Assert.Throws<ConnectionStringException>(() => TyrantUri.Parse(text)).Message;
        Assert.Contains("Tokyo Tyrant knows no users", message, StringComparison.Ordinal);
        Assert.DoesNotContain("sec", message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("tyrant://", true)]
    [InlineData("Tyrant://a", true)]
    [InlineData("mongodb://tyrant", false)]
    [InlineData("tyrant", false)]
    public void Tells_its_scheme_from_others(string text, bool expected) => Assert.Equal(expected, TyrantUri.IsOne(text));
}
