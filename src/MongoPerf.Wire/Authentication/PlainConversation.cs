using System.Text;

namespace MongoPerf.Wire.Authentication;

/// <summary>PLAIN: the password itself, so over TLS only. Source: RFC 4616.</summary>
internal sealed class PlainConversation(MongoCredential credential) : ISaslConversation
{
    public string Mechanism => "PLAIN";

    public bool IsComplete => true;

    public byte[] Start() => Encoding.UTF8.GetBytes($"\0{credential.UserName}\0{credential.Password}");

    public byte[] Continue(ReadOnlySpan<byte> challenge) => [];
}
