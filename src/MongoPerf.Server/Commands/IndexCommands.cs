using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>Making, dropping and listing of indexes.</summary>
internal static class IndexCommands
{
    private const int MaximumFields = 32;

    public static void CreateIndexes(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        ReadOnlySpan<byte> name = CommandSession.CollectionName(reader);
        BsonDocument command = new(request.Body.ToArray());
        RequireKnownFields(command);
        BsonDocument list = command.FindDocument("indexes") ?? throw CommandException.MissingField("createIndexes", "indexes");
        CollectionEntry? entry = session.FindCollection(name)?.Entry;
        Wanted[] wanted = [.. list.Select(pair => Wanted.Parse(pair.Value, entry?.Collation))];
        if (wanted.Length == 0)
            throw CommandException.BadValue("Must specify at least one index to create");
        IndexSpec[] present = entry?.Indexes ?? [IndexSpec.IdIndex];
        IndexSpec[] missing = [.. wanted.Where(index => !IsThere(present, index.Spec)).Select(index => index.Spec)];
        RequireRoom($"{session.Database}.{reader.StringText}", present, missing);
        Collection collection = session.GetOrCreate(name, out bool isNew);
        int before = collection.Indexes.Length;
        int there = wanted.Length - missing.Length;
        CreateAll(session.Server.Store, collection, missing);
        reply.Body.WriteInt32("numIndexesBefore"u8, before);
        reply.Body.WriteInt32("numIndexesAfter"u8, collection.Indexes.Length);
        if (there < wanted.Length || isNew)
            reply.Body.WriteBoolean("createdCollectionAutomatically"u8, isNew);
        if (there > 0)
            reply.Body.WriteString("note"u8, there == wanted.Length ? "all indexes already exist" : "index already exists");
        reply.Succeed();
    }

    public static void ListIndexes(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        CommandFields.RequireKnown(request.Body, "cursor");
        var reader = new BsonReader(request.Body);
        reader.Read();
        ReadOnlySpan<byte> name = CommandSession.CollectionName(reader);
        Collection collection = session.FindCollection(name)
            ?? throw CommandException.NamespaceNotFound($"ns does not exist: {session.Database}.{reader.StringText}");
        CatalogCommands.WriteWholeCursor(reply.Body, collection.Namespace, collection.Indexes.Select(index => Describe(index.Spec)));
        reply.Succeed();
    }

    public static void DropIndexes(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        CommandFields.RequireKnown(request.Body, "index");
        var reader = new BsonReader(request.Body);
        reader.Read();
        Collection collection =
            session.FindCollection(CommandSession.CollectionName(reader)) ?? throw CommandException.NamespaceNotFound("ns not found");
        var command = new BsonDocument(request.Body.ToArray());
        BsonValue which = command.Find("index") ?? throw CommandException.MissingField("dropIndexes", "index");
        int before = collection.Indexes.Length;
        foreach (CollectionIndex index in Select(collection, which))
            session.Server.Store.DropIndex(collection, index.Spec);
        reply.Body.WriteInt32("nIndexesWas"u8, before);
        reply.Succeed();
    }

    /// <summary>The index as listIndexes shows it, with mongod's order of fields.</summary>
    public static BsonDocument Describe(IndexSpec spec)
    {
        List<(string, object?)> fields = [("v", 2), ("key", spec.KeyPattern()), ("name", spec.Name)];
        if (spec.IsUnique && !spec.IsIdIndex)
            fields.Add(("unique", true));
        if (spec.IsHidden)
            fields.Add(("hidden", true));
        if (spec.Partial is { } partial)
            fields.Add(("partialFilterExpression", partial.Source));
        if (spec.IsSparse)
            fields.Add(("sparse", true));
        if (spec.ExpireAfterSeconds is { } seconds)
            fields.Add(("expireAfterSeconds", seconds));
        if (spec.Collation is { } collation)
            fields.Add(("collation", collation.Description));
        return BsonDocument.Of([.. fields]);
    }

