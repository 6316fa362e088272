using System.IO.Compression;
using System.Text;
using Jint;
using Jint.Native;
using MongoPerf.Reports.Html;

namespace MongoPerf.Tests.Reports.Explore;

/// <summary>
/// explore.js without a browser: the script that pages hold, in an engine that gives it what it needs to read data. One thread.
/// </summary>
internal sealed class PageScript
{
    /// <summary>Where everything is defined and the page would be built.</summary>
    private const string PageBegins = "if (section.dataset.live) return live();";

    /// <summary>In place of a browser's.</summary>
    private const string Browser = """
        globalThis.document = { getElementById: id => id === "explore" ? { dataset: {} } : id === "explore-data" ? {} : null };
        globalThis.Dygraph = class {};
        // In pieces: a carriage return and the line feed behind it would be one character to the engine, where they are two.
        globalThis.atob = text => decode(text).split("");
        class Stream {
          constructor(bytes) { this.bytes = bytes; }
          pipeThrough(way) {
            if (!this.bytes.length) throw new TypeError("nothing is no compressed stream");
            return new Stream(way.turn(this.bytes));
          }
        }
        globalThis.Blob = class {
          constructor(parts) { this.parts = parts; }
          stream() { return new Stream(new Uint8Array(this.parts[0])); }
        };
        globalThis.DecompressionStream = class {
          constructor(format) { this.turn = bytes => inflate(format, bytes); }
        };
        globalThis.CompressionStream = class {
          constructor(format) { this.turn = bytes => deflate(format, bytes); }
        };
        globalThis.Response = class {
          constructor(stream) { this.bytes = stream.bytes; }
          async arrayBuffer() { return this.bytes; }
        };
        """;

    private static readonly Prepared<Acornima.Ast.Script> Shims = Engine.PrepareScript(Browser);
    private static readonly Prepared<Acornima.Ast.Script> Program = Engine.PrepareScript(Opened(HtmlExplore.Live.Scripts[1]));

    private readonly Engine _engine = new();

    public PageScript()
    {
        _engine.SetValue("decode", (Func<string, string>)(static text => Encoding.Latin1.GetString(Convert.FromBase64String(text))));
        _engine.SetValue("btoa", (Func<string, string>)(static text => Convert.ToBase64String(Encoding.Latin1.GetBytes(text))));
        _engine.SetValue("inflate", (Func<string, JsValue, JsValue>)((format, bytes) => Turn(format, bytes, CompressionMode.Decompress)));
        _engine.SetValue("deflate", (Func<string, JsValue, JsValue>)((format, bytes) => Turn(format, bytes, CompressionMode.Compress)));
        _engine.Execute(Shims);
        _engine.Execute(Program);
    }

    /// <summary>Evaluates an expression where the script's own names mean what they mean to it.</summary>
    /// <param name="expression">The expression; <c>given</c> is the array of the values below.</param>
    /// <param name="given">Numbers, strings, and what was answered before.</param>
    /// <returns>The result; of a promise, what it comes to.</returns>
    public JsValue Ask(string expression, params object[] given)
    {
        _engine.SetValue("given", given);
        return _engine.Invoke("inside", expression).UnwrapIfPromise();
    }

    private static string Opened(string script)
    {
        Assert.Equal(2, script.Split(PageBegins).Length);
        return script.Replace(PageBegins, "globalThis.inside = text => eval(text); return;", StringComparison.Ordinal);
    }

    private JsValue Turn(string format, JsValue bytes, CompressionMode mode)
    {
        // What browsers call deflate is zlib's format.
        Assert.Equal("deflate", format);
        using var turned = new MemoryStream();
        if (mode == CompressionMode.Compress)
        {
            using var zlib = new ZLibStream(turned, mode, leaveOpen: true);
            zlib.Write(bytes.AsUint8Array());
        }
        else
        {
            using var zlib = new ZLibStream(new MemoryStream(bytes.AsUint8Array()), mode);
            zlib.CopyTo(turned);
        }

        return _engine.Intrinsics.ArrayBuffer.Construct(turned.ToArray());
    }
}
