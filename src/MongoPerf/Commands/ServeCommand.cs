using System.CommandLine;
using System.Net;
using System.Net.Sockets;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Processes;
using MongoPerf.Options;
using MongoPerf.Platforms;
using MongoPerf.Running.Secrets;
using MongoPerf.Server;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Users;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Authentication;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Commands;

/// <summary><c>serve</c>: the embedded server, by itself, and its users.</summary>
internal static class ServeCommand
{
    private const string TlsOption = "--tls-certificate-key-file";

    public static Command Create()
    {
        Option<long?> port = PortOption();
        Option<IPAddress?> listen = OptionTypes.Make<IPAddress?>(
            "--listen", null, "Address to listen on; 0.0.0.0 or :: for all interfaces; any but loopback requires --auth "
                + "[default: 127.0.0.1]", "ADDRESS", ParseAddress);
        Option<string?> data = OptionTypes.Text("--data", "Data folder (required)", "DIR");
        Option<long?> shards = OptionTypes.Make<long?>(
            "--shards", null, "Answer as a mongos in front of that many shards, all of them in this process [default: no mongos]", "COUNT",
            text => Quantities.ParseCount(text, 1, ClusterLimits.MostShards));
        Option<long?> cache = OptionTypes.Size("--cache", "Cache size [default: a quarter of memory, at most 4GB]");
        var auth = new Option<bool>("--auth") { Description = "Clients must log in (SCRAM) as a user from --add-user" };
        Option<string?> tls = OptionTypes.Text(
            TlsOption, "Accept TLS connections only; the file holds the certificate and its private key (PEM)", "FILE");
        Option<string?> authority = OptionTypes.Text(
            "--tls-ca-file", "Accept only clients with a certificate from these authorities (PEM)", "FILE");
        Option<string?> user = OptionTypes.Text(
            "--add-user",
            "Add a user with full rights, or change an existing user's password, and exit; running servers accept the change at once",
            "NAME");
        Option<string?> former = OptionTypes.Text(
            "--remove-user", "Remove a user and exit; running servers refuse the user's next login", "NAME");
        Option<string?> password = OptionTypes.Text(
            PasswordFile.Option, "Read the password for --add-user from the file's first line [default: prompt for it]", "FILE");
        var command = new Command("serve", "Run the embedded server (speaks MongoDB's protocol, but is not MongoDB)")
        {
            port, listen, data, shards, cache, auth, tls, authority, user, former, password,
        };
        command.Runs(parsed =>
        {
            string folder =
                parsed.GetValue(data) ?? throw new UserException(ExitCode.WrongUsage, "--data is missing: the server's data folder");
            DataFolderOwner.RefuseForEmbedded(folder);
            if (((Option[])[user, former]).FirstOrDefault(parsed.HasTyped) is { } change
                && ((Option[])[port, listen, shards, cache, auth, tls, authority, former])
                    .FirstOrDefault(option => option != change && parsed.HasTyped(option)) is { } other)
            {
                throw new UserException(ExitCode.WrongUsage, $"{change.Name} starts no server and can't be combined with {other.Name}",
                    "change users first, then start the server");
            }

            if (parsed.GetValue(user) is { } name)
                return AddUser(folder, name, parsed.GetValue(password));
            if (parsed.HasTyped(password))
                throw new UserException(ExitCode.WrongUsage, $"{PasswordFile.Option} is for --add-user, which is missing");
            if (parsed.GetValue(former) is { } formerName)
                return RemoveUser(folder, formerName);
            var options = new ListenOptions
            {
                Address = parsed.GetValue(listen) ?? IPAddress.Loopback,
                Port = (int)(parsed.GetValue(port) ?? 0),
                RequiresLogin = parsed.GetValue(auth),
            };
            // Before prompting for a password.
            RequireGuarded(options, folder);
            return Serve(new EmbeddedServerOptions
            {
                Listen = options with { Tls = LoadTls(parsed.GetValue(tls), parsed.GetValue(authority)) },
                DataPath = folder,
                CacheBytes = parsed.GetValue(cache),
                Shards = (int)(parsed.GetValue(shards) ?? 0),
            });
        });
        return command;
    }

    public static Option<long?> PortOption() =>
        OptionTypes.Make<long?>("--port", null, "Port [default: a free one]", "PORT", text => Quantities.ParseCount(text, 0, 65535));