    private static void RequireKnownFields(BsonDocument command)
    {
        foreach ((string name, _) in command.Skip(1))
        {
            if (name is not ("indexes" or "commitQuorum" or "ignoreUnknownIndexOptions")
                && !GenericFields.Contains(System.Text.Encoding.UTF8.GetBytes(name)))
                throw CommandException.UnknownField("createIndexes", name);
        }
    }

    private static bool IsThere(IEnumerable<IndexSpec> present, IndexSpec wanted) =>
        present.Any(index => index.IsEquivalent(wanted)
            && (index.IsIdIndex || (index.Name == wanted.Name && index.ExpireAfterSeconds == wanted.ExpireAfterSeconds)));

    /// <summary>Whether all of them can be, beside what is there and beside one another: a command that is refused has made none.</summary>
    private static void RequireRoom(string nameSpace, IEnumerable<IndexSpec> present, IEnumerable<IndexSpec> missing)
    {
        List<IndexSpec> known = [.. present];
        foreach (IndexSpec spec in missing)
        {
            if (IsThere(known, spec))
                throw new CommandException(
                    96, "OperationFailed", "Cannot build two identical indexes. Try again without duplicate indexes.");
            if (known.Find(index => index.IsEquivalent(spec) && index.ExpireAfterSeconds != spec.ExpireAfterSeconds) is { } other)
            {
                throw new CommandException(85, "IndexOptionsConflict", "An equivalent index already exists with "
                    + (other.Name == spec.Name ? "the same name but different options." : "a different name and options.")
                    + $" Requested index: {Text(spec)}, existing index: {Text(other)}");
            }

            if (known.Find(index => index.Name == spec.Name) is { } sameName)
            {
                throw new CommandException(86, "IndexKeySpecsConflict",
                    "An existing index has the same name as the requested index. When index names are not specified, "
                    + $"they are auto generated and can cause conflicts. Please refer to our documentation. Requested index: {Text(spec)}, "
                    + $"existing index: {Text(sameName)}");
            }

            if (known.Find(index => index.IsEquivalent(spec)) is { } same)
                throw new CommandException(85, "IndexOptionsConflict", $"Index already exists with a different name: {same.Name}");
            if (known.Count == ProtocolLimits.MaximumIndexes)
                throw new CommandException(67, "CannotCreateIndex",
                    $"add index fails, too many indexes for {nameSpace} key:{ValueText.Of(BsonType.Document, spec.KeyPattern().Bytes)}");
            known.Add(spec);
        }
    }

    /// <summary>All, or none where one meets documents that it can't take.</summary>
    private static void CreateAll(DocumentStore store, Collection collection, IndexSpec[] missing)
    {
        int made = 0;
        try
        {
            for (; made < missing.Length; made++)
                Create(store, collection, missing[made]);
        }
        catch (Exception) when (made > 0)
        {
            foreach (IndexSpec spec in collection.Entry.Indexes.Where(spec => missing[..made].Any(one => one.Name == spec.Name)))
                store.DropIndex(collection, spec);
            throw;
        }
    }

    private static void Create(DocumentStore store, Collection collection, IndexSpec spec)
    {
        try
        {
            BsonDocument? twice = store.CreateIndex(collection, spec);
            if (twice != null)
                throw new DuplicateKey(collection.Namespace, spec, twice).ToException("Index build failed: ");
        }
        catch (IndexKeyException error)
        {
            throw new CommandException(error.Code, error.CodeName, $"Index build failed: {error.Message}");
        }
    }

    private static string Text(IndexSpec spec) => ValueText.Of(BsonType.Document, Describe(spec).Bytes);

    private static CollectionIndex[] Select(Collection collection, BsonValue which)
    {
        if (which.Type == BsonType.String && which.ToString() == "*")
            return [.. collection.Indexes.Where(index => !index.Spec.IsIdIndex)];
        CollectionIndex found = Find(collection, which) ?? throw new CommandException(27, "IndexNotFound", which.Type == BsonType.String
            ? $"index not found with name [{which}]"
            : $"can't find index with key: {ValueText.Of(which.Type, which.Bytes.Span)}");
        return found.Spec.IsIdIndex ? throw new CommandException(72, "InvalidOptions", "cannot drop _id index") : [found];
    }

