using MongoPerf.Load.Documents;
using MongoPerf.Load.Documents.Rows;

namespace MongoPerf.Scenarios;

/// <summary>
/// The fields that a collection's documents may have, nested ones too; elements of arrays count as the array itself, as in a query.
/// </summary>
internal sealed class FieldTree
{
    private readonly Dictionary<string, FieldTree> _fields = [];

    /// <summary>It may have fields that are not known.</summary>
    private bool _isOpen;

    /// <summary>Dotted, without the indexes of arrays.</summary>
    public IEnumerable<string> Paths => _fields.SelectMany(one => one.Value.Paths.Select(path => $"{one.Key}.{path}").Prepend(one.Key));

    /// <summary>Adds every field that the value may have.</summary>
    public void Add(TemplateValue value)
    {
        if (value is DocumentValue { IsArray: false } document)
        {
            foreach ((string name, TemplateValue field) in document.Elements)
                (field is RowValue { IsSpread: true } ? this : Field(name)).Add(field);
            return;
        }

        if (value is RowValue row)
            Add(row.Paths, row.Rows.File);
        else if (value is RowFieldValue cell)
            Add(cell.Paths, cell.Rows.File);

        foreach (TemplateValue part in value.Parts)
            Add(part);
    }

    private void Add(IEnumerable<string> paths, RowFile file)
    {
        _isOpen |= file.Fields.AreTooMany;
        foreach (string path in paths)
            Add(path, DocumentValue.Empty);
    }

    /// <summary>Adds the field at a path, with every field that its value may have.</summary>
    public void Add(string path, TemplateValue value) =>
        path.Split('.').Where(step => !IsElement(step)).Aggregate(this, (tree, step) => tree.Field(step)).Add(value);

    /// <summary>Documents may have the field at this path.</summary>
    public bool Has(string path)
    {
        FieldTree at = this;
        foreach (string step in path.Split('.'))
        {
            if (at._fields.TryGetValue(step, out FieldTree? field))
                at = field;
            else if (!IsElement(step))
                return at._isOpen;
        }

        return true;
    }

    /// <summary>An index, or one of $, $[], $[name] and $**.</summary>
    private static bool IsElement(string step) => step.StartsWith('$') || (step.Length > 0 && step.All(char.IsAsciiDigit));

    private FieldTree Field(string name) => _fields.TryGetValue(name, out FieldTree? field) ? field : _fields[name] = new FieldTree();
}
