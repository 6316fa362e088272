using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>What the bodies of insert, update and delete have in common.</summary>
internal ref struct WriteFields
{
    public ReadOnlySpan<byte> Collection { get; private set; }

    public ReadOnlySpan<byte> Statements { get; private set; }

    public bool HasStatements { get; private set; }

    public bool IsOrdered { get; private set; }

    public WriteConcern Concern { get; private set; }

    /// <summary>The command's <c>let</c>; null when it has none.</summary>
    public Variables? Variables { get; private set; }

    /// <param name="body">The command's.</param>
    /// <param name="command">Its name.</param>
    /// <param name="statements">The name of its array of documents or statements.</param>
    /// <exception cref="CommandException">A field that the command does not have, or a value of a wrong type.</exception>
    public static WriteFields Parse(ReadOnlySpan<byte> body, string command, ReadOnlySpan<byte> statements)
    {
        var reader = new BsonReader(body);
        reader.Read();
        var fields = new WriteFields { Collection = CommandSession.CollectionName(reader), IsOrdered = true };
        while (reader.Read())
        {
            if (reader.Name.SequenceEqual(statements))
            {
                if (reader.Type != BsonType.Array)
                    throw CommandFields.Mismatch(command, reader.NameText, reader.Type, "array");
                fields.Statements = reader.DocumentBytes;
                fields.HasStatements = true;
            }
            else if (reader.NameIs("ordered"u8))
            {
                if (reader.Type is not (BsonType.Boolean or BsonType.Null))
                    throw CommandFields.Mismatch(command, "ordered", reader.Type, "bool");
                fields.IsOrdered = reader.Type == BsonType.Null || reader.Boolean;
            }
            else if (reader.NameIs("writeConcern"u8))
            {
                fields.Concern = WriteConcern.Parse(reader);
            }
            else if (reader.NameIs("let"u8) && command != "insert")
            {
                fields.Variables =
                    Expressions.Variables.Parse(CommandFields.Document(command, "let", new BsonValue(reader.Type, reader.Value.ToArray())));
            }
            else if (!reader.NameIs("bypassDocumentValidation"u8) && !GenericFields.Contains(reader.Name))
            {
                throw CommandException.UnknownField(command, reader.NameText);
            }
        }

        return fields;
    }
}
