"""What a Python program finds in a GridFS bucket: a line for each file. Arguments: the port, the database."""
import hashlib
import sys

import gridfs
import pymongo

client = pymongo.MongoClient("127.0.0.1", int(sys.argv[1]), serverSelectionTimeoutMS=90000, connectTimeoutMS=90000)
for file in gridfs.GridFS(client[sys.argv[2]]).find().sort("filename", 1):
    print(file.filename, file.length, hashlib.sha256(file.read()).hexdigest())
client.close()
