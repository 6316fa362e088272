using System.Collections;
using Microsoft.Playwright;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Explore;

/// <summary>The Chromium that MONGOPERF_CHROMIUM names, started once for a class of tests; ./run-tests brings Debian's.</summary>
public sealed class Browser : IAsyncLifetime
{
    private readonly Dictionary<string, OpenedPage> _kept = [];
    private IPlaywright? _playwright;
    private IBrowser? _browser;

    /// <summary>For the pages of the class.</summary>
    internal TemporaryFolder Folder { get; } = new();

    public async ValueTask InitializeAsync()
    {
        if (ChromiumFactAttribute.Path is not { Length: > 0 } path)
            return;
        _playwright = await Playwright.CreateAsync();
        _browser = await _playwright.Chromium.LaunchAsync(new BrowserTypeLaunchOptions
        {
            ExecutablePath = path, Args = ["--no-sandbox", "--disable-gpu"],
            // The tests' own place for settings must not come to be, and a browser makes it.
            Env = Environment.GetEnvironmentVariables().Cast<DictionaryEntry>().Where(one => (string)one.Key != "XDG_CONFIG_HOME")
                .Select(one => KeyValuePair.Create((string)one.Key, (string)one.Value!))
                .Append(KeyValuePair.Create("XDG_CONFIG_HOME", Folder.At("config"))),
        });
    }

    public async ValueTask DisposeAsync()
    {
        if (_browser is not null)
            await _browser.DisposeAsync();
        _playwright?.Dispose();
        Folder.Dispose();
    }

    /// <summary>Opens a page as a reader does who has no network.</summary>
    /// <param name="address">Of the page, with what follows #.</param>
    /// <param name="reader">How that reader looks at it.</param>
    /// <param name="isKept">Whether it stays open when a test is done with it.</param>
    internal async Task<OpenedPage> Open(string address, BrowserNewContextOptions? reader = null, bool isKept = false)
    {
        IBrowserContext context = await _browser!.NewContextAsync(reader ?? new BrowserNewContextOptions());
        var opened = new OpenedPage(await context.NewPageAsync(), address, isKept);
        await opened.Page.GotoAsync(address);
        return opened;
    }

    /// <summary>
    /// The same page for one test after the other, as most of what a test would take is a new one; it shows the whole run, with
    /// no line switched off.
    /// </summary>
    /// <param name="address">Of the page, without what follows #.</param>
    internal async Task<OpenedPage> Keep(string address)
    {
        if (!_kept.TryGetValue(address, out OpenedPage? opened))
            _kept.Add(address, opened = await Open(address, isKept: true));
        await opened.Page.EmulateMediaAsync(new PageEmulateMediaOptions { Media = Media.Null });
        await opened.Page.GotoAsync(address + "#explore&");
        await opened.Drawn();
        return opened;
    }
}

/// <summary>A page that must raise no error and load nothing; that is checked when a test is done with it.</summary>
internal sealed class OpenedPage : IAsyncDisposable
{
    private readonly List<string> _complaints = [];
    private readonly bool _isKept;

    public OpenedPage(IPage page, string address, bool isKept)
    {
        Page = page;
        _isKept = isKept;
        page.PageError += (_, error) => _complaints.Add(error);
        page.Console += (_, message) =>
        {
            if (message.Type is "error" or "warning")
                _complaints.Add(message.Text);
        };
        var uri = new Uri(address);
        string own = uri.GetLeftPart(uri.IsFile ? UriPartial.Path : UriPartial.Authority);
        page.Request += (_, request) =>
        {
            if (!request.Url.StartsWith("data:", StringComparison.Ordinal) && !request.Url.StartsWith("blob:", StringComparison.Ordinal)
                && !request.Url.StartsWith(own, StringComparison.Ordinal))
                _complaints.Add($"loads {request.Url}");
        };
    }

    public IPage Page { get; }

    /// <summary>What follows # in the page's address. The page is asked: this process hears of a new address a little later.</summary>
    public Task<string> View() => Ask<string>("location.hash.slice(1)");

    /// <summary>Waits until all panels are drawn.</summary>
    public Task Drawn() =>
        Page.Locator("#explore[data-drawn=true]").WaitForAsync(new LocatorWaitForOptions { State = WaitForSelectorState.Attached });

    public Task<T> Ask<T>(string script) => Page.EvaluateAsync<T>(script);

    public async ValueTask DisposeAsync()
    {
        if (!_isKept)
            await Page.Context.CloseAsync();
        string[] complaints = [.. _complaints];
        _complaints.Clear();
        Assert.Empty(complaints);
    }
}

/// <summary>Skipped where MONGOPERF_CHROMIUM names no browser.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class ChromiumFactAttribute : FactAttribute
{
    public ChromiumFactAttribute()
    {
        if (string.IsNullOrEmpty(Path))
            Skip = Need.Browser.Reason;
    }

    internal static string? Path => Environment.GetEnvironmentVariable("MONGOPERF_CHROMIUM");
}
