using System.Net.Sockets;
using MongoDB.Driver;
using MongoPerf.Load.Collections;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;
using Bson = MongoDB.Bson;

namespace MongoPerf.Driver;

/// <summary>The driver's exceptions in the words that MongoPerf counts failures by.</summary>
internal static class DriverFailure
{
    /// <summary>CursorNotFound.</summary>
    private const int CursorNotFound = 43;

    /// <summary>MaxTimeMSExpired.</summary>
    private const int TimeExpired = 50;

    /// <returns>What the server answered; null when the failure is none of its answers.</returns>
    public static ServerError? AnswerOf(Exception failure) => failure switch
    {
        MongoBulkWriteException { WriteErrors: [var first, ..] all } =>
            Of(first.Code, first.Message) with { Documents = all.Count(one => one.Code == first.Code) },
        MongoBulkWriteException { WriteConcernError: { } concern } => Of(concern),
        ClientBulkWriteException { WriteErrors: { Count: > 0 } errors } => Of(errors.MinBy(one => one.Key).Value),
        ClientBulkWriteException { WriteConcernErrors: [var concern, ..] } => AnswerOf(concern),
        ClientBulkWriteException { InnerException: { } inner } => AnswerOf(inner),
        MongoWriteException { WriteError: { } error } => Of(error),
        MongoWriteException { WriteConcernError: { } concern } => Of(concern),
        MongoCommandException { Result: { } reply } => Load.Executors.Wire.OperationReply.ErrorOf(DriverValues.FromDriver(reply)),
        MongoCursorNotFoundException e => new ServerError(CursorNotFound, "CursorNotFound", ForeignText.OneLine(e.Message, 200), []),
        MongoExecutionTimeoutException e =>
            new ServerError(TimeExpired, e.CodeName ?? "MaxTimeMSExpired", ForeignText.OneLine(e.Message, 200), [.. e.ErrorLabels]),
        _ => null,
    };

    /// <summary>The call was not answered, or by something that is no answer.</summary>
    public static bool IsLost(Exception failure) =>
        failure is MongoException or TimeoutException or OperationCanceledException or IOException or SocketException
            or ObjectDisposedException or FormatException or Bson.BsonException;

    /// <summary>Makes the failure that <see cref="IsLost"/> recognises.</summary>
    public static Exception ToLost(Exception failure, ServerAddress server) => failure switch
    {
        // Another attempt would end alike.
        MongoIncompatibleDriverException => new OperationLimitException(ForeignText.OneLine(failure.Message, 400)),
        OperationCanceledException => new ConnectionFailedException(server, "stopped", failure),
        MongoAuthenticationException => new AuthenticationFailedException(server, Causes(failure), failure),
        FormatException or Bson.BsonException => new WireProtocolException($"{server}: {Causes(failure)}"),
        // Its message lists what it knows of all servers, over several lines.
        TimeoutException => new ConnectionFailedException(server, "MongoDB.Driver found no server to send this to", failure),
        _ => new ConnectionFailedException(server, Causes(failure), failure),
    };

    /// <summary>The outermost message says where, the innermost what.</summary>
    private static string Causes(Exception failure)
    {
        Exception innermost = failure.GetBaseException();
        return ForeignText.OneLine(innermost == failure ? failure.Message : $"{failure.Message} {innermost.Message}", 400);
    }

    private static ServerError Of(WriteConcernError error) =>
        ServerError.From(BsonDocument.Of(("code", error.Code), ("codeName", error.CodeName ?? ""), ("errmsg", error.Message ?? ""),
            ("errorLabels", error.ErrorLabels.ToArray())));

    private static ServerError Of(WriteError error) => Of(error.Code, error.Message);

    private static ServerError Of(int code, string message) => ServerError.From(BsonDocument.Of(("code", code), ("errmsg", message)));
}
