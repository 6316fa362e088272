"""What Python programs with and without a login get from a server with logins and TLS. Arguments: port, authority's file, user, password."""
import sys

import pymongo
from pymongo.errors import OperationFailure, ServerSelectionTimeoutError

port, authority, user, password = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]


def connect(**options):
    return pymongo.MongoClient("localhost", port, tls=True, tlsCAFile=authority, serverSelectionTimeoutMS=90000, connectTimeoutMS=90000, **options)


def expect(code, action):
    try:
        action()
        raise AssertionError(f"no error {code}")
    except OperationFailure as error:
        assert error.code == code, error


for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-1", None):
    options = {} if mechanism is None else {"authMechanism": mechanism}
    with connect(username=user, password=password, **options) as client:
        assert client.admin.command("connectionStatus")["authInfo"]["authenticatedUsers"] == [{"user": user, "db": "admin"}]
        client.town.people.insert_many([{"n": n} for n in range(1000)])
        assert client.town.people.count_documents({"n": 7}) == 1
        client.drop_database("town")
        expect(238, lambda: client.admin.command("createUser", "x", pwd="y", roles=[]))
    for wrong in ({"username": user, "password": password + "x"}, {"username": "nobody", "password": password}):
        with connect(**wrong, **options) as client:
            expect(18, lambda: client.town.people.find_one())

with connect() as client:
    assert client.admin.command("ping")["ok"] == 1
    expect(13, lambda: client.town.people.find_one())
    expect(13, lambda: client.admin.command("shutdown"))

with pymongo.MongoClient("localhost", port, serverSelectionTimeoutMS=500) as client:
    try:
        client.admin.command("ping")
        raise AssertionError("a plain client was answered")
    except ServerSelectionTimeoutError:
        pass

print("login: done")
