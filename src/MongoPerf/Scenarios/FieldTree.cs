using MongoPerf.Engine.Documents;

namespace MongoPerf.Scenarios;

/// <summary>The fields that a collection's documents may have, nested ones too; elements of arrays count as the array itself, as in a query.</summary>
internal sealed class FieldTree
{
    private readonly Dictionary<string, FieldTree> _fields = [];

    /// <summary>Dotted, without the indexes of arrays.</summary>
    public IEnumerable<string> Paths => _fields.SelectMany(one => one.Value.Paths.Select(path => $"{one.Key}.{path}").Prepend(one.Key));

    /// <summary>Adds every field that the value may have.</summary>
    public void Add(TemplateValue value)
    {
        switch (value)
        {
            case DocumentValue { IsArray: true } list:
                foreach (KeyValuePair<string, TemplateValue> element in list.Elements)
                    Add(element.Value);
                break;
            case DocumentValue document:
                foreach (KeyValuePair<string, TemplateValue> element in document.Elements)
                    Field(element.Key).Add(element.Value);
                break;
            case ChoiceValue choice:
                foreach (TemplateValue item in choice.Items)
                    Add(item);
                break;
            case ArrayValue array:
                Add(array.Element);
                break;
            case ArrayValue.ElementValue element:
                Add(element.Inner);
                break;
            case ReferenceValue.VaryingReference reference:
                Add(reference.Field);
                break;
        }
    }

    /// <summary>Adds the field at a path, with every field that its value may have.</summary>
    public void Add(string path, TemplateValue value) => path.Split('.').Where(step => !IsElement(step)).Aggregate(this, (tree, step) => tree.Field(step)).Add(value);

    /// <summary>Documents may have the field at this path.</summary>
    public bool Has(string path)
    {
        FieldTree at = this;
        foreach (string step in path.Split('.'))
        {
            if (at._fields.TryGetValue(step, out FieldTree? field))
                at = field;
            else if (!IsElement(step))
                return false;
        }

        return true;
    }

    /// <summary>An index, or one of $, $[], $[name] and $**.</summary>
    private static bool IsElement(string step) => step.StartsWith('$') || (step.Length > 0 && step.All(char.IsAsciiDigit));

    private FieldTree Field(string name) => _fields.TryGetValue(name, out FieldTree? field) ? field : _fields[name] = new FieldTree();
}
