using System.Text.Json;

namespace MongoPerf.Texts;

/// <summary>A language of reports and help: its texts by the English ones. Immutable.</summary>
public sealed class Language
{
    /// <summary>Names the language where --lang does not. LANG is not asked: the same command prints the same on every machine.</summary>
    public const string Variable = "MONGOPERF_LANG";

    private static readonly Lazy<Language> LazyChinese = new(static () => new Language("zh-CN", Read("zh.json")));
    private readonly IReadOnlyDictionary<string, string>? _texts;

    private Language(string tag, IReadOnlyDictionary<string, string>? texts)
    {
        Tag = tag;
        _texts = texts;
    }

    public static Language English { get; } = new("en", null);

    /// <summary>Simplified. Its texts are loaded on first use.</summary>
    public static Language Chinese => LazyChinese.Value;

    /// <summary>Values of --lang.</summary>
    public static IReadOnlyList<string> Names { get; } = ["en", "zh", "zh-CN"];

    /// <summary>The tag as pages name it (BCP 47).</summary>
    public string Tag { get; }

    public bool IsEnglish => _texts is null;

    /// <param name="name">One of <see cref="Names"/>.</param>
    public static Language Named(string name) => name switch
    {
        "en" => English,
        "zh" or "zh-CN" => Chinese,
        _ => throw new ArgumentException($"no language '{name}'", nameof(name)),
    };

    /// <summary>Its translations, by the English text.</summary>
    /// <exception cref="InvalidOperationException">English has none.</exception>
    public IReadOnlyDictionary<string, string> Texts =>
        _texts ?? throw new InvalidOperationException("English is the key, not a translation");

    /// <summary>The text for a key; the key itself where there is none.</summary>
    public string Find(string key) => _texts?.GetValueOrDefault(key) ?? key;

    private static Dictionary<string, string> Read(string resource)
    {
        using Stream stream = typeof(Language).Assembly.GetManifestResourceStream(resource)
            ?? throw new InvalidOperationException($"{resource} is not built in");
        return JsonSerializer.Deserialize<Dictionary<string, string>>(stream)!;
    }
}
