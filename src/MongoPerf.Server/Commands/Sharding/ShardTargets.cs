using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>Which shards a mongos asks for a filter: those of the keys that its conditions on the shard key leave, else all.</summary>
internal static class ShardTargets
{
    /// <summary>More combinations of values than these ask all shards.</summary>
    private const int MostKeys = 1000;

    /// <param name="map">The collection's.</param>
    /// <param name="filter">As the client gave it.</param>
    /// <param name="isCollated">Strings that differ may match: what is said of strings then says nothing of their shards.</param>
    /// <returns>For each shard whether it is asked; at least one is.</returns>
    public static bool[] Of(ShardMap map, BsonDocument filter, bool isCollated = false)
    {
        List<byte[]> keys = [[]];
        foreach (ShardKeyField field in map.Key.Fields)
        {
            var condition = new Condition(field, isCollated);
            condition.Take(filter);
            if (condition.Values is { } values && (long)values.Count * keys.Count <= MostKeys)
                keys = [.. keys.SelectMany(key => values.Select(value => Append(key, field, value)))];
            else
                return Within(map, keys, field, condition);
        }

        var shards = new bool[map.Owners.Length];
        foreach (byte[] key in keys)
            shards[map.OwnerOfKey(key)] = true;
        return shards;
    }

    /// <summary>Whether each field of the shard key has one value in the filter.</summary>
    public static bool IsPoint(ShardMap map, BsonDocument filter) => map.Key.Fields.All(field =>
    {
        var condition = new Condition(field, isCollated: false);
        condition.Take(filter);
        return condition.Values is { Count: 1 };
    });

    /// <summary>The shards of all keys that begin so, between the bounds of the next field.</summary>
    private static bool[] Within(ShardMap map, List<byte[]> keys, ShardKeyField field, Condition condition)
    {
        // Hashes are in no order of their values.
        if (keys[0].Length == 0 && (field.IsHashed || !condition.HasBound))
            return map.Owners;
        var shards = new bool[map.Owners.Length];
        foreach (byte[] key in keys)
        {
            bool isBounded = !field.IsHashed && condition.HasBound;
            byte[] from = isBounded && condition.Least is { } least ? Append(key, field, least) : key;
            byte[] to = isBounded && condition.Greatest is { } greatest ? Append(key, field, greatest) : key;
            map.Mark(shards, from, [.. to, 0xFF, 0xFF]);
        }

        return shards;
    }

    private static byte[] Append(byte[] key, ShardKeyField field, BsonValue value)
    {
        var buffer = new KeyBuffer();
        buffer.Add(key);
        field.Write(buffer, value.Type, value.Bytes.Span);
        return buffer.Written.ToArray();
    }

    /// <summary>What a filter says of one field.</summary>
    private sealed class Condition(ShardKeyField field, bool isCollated)
    {
        /// <summary>The values that it may have; null for any.</summary>
        public List<BsonValue>? Values { get; private set; }

        public BsonValue? Least { get; private set; }

        public BsonValue? Greatest { get; private set; }

        public bool HasBound => Least != null || Greatest != null;

        public void Take(BsonDocument filter)
        {
            foreach ((string name, BsonValue value) in filter)
            {
                if (name == "$and" && value.Type == BsonType.Array)
                {
                    foreach (BsonValue part in Expressions.Values.Items(value).Where(part => part.Type == BsonType.Document))
                        Take(part.ToDocument());
                }
                else if (name == field.Path.Text)
                {
                    TakeOperand(value);
                }
            }
        }

        private void TakeOperand(BsonValue operand)
        {
            if (operand.Type != BsonType.Document || !operand.ToDocument().Any(part => part.Key.StartsWith('$')))
            {
                Equal([operand]);
                return;
            }

            foreach ((string name, BsonValue value) in operand.ToDocument())
            {
                switch (name)
                {
                    case "$eq": Equal([value]); break;
                    case "$in" when value.Type == BsonType.Array: Equal([.. Expressions.Values.Items(value)]); break;
                    case "$gt" or "$gte" when Tells(value): Least ??= value; break;
                    case "$lt" or "$lte" when Tells(value): Greatest ??= value; break;
                    default: break;
                }
            }
        }

        private void Equal(List<BsonValue> values)
        {
            if (values.Count > 0 && values.TrueForAll(Tells))
                Values ??= values;
        }

        /// <summary>An array or a pattern matches other values than itself.</summary>
        private bool Tells(BsonValue value) => value.Type is not (BsonType.Array or BsonType.Regex or BsonType.Undefined)
            && !(isCollated && value.Type is BsonType.String or BsonType.Document);
    }
}
