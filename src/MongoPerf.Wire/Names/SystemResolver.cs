using System.Buffers.Binary;
using System.Net;
using System.Runtime.InteropServices;

namespace MongoPerf.Wire.Names;

/// <summary>The system's own resolver (glibc's res_nquery): its name servers, its limits of time. Safe for any thread: each query has a state of its own.</summary>
/// <param name="nameServer">Asked instead of the system's; for tests. IPv4.</param>
internal sealed unsafe partial class SystemResolver(IPEndPoint? nameServer = null) : INameResolver
{
    private const int Internet = 1;
    private const int LargestAnswer = 65_535;

    /// <summary>glibc's struct __res_state has 568 bytes on x86-64; the rest is for those that have more.</summary>
    private const int StateBytes = 2048;

    // Of that struct (resolv.h): int retrans, int retry, unsigned long options, int nscount, struct sockaddr_in nsaddr_list[3].
    private const int RetryOffset = 4;
    private const int CountOffset = 16;
    private const int AddressOffset = 20;

    private enum Failure
    {
        HostNotFound = 1,
        TryAgain = 2,
        NoRecovery = 3,
        NoData = 4,
    }

    public IReadOnlyList<ServiceRecord> FindServices(string name) => Query(name, DnsMessage.Service) is { } answer ? DnsMessage.ReadServices(answer) : [];

    public IReadOnlyList<string> FindTexts(string name) => Query(name, DnsMessage.Text) is { } answer ? DnsMessage.ReadTexts(answer) : [];

    /// <returns>Null when the name has no such record.</returns>
    private byte[]? Query(string name, ushort type)
    {
        byte[] answer = new byte[LargestAnswer];
        byte* state = (byte*)NativeMemory.AllocZeroed(StateBytes);
        try
        {
            if (Initialize(state) != 0)
                throw new NameResolutionException("the system's resolver can't be set up: is /etc/resolv.conf readable?");
            PointAtNameServer(state);
            int length;
            fixed (byte* into = answer)
                length = Ask(state, name, Internet, type, into, LargestAnswer);
            Failure failure = length < 0 ? (Failure)(*ErrorLocation()) : 0;
            Close(state);
            if (length > LargestAnswer)
                throw new NameResolutionException($"DNS: the answer about {name} has {length} bytes, at most {LargestAnswer} are read");
            return failure switch
            {
                0 => answer[..length],
                Failure.HostNotFound or Failure.NoData => null,
                Failure.TryAgain => throw new NameResolutionException($"DNS: no answer about {name}: does this machine reach its name servers?"),
                _ => throw new NameResolutionException($"DNS: the name server refused to answer about {name}"),
            };
        }
        catch (Exception e) when (e is DllNotFoundException or EntryPointNotFoundException)
        {
            throw new NameResolutionException("DNS: this system's libresolv has no res_nquery, which mongodb+srv needs; name the servers by mongodb://host1,host2");
        }
        finally
        {
            NativeMemory.Free(state);
        }
    }

    private void PointAtNameServer(byte* state)
    {
        if (nameServer is null)
            return;
        var fields = new Span<byte>(state, StateBytes);
        BinaryPrimitives.WriteInt32LittleEndian(fields[RetryOffset..], 1);
        BinaryPrimitives.WriteInt32LittleEndian(fields[CountOffset..], 1);
        Span<byte> address = fields.Slice(AddressOffset, 16);
        address.Clear();
        BinaryPrimitives.WriteInt16LittleEndian(address, 2);
        BinaryPrimitives.WriteUInt16BigEndian(address[2..], (ushort)nameServer.Port);
        nameServer.Address.TryWriteBytes(address[4..], out _);
    }

    [LibraryImport("libresolv.so.2", EntryPoint = "__res_ninit")]
    private static partial int Initialize(byte* state);

    [LibraryImport("libresolv.so.2", EntryPoint = "res_nquery", StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Ask(byte* state, string name, int family, int type, byte* answer, int answerLength);

    [LibraryImport("libresolv.so.2", EntryPoint = "__res_nclose")]
    private static partial void Close(byte* state);

    [LibraryImport("libc", EntryPoint = "__h_errno_location")]
    private static partial int* ErrorLocation();
}