    /// <summary>The index of a name, or of a key pattern; null when it is not there.</summary>
    /// <exception cref="CommandException">Several have that key pattern.</exception>
    public static CollectionIndex? Find(Collection collection, BsonValue which)
    {
        CollectionIndex[] found = [.. collection.Indexes.Where(index => which.Type == BsonType.String
            ? index.Spec.Name == which.ToString()
            : index.Spec.KeyPattern().Bytes.SequenceEqual(which.Bytes.Span))];
        if (found.Length > 1)
            throw new CommandException(181, "AmbiguousIndexKeyPattern", $"{found.Length} indexes found for key: "
                + $"{ValueText.Of(which.Type, which.Bytes.Span)}, identify by name instead. Conflicting indexes: "
                + string.Join(", ", found.Select(index => Text(index.Spec))));
        return found.FirstOrDefault();
    }

    private sealed record Wanted(IndexSpec Spec)
    {
        /// <param name="value">As the client gave it.</param>
        /// <param name="inherited">The collection's collation.</param>
        public static Wanted Parse(BsonValue value, Collation? inherited)
        {
            if (value.Type != BsonType.Document)
                throw CommandException.TypeMismatch("BSON field 'createIndexes.indexes' holds an element that is no object");
            BsonDocument index = value.ToDocument();
            BsonDocument key = index.FindDocument("key")
                ?? throw CommandException.FailedToParse("The 'key' field is a required property of an index specification");
            string name = index.FindString("name")
                ?? throw CommandException.FailedToParse("The 'name' field is a required property of an index specification");
            RequireName(name, key);
            if (name.Contains('\0'))
                throw CannotCreate("index name cannot contain NUL bytes");
            foreach ((string option, BsonValue setting) in index)
                RequireOption(option, setting, isIdIndex: IsIdKey(key));
            CollationOption given = index.Find("collation") is { } asked ? CollationOption.Parse(asked) : default;
            Collation? collation = given.IsGiven ? given.Given : inherited;
            if (IsIdKey(key) && collation != inherited)
                throw CommandException.BadValue("The _id index must have the same collation as the collection.");
            IndexField[] fields = [.. key.Select(pair => Field(pair.Key, pair.Value) with { Collation = collation })];
            if (fields.Length is 0 or > MaximumFields)
                throw new CommandException(67, "CannotCreateIndex", $"an index has 1 to {MaximumFields} fields, not {fields.Length}");
            if (index.IsTrue("sparse") && index.Find("partialFilterExpression") != null)
                throw CannotCreate("cannot mix \"partialFilterExpression\" and \"sparse\" options");
            return new Wanted(new IndexSpec(-1, name, fields, IsIdKey(key) || index.IsTrue("unique"))
            {
                IsSparse = index.IsTrue("sparse"),
                IsHidden = index.Find("hidden")?.ToBoolean() == true,
                ExpireAfterSeconds = Expiry(index.Find("expireAfterSeconds"), fields),
                Partial = index.FindDocument("partialFilterExpression") is { } filter ? PartialFilter.Compile(filter, collation) : null,
            });
        }

        private static int? Expiry(BsonValue? given, IndexField[] fields)
        {
            if (given is not { } value)
                return null;
            if (!value.IsNumber)
                throw new CommandException(67, "CannotCreateIndex", "TTL index 'expireAfterSeconds' option must be numeric, but received a "
                    + $"type of '{TypeSet.AliasOf(value.Type)}'.");
            int seconds = IndexExpiry.Parse(value, out string? error) ?? throw new CommandException(67, "CannotCreateIndex", error!);
            return fields.Length == 1 ? seconds : throw new CommandException(
                67, "CannotCreateIndex", "TTL indexes are single-field indexes, compound indexes do not support TTL.");
        }

        private static bool IsIdKey(BsonDocument key) =>
            key.Count() == 1 && key.First() is { Key: "_id" } only && only.Value.IsNumber && only.Value.ToDouble() == 1;

