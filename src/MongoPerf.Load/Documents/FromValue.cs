using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>A value that an earlier step of the same operation brought: only those who carry the steps out have it.</summary>
/// <param name="path">Where it stands.</param>
/// <param name="usual">In its place where there is nothing; null for none, and the operation then fails.</param>
public sealed class FromValue(ValuePath path, TemplateValue? usual) : TemplateValue
{
    private readonly byte[] _text = Encoding.UTF8.GetBytes($"^from: {path.Text}");
    private readonly string _missing = $"takes '{path.Text}', and no earlier step returned it: give it a default, or the step an if";

    public override IEnumerable<TemplateValue> Parts => usual is null ? [] : [usual];

    public override TemplateValue Bind(StepValues values) => new Bound(path, usual?.Bind(values), values, _missing);

    /// <summary>Where no step has run, as in a command that is only shown, it stands for itself.</summary>
    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context) => writer.WriteString(name, _text);

    private sealed class Bound(ValuePath path, TemplateValue? usual, StepValues values, string missing) : TemplateValue
    {
        public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
        {
            if (values.TryFind(path, out BsonType type, out ReadOnlySpan<byte> found))
            {
                writer.WriteValue(name, type, found);
            }
            else if (usual is not null)
            {
                usual.Write(writer, name, context);
            }
            else
            {
                values.Fail(missing);
                writer.WriteNull(name);
            }
        }
    }
}
