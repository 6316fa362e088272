using MongoPerf.Commands.Live;

namespace MongoPerf.Tests.Running.Live;

/// <summary>What the live page's server answers.</summary>
public sealed class LiveRequestTests
{
    private const string Key = "0123456789abcdef";
    private const string Host = "\r\nHost: 127.0.0.1:8080";

    [Theory]
    [InlineData($"GET /{Key}/ HTTP/1.1{Host}", nameof(LiveAnswer.Page))]
    [InlineData($"GET /{Key}/ HTTP/1.1\r\nhost:localhost:8080", nameof(LiveAnswer.Page))]
    [InlineData($"GET /{Key}/events HTTP/1.1{Host}\r\nOrigin: http://127.0.0.1:8080", nameof(LiveAnswer.Events))]
    // Without the key nothing is there.
    [InlineData($"GET / HTTP/1.1{Host}", nameof(LiveAnswer.NotFound))]
    [InlineData($"GET /0123456789abcdee/ HTTP/1.1{Host}", nameof(LiveAnswer.NotFound))]
    [InlineData($"GET /{Key}/../run.db HTTP/1.1{Host}", nameof(LiveAnswer.NotFound))]
    [InlineData($"GET /{Key}/events?x HTTP/1.1{Host}", nameof(LiveAnswer.NotFound))]
    [InlineData($"POST /{Key}/ HTTP/1.1{Host}", nameof(LiveAnswer.WrongMethod))]
    [InlineData($"OPTIONS * HTTP/1.1{Host}", nameof(LiveAnswer.WrongMethod))]
    // A name of another site's that was made to lead here, another port, another site's page.
    [InlineData($"GET /{Key}/ HTTP/1.1\r\nHost: evil.example:8080", nameof(LiveAnswer.Forbidden))]
    [InlineData($"GET /{Key}/ HTTP/1.1\r\nHost: 127.0.0.1.evil.example:8080", nameof(LiveAnswer.Forbidden))]
    [InlineData($"GET /{Key}/ HTTP/1.1\r\nHost: 127.0.0.1:8081", nameof(LiveAnswer.Forbidden))]
    [InlineData($"GET /{Key}/events HTTP/1.1{Host}\r\nOrigin: https://evil.example", nameof(LiveAnswer.Forbidden))]
    [InlineData($"GET /{Key}/events HTTP/1.1{Host}\r\nOrigin: null", nameof(LiveAnswer.Forbidden))]
    [InlineData($"GET /{Key}/ HTTP/1.1", nameof(LiveAnswer.BadRequest))]
    [InlineData($"GET /{Key}/ HTTP/1.1{Host}{Host}", nameof(LiveAnswer.BadRequest))]
    [InlineData($"GET /{Key}/ HTTP/1.1{Host}\r\nno field", nameof(LiveAnswer.BadRequest))]
    [InlineData($"GET /{Key}/ HTTP/2{Host}", nameof(LiveAnswer.BadRequest))]
    [InlineData($"GET  /{Key}/ HTTP/1.1{Host}", nameof(LiveAnswer.BadRequest))]
    [InlineData("", nameof(LiveAnswer.BadRequest))]
    public void Only_the_page_and_its_events_are_served_and_only_to_this_machine_s_own_pages(string head, string answer) =>
        Assert.Equal(answer, LiveRequest.Read(head, 8080, Key).Answer.ToString());

    [Fact]
    public void Head_asks_for_the_same_without_the_body() =>
        Assert.Equal(new LiveRequest(LiveAnswer.Page, IsHead: true), LiveRequest.Read($"HEAD /{Key}/ HTTP/1.1{Host}", 8080, Key));
}