        private static void RequireName(string name, BsonDocument key)
        {
            if (key.Count() == 1 && key.First() is { Key: "_id" } only && only.Value.IsNumber && only.Value.ToDouble() == -1)
                throw CommandException.BadValue("The field 'key' for an _id index must be {_id: 1}, but got { _id: -1 }");
            if (name.Length == 0)
                throw CannotCreate("index name cannot be empty");
            if (name == "*" && !IsIdKey(key))
                throw CommandException.BadValue("The index name '*' is not valid.");
            if (name == IndexSpec.IdIndexName && !IsIdKey(key))
                throw CommandException.BadValue($"The index name '_id_' is reserved for the _id index, which must have key pattern {{_id: "
                    + $"1}}, found key: {ValueText.Of(BsonType.Document, key.Bytes)}");
        }

        /// <summary>MongoDB's options: those that mean nothing here, those that are refused here, and those that MongoDB refuses.</summary>
        private static void RequireOption(string option, BsonValue setting, bool isIdIndex)
        {
            if (option is "unique" or "sparse" or "hidden" && !setting.IsNumber && setting.Type != BsonType.Boolean)
                throw CommandException.TypeMismatch($"The field '{option}' has a value that is not convertible to bool");
            if (isIdIndex && option is not ("key" or "name" or "v" or "ns" or "collation"))
                throw new CommandException(
                    197, "InvalidIndexSpecificationOption", $"The field '{option}' is not valid for an _id index specification");
            switch (option)
            {
                case "key" or "name" or "background" or "ns": break;
                case "unique" or "sparse" or "hidden" or "expireAfterSeconds": break;
                case "partialFilterExpression" when setting.Type == BsonType.Document: break;
                case "partialFilterExpression":
                    throw CommandException.TypeMismatch($"The field '{option}' must be an object, but got {TypeSet.AliasOf(setting.Type)}");
                case "v" when setting.IsNumber && setting.ToDouble() is 1 or 2: break;
                case "v": throw CannotCreate($"cannot create an index with v={setting}");
                case "collation" when setting.Type == BsonType.Document && !setting.ToDocument().Any():
                    throw CommandException.BadValue("The field 'collation' cannot be an empty object.");
                case "collation" when setting.Type == BsonType.Document: break;
                case "collation": throw CommandException.TypeMismatch("The field 'collation' must be an object");
                case "storageEngine"
                    or "weights" or "default_language"
                    or "language_override" or "textIndexVersion" or "2dsphereIndexVersion" or "bits" or "min" or "max"
                    or "bucketSize" or "wildcardProjection"
                    or "dropDups" or "clustered" or "prepareUnique":
                    throw CommandException.NotSupported($"the index option '{option}'");
                default: throw new CommandException(197, "InvalidIndexSpecificationOption",
                    $"The field '{option}' is not valid for an index specification");
            }
        }

        private static IndexField Field(string path, BsonValue direction)
        {
            if (direction.Type == BsonType.String)
            {
                throw direction.ToString() is "hashed" or "text" or "2d" or "2dsphere" or "geoHaystack"
                    ? CommandException.NotSupported($"'{direction}' indexes")
                    : CannotCreate($"Unknown index plugin '{direction}'");
            }

            if (direction.Type == BsonType.Decimal128)
                throw CommandException.NotSupported("decimal128 values in key patterns");
            if (!direction.IsNumber || direction.ToDouble() == 0 || double.IsNaN(direction.ToDouble()))
                throw CannotCreate($"Values in v:2 index key pattern must be numbers other than 0, or strings; '{path}' is neither");
            if (path == "$**" || path.EndsWith(".$**", StringComparison.Ordinal))
                throw CommandException.NotSupported("wildcard indexes");
            if (path.Split('.').Any(step => step.Length == 0 || (step[0] == '$' && step is not ("$id" or "$db" or "$ref")))
                || path[0] == '$' || path == "_fts")
                throw CannotCreate($"'{path}' cannot be a field of an index");
            if (Math.Abs(direction.ToDouble()) != 1)
                throw CommandException.NotSupported($"{direction} in a key pattern; 1 and -1 are known");
            ProtocolLimits.RequirePath(path);
            return new IndexField(new FieldPath(path), direction.ToDouble() < 0);
        }

        private static CommandException CannotCreate(string message) =>
            new(67, "CannotCreateIndex", $"Error in specification :: caused by :: {message}");
    }
}
