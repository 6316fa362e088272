using System.Text.Json;
using System.Text.Json.Serialization;
using MongoPerf.Texts;

namespace MongoPerf.Storage;

/// <summary>What a <see cref="StoredMessage"/> says, and which arguments it takes. Stored by name: never rename a value.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<MessageCode>))]
public enum MessageCode
{
    /// <summary>A whole English sentence, as runs stored them before there were codes. One argument: the sentence.</summary>
    Sentence,

    /// <summary>
    /// The command line replaced a value of the file. Five arguments: the key, whose key it is (empty where there is only one), the new
    /// value, the option, and the file's value (empty where it has none).
    /// </summary>
    ValueReplaced,

    /// <summary>
    /// <c>--scale</c> multiplied the counts. One argument, the factor, then three for each parameter that is another now: its name and
    /// values, where the old values come from ("file" or "--set"), and these.
    /// </summary>
    CountsScaled,

    /// <summary>The same where the file's deployments have memory limits or caches, which are scaled, too.</summary>
    CountsAndMemoryScaled,

    /// <summary>The run used documents that another run had loaded. One argument: that run's id.</summary>
    DataOfRun,

    /// <summary>
    /// Replies could not be verified because an operation changes documents. Three arguments: the operation, its phase, and the collection
    /// (empty where it may be any).
    /// </summary>
    DocumentsChanged,

    /// <summary>
    /// The queries' windows are as short as those of a first look are by default. Two arguments: their length, such as 0.5 s, and the
    /// number of documents below which a target is small, such as 100k.
    /// </summary>
    ShortWindow,
}

/// <summary>A statement that a run stores as a code with arguments, so that reports can make it in any language.</summary>
/// <param name="Code">What it says.</param>
/// <param name="Arguments">As many arguments as <see cref="MessageCode"/> tells.</param>
[JsonConverter(typeof(StoredMessage.Converter))]
public sealed record StoredMessage(MessageCode Code, params IReadOnlyList<string> Arguments)
{
    /// <summary>The old values of <see cref="MessageCode.CountsScaled"/> are those of the file.</summary>
    public const string OfFile = "file";

    /// <summary>The statement in the reader's language.</summary>
    public string Text => Code switch
    {
        MessageCode.ValueReplaced when Arguments[1].Length > 0 =>
            Words.Of($"{Arguments[0]} of '{Arguments[1]}': {Arguments[2]} ({Arguments[3]}, the file says {FileValue})"),
        MessageCode.ValueReplaced => Words.Of($"{Arguments[0]}: {Arguments[2]} ({Arguments[3]}, the file says {FileValue})"),
        MessageCode.CountsScaled => Words.Of($"counts: times {Arguments[0]} (--scale){ScaledParameters}"),
        MessageCode.CountsAndMemoryScaled => Words.Of($"counts, memory and caches: times {Arguments[0]} (--scale){ScaledParameters}"),
        MessageCode.DataOfRun => Words.Of($"data: as loaded by run {Arguments[0]}"),
        MessageCode.DocumentsChanged when Arguments[2].Length > 0 =>
            Words.Of($"operation '{Arguments[0]}' of phase '{Arguments[1]}' changes documents of '{Arguments[2]}'"),
        MessageCode.DocumentsChanged =>
            Words.Of($"operation '{Arguments[0]}' of phase '{Arguments[1]}' changes documents of any collection"),
        MessageCode.ShortWindow => Words.Of($"each query runs for {Arguments[0]} at each size, the default for targets under "
            + $"{Arguments[1]}, which is enough for a first look; --window 5s gives firmer figures"),
        _ => Arguments[0],
    };

    private string FileValue => Arguments[4].Length > 0 ? Arguments[4] : Words.Of("nothing");

    private string ScaledParameters
    {
        get
        {
            string changes = string.Join("; ", Arguments.Skip(1).Chunk(3)
                .Select(parameter => $"{parameter[0]} ({(parameter[1] == OfFile ? Words.Of("file") : parameter[1])}: {parameter[2]})"));
            return changes.Length == 0 ? "" : Words.Of($", so {changes}");
        }
    }

    private bool HasItsArguments => Code switch
    {
        MessageCode.ValueReplaced => Arguments.Count == 5,
        MessageCode.CountsScaled or MessageCode.CountsAndMemoryScaled => Arguments.Count % 3 == 1,
        MessageCode.DocumentsChanged => Arguments.Count == 3,
        MessageCode.ShortWindow => Arguments.Count == 2,
        _ => Arguments.Count == 1,
    };

    /// <summary>The statement in English, for progress, run.log and programs.</summary>
    public override string ToString()
    {
        using (Words.InEnglish())
            return Text;
    }

    private sealed record Parts(MessageCode Code, IReadOnlyList<string> Arguments);

    internal sealed class Converter : JsonConverter<StoredMessage>
    {
        public override StoredMessage Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
        {
            // Runs of earlier versions hold English sentences, which are shown as they are.
            if (reader.TokenType == JsonTokenType.String)
                return new StoredMessage(MessageCode.Sentence, StoredText.Clean(reader.GetString()!));
            Parts parts = JsonSerializer.Deserialize<Parts>(ref reader, options) ?? throw new JsonException("a message is null");
            var message = new StoredMessage(parts.Code, parts.Arguments);
            return message.HasItsArguments
                ? message
                : throw new JsonException($"message '{parts.Code}' has {parts.Arguments.Count} arguments");
        }

        public override void Write(Utf8JsonWriter writer, StoredMessage value, JsonSerializerOptions options) =>
            JsonSerializer.Serialize(writer, new Parts(value.Code, value.Arguments), options);
    }
}
