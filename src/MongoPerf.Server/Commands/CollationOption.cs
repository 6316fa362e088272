using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>The collation that a command, a statement or an index asks for, or that it leaves to the collection.</summary>
/// <param name="IsGiven">False: the collection's holds.</param>
/// <param name="Given">Null for the simple collation, which compares bytes.</param>
internal readonly record struct CollationOption(bool IsGiven, Collation? Given)
{
    private const string Version = "57.1";

    /// <summary>Bytes, whatever the collection's.</summary>
    public static CollationOption Simple => new(IsGiven: true, Given: null);

    /// <summary>The collation that holds for a command on that collection.</summary>
    public Collation? For(Collection? collection) => IsGiven ? Given : collection?.Entry.Collation;

    /// <param name="value">The value as the client gave it; empty or null leaves it to the collection.</param>
    /// <exception cref="CommandException">238 for what only mongod can; its own codes for what is no collation.</exception>
    public static CollationOption Parse(BsonValue value)
    {
        if (value.Type == BsonType.Null)
            return default;
        if (value.Type != BsonType.Document)
            throw CommandException.TypeMismatch(
                $"BSON field 'collation' is the wrong type '{Values.TypeName(value)}', expected type 'object'");
        BsonDocument given = value.ToDocument();
        if (!given.Any())
            return default;
        var fields = new Fields();
        foreach ((string name, BsonValue setting) in given)
            fields.Take(name, setting);
        return new CollationOption(IsGiven: true, fields.Make(given));
    }

    private sealed class Fields
    {
        private string? _locale;
        private long _strength = 3;
        private bool _isNumeric;
        private bool _isShifted;
        private string _caseFirst = "off";
        private string? _refused;
        private bool _hasCaseLevel;
        private bool _isBackwards;
        private string _version = Version;
        private string _maxVariable = "punct";

        public void Take(string name, BsonValue value)
        {
            switch (name)
            {
                case "locale": _locale = Text(name, value); break;
                case "strength": _strength = Strength(value); break;
                case "numericOrdering": _isNumeric = CommandFields.Boolean("collation", name, value); break;
                case "alternate": _isShifted = OneOf(name, value, "non-ignorable", "shifted") == "shifted"; break;
                case "caseLevel": _hasCaseLevel = CommandFields.Boolean("collation", name, value); break;
                case "caseFirst": _caseFirst = OneOf(name, value, "off", "upper", "lower"); break;
                case "maxVariable": _maxVariable = OneOf(name, value, "punct", "space"); break;
                case "backwards": _isBackwards = CommandFields.Boolean("collation", name, value); break;
                case "normalization" when CommandFields.Boolean("collation", name, value): _refused = "'normalization: true'"; break;
                case "normalization": break;
                case "version": _version = Text(name, value); break;
                default: throw CommandException.UnknownField("collation", name);
            }
        }

        public Collation? Make(BsonDocument given)
        {
            string locale = _locale ?? throw CommandException.MissingField("collation", "locale");
            string text = ValueText.Of(BsonType.Document, given.Bytes);
            if (locale.Length == 0)
                throw CommandException.BadValue($"Field 'locale' cannot be the empty string in: {text}");
            if (locale == "simple")
                return null;
            if (_version != Version)
                throw new CommandException(161, "IncompatibleCollationVersion", $"Requested collation version {_version} but the only "
                    + $"available collator version was {Version}. Requested collation spec: {text}");
            if (_isBackwards && _strength == 1)
                throw CommandException.BadValue($"'backwards' is invalid with 'strength' of 1 in: {text}");
            if (_caseFirst != "off" && !_hasCaseLevel && _strength < 3)
                throw CommandException.BadValue(
                    $"'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2 in: {text}");
            if (!Collation.Locales.Contains(locale))
                throw MongoLocales.Contains(locale)
                    ? CommandException.NotSupported($"the collation of locale '{locale}', which has rules of its own; known are simple, "
                        + string.Join(", ", Collation.Locales))
                    : CommandException.BadValue($"Field 'locale' is invalid in: {text}");
            string? refused = _hasCaseLevel ? "'caseLevel: true'"
                : _caseFirst != "off" ? $"'caseFirst: {_caseFirst}'"
                : _isBackwards ? "'backwards: true'"
                : _maxVariable != "punct" ? "'maxVariable: space'"
                : _strength > 3 ? $"'strength: {_strength}'" : _refused;
            return refused == null
                ? Collation.Of(locale, (int)_strength, _isNumeric, _isShifted)
                : throw CommandException.NotSupported($"{refused} in a collation");
        }

        private static string Text(string name, BsonValue value) => value.Type == BsonType.String
            ? value.ToString()
            : throw CommandFields.Mismatch("collation", name, value.Type, "string");

        private static string OneOf(string name, BsonValue value, params string[] known) => known.Contains(Text(name, value))
            ? value.ToString()
            : throw CommandException.BadValue($"Enumeration value '{value}' for field 'collation.{name}' is not a valid value.");

        private static long Strength(BsonValue value)
        {
            if (!value.IsNumber)
                throw CommandException.TypeMismatch($"BSON field 'collation.strength' is the wrong type '{Values.TypeName(value)}', "
                    + "expected types '[long, int, decimal, double']");
            return value.ToInt64() switch
            {
                < 0 => throw CommandException.Location(51024, $"BSON field 'strength' value must be >= 0, actual value '{value}'"),
                0 => throw CommandException.BadValue("Enumeration value '0' for field 'collation.strength' is not a valid value."),
                > 5 => throw CommandException.Location(51024, $"BSON field 'strength' value must be <= 5, actual value '{value}'"),
                var strength => strength,
            };
        }
    }

    /// <summary>Locales that MongoDB 6.0 knows and whose order is not the root order. Source: mongod 6.0.5.</summary>
    private static readonly string[] MongoLocales =
    [
        "af", "am", "ar", "as", "az", "be", "bg", "bn", "bs", "bs_Cyrl", "chr", "cs", "cy", "da", "dsb", "ee", "el",
        "en_US_POSIX", "eo", "es", "et", "fa", "fa_AF", "fi", "fil", "fo", "fr_CA", "gl", "gu", "ha", "haw", "he", "hi", "hr",
        "hsb", "hu", "hy", "ig", "is", "ja", "ka", "kk", "kl", "km", "kn", "ko", "kok", "ky", "lkt", "ln", "lo", "lt", "lv", "mk",
        "ml", "mn", "mr", "mt", "my", "nb", "ne", "nn", "om", "or", "pa", "pl", "ps", "ro", "ru", "se", "si", "sk", "sl", "smn",
        "sq", "sr", "sr_Latn", "sv", "ta", "te", "th", "to", "tr", "ug", "uk", "ur", "vi", "yi", "yo", "zh", "zh_Hant",
    ];
}