    /// <summary>Nobody gets in who should not, and somebody can.</summary>
    private static void RequireGuarded(ListenOptions listen, string folder)
    {
        if (!listen.RequiresLogin && !IPAddress.IsLoopback(listen.Address))
        {
            throw new UserException(
                ExitCode.WrongUsage,
                $"--listen {listen.Address} lets other machines in, and without --auth anybody on them may read and delete everything",
                "add --auth, and users with --add-user; or omit --listen");
        }

        if (listen.RequiresLogin && new UserStore(folder).IsEmpty)
            throw new UserException(ExitCode.WrongUsage, $"--auth: {folder} has no users, so nobody could log in",
                $"mongoperf serve --data {folder} --add-user NAME adds one");
    }

    private static ExitCode Serve(EmbeddedServerOptions options)
    {
        ListenOptions listen = options.Listen;
        if (listen.Tls is null && !IPAddress.IsLoopback(listen.Address))
            Console.Error.WriteLine($"warning: without {TlsOption} data is sent unencrypted (passwords are never sent)");
        using var watch = new ParentWatch();
        using EmbeddedServer server = Start(options);
        Console.WriteLine($"mongoperf embedded server (not MongoDB) listening on {new IPEndPoint(listen.Address, server.Port)}");
        Console.Out.Flush();
        watch.Wait(server.ShutdownRequested);
        return ExitCode.Done;
    }

    private static EmbeddedServer Start(EmbeddedServerOptions options)
    {
        try
        {
            return EmbeddedServer.Start(options);
        }
        catch (SocketException e)
        {
            throw new UserException(
                ExitCode.CannotConnect, $"can't listen on {new IPEndPoint(options.Listen.Address, options.Listen.Port)}: {e.Message}",
                e.SocketErrorCode is SocketError.AddressNotAvailable or SocketError.AddressFamilyNotSupported
                    ? "--listen takes an address of this machine"
                    : "choose another --port, or omit it to use a free one");
        }
    }

    private static ServerTls? LoadTls(string? certificate, string? authority)
    {
        if (certificate is null)
            return authority is null ? null : throw new UserException(ExitCode.WrongUsage, $"--tls-ca-file needs {TlsOption}");
        try
        {
            return ServerTls.Load(certificate, KeyPassword.Ask(TlsOption, certificate), authority);
        }
        catch (PemFileException e)
        {
            throw new UserException(ExitCode.WrongUsage, e.Message);
        }
    }

    private static ExitCode AddUser(string folder, string name, string? passwordFile)
    {
        string password = passwordFile is null ? AskTwice(name) : PasswordFile.Read(passwordFile);
        try
        {
            bool wasThere = new UserStore(folder).Put(name, password);
            Console.WriteLine(wasThere
                ? $"user {name} has a new password"
                : $"user {name} added; clients log in with authSource={UserStore.Database}, which is the default");
            return ExitCode.Done;
        }
        catch (Exception e) when (e is FormatException or SaslException)
        {
            throw new UserException(ExitCode.WrongUsage, $"--add-user: {e.Message}");
        }
    }

    private static ExitCode RemoveUser(string folder, string name)
    {
        if (!new UserStore(folder).Remove(name))
            throw new UserException(ExitCode.WrongUsage, $"--remove-user: {folder} has no user {name}");
        Console.WriteLine($"user {name} removed; existing logins stay valid until their connections end");
        return ExitCode.Done;
    }

    private static string AskTwice(string name)
    {
        string password = Ask($"new password of {name}: ");
        if (password.Length == 0)
            throw new UserException(ExitCode.WrongUsage, "the password is empty");
        return Ask($"new password of {name} once more: ") == password ? password
            : throw new UserException(ExitCode.WrongUsage, "the two passwords differ; nothing was changed");

        static string Ask(string question) => SecretPrompt.Ask(question) ?? throw new UserException(
            ExitCode.WrongUsage,
            "the password is missing, and there is no terminal to prompt for it",
            $"{PasswordFile.Option} FILE reads it from a file");
    }

    private static IPAddress ParseAddress(string text) => text == "localhost"
        ? IPAddress.Loopback
        : IPAddress.TryParse(text, out IPAddress? address) ? address
        : throw new FormatException($"'{text}' is not an IP address such as 127.0.0.1, 0.0.0.0 or ::1");
}
