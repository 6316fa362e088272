"""What a Python program does with a MongoDB: reads and writes through pymongo, and checks what comes back. Argument: the port."""
import sys

import pymongo
from pymongo import ASCENDING, DESCENDING, InsertOne, ReturnDocument, UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure

client = pymongo.MongoClient("127.0.0.1", int(sys.argv[1]), serverSelectionTimeoutMS=90000, connectTimeoutMS=90000)
assert client.admin.command("ping")["ok"] == 1
people = client.town.people

ids = people.insert_many({"_id": i, "name": f"n{i}", "age": i % 50, "address": {"street": i % 7}, "tags": ["a", f"t{i % 3}"]} for i in range(1000)).inserted_ids
assert len(ids) == 1000
assert people.count_documents({}) == 1000 and people.estimated_document_count() == 1000
assert sum(1 for _ in people.find(batch_size=100)) == 1000
assert people.create_index([("address.street", ASCENDING), ("age", DESCENDING)]) == "address.street_1_age_-1"
assert people.create_index("tags") == "tags_1"

assert people.count_documents({"tags": "t1"}) == 333
assert [p["_id"] for p in people.find({"address.street": 3, "age": {"$gte": 48}}).sort("_id", -1).skip(1).limit(2)] == [899, 598]
assert people.find_one({"_id": 7}, {"address.street": 1, "_id": 0}) == {"address": {"street": 0}}
assert people.find_one({"tags": {"$all": ["a", "t2"]}, "name": {"$regex": "^n9"}}, sort=[("_id", 1)])["_id"] == 92
assert sorted(people.distinct("tags")) == ["a", "t0", "t1", "t2"]

assert people.update_one({"_id": 1}, {"$set": {"address.city": "x"}, "$push": {"tags": "new"}, "$inc": {"age": 10}}).modified_count == 1
assert people.find_one({"_id": 1}) == {"_id": 1, "name": "n1", "age": 11, "address": {"street": 1, "city": "x"}, "tags": ["a", "t1", "new"]}
assert people.update_many({"address.street": 6}, {"$unset": {"name": ""}}).modified_count == 142
upserted = people.update_one({"_id": 5000}, {"$setOnInsert": {"age": 1}}, upsert=True)
assert upserted.upserted_id == 5000 and upserted.matched_count == 0
assert people.replace_one({"_id": 5000}, {"age": 2}).modified_count == 1
assert people.find_one_and_update({"_id": 5000}, {"$inc": {"age": 1}}, return_document=ReturnDocument.AFTER) == {"_id": 5000, "age": 3}
assert people.find_one_and_delete({"_id": 5000}) == {"_id": 5000, "age": 3}
assert people.delete_many({"_id": {"$gte": 990}}).deleted_count == 10

groups = list(people.aggregate([
    {"$match": {"age": {"$lt": 10}}}, {"$unwind": "$tags"}, {"$group": {"_id": "$tags", "n": {"$sum": 1}, "oldest": {"$max": "$age"}}}, {"$sort": {"n": -1}}, {"$limit": 1}]))
assert groups == [{"_id": "a", "n": 199, "oldest": 9}], groups
assert len(list(people.aggregate([{"$project": {"age": 1}}], batchSize=50))) == 990

result = people.bulk_write([InsertOne({"_id": 2000}), UpdateOne({"_id": 2000}, {"$set": {"a": [1, 2, 3]}}), UpdateOne({"_id": 2000}, {"$pull": {"a": {"$gt": 1}}})])
assert (result.inserted_count, result.modified_count) == (1, 2)
assert people.find_one({"_id": 2000}) == {"_id": 2000, "a": [1]}
try:
    people.insert_one({"_id": 1})
    raise AssertionError("a duplicate was taken")
except DuplicateKeyError as error:
    assert error.code == 11000
try:
    people.insert_many([{"_id": 3000}, {"_id": 1}, {"_id": 3001}], ordered=False)
    raise AssertionError("a duplicate was taken")
except BulkWriteError as error:
    assert error.details["nInserted"] == 2
try:
    list(people.find({"$where": "true"}))
    raise AssertionError("$where was taken")
except OperationFailure as error:
    assert error.code == 238

assert sorted(people.index_information()) == ["_id_", "address.street_1_age_-1", "tags_1"]
people.drop_index("tags_1")
assert client.town.list_collection_names() == ["people"] and "town" in client.list_database_names()
assert client.town.command("validate", "people")["valid"]
client.town.other.insert_one({})
client.town.drop_collection("other")
client.close()
print(f"pymongo {pymongo.version}: done")
