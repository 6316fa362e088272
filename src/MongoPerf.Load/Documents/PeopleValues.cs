using System.Text;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>What there is of names and addresses.</summary>
public enum PeoplePart
{
    FullName,
    FirstName,
    LastName,
    Street,
    City,
    Zip,
    Country,
}

/// <summary>Names and addresses of people who do not exist, from a small list of words; parts with one salt belong together.</summary>
public sealed class PeopleValue(PeoplePart part, ulong salt) : TemplateValue
{
    private const int MostDigits = 8;
    private const int MostHouse = 200;

    private static readonly byte[][] First = Words(
        "Ada Alma Amir Ana Ben Bea Carl Cleo Dana Dario Elif Emil Eva Femi Finn Gita Greta Hana Hugo Ida Ines Ivan Jada Jonas Juan Kaito "
        + "Karin Lena Leo Lina Luca Maja Malik Mara Milo Nadia Nils Noor Olga Omar Paula Pavel Rosa Sami Sara Sven Tara Theo Uma Vera "
        + "Viktor Yara Yusuf Zoe");

    private static readonly byte[][] Last = Words(
        "Adler Alvarez Andersen Baker Bauer Berg Bianchi Chen Conti Costa Dahl Diaz Dubois Eriksen Fischer Fontaine Garcia Ghosh Gruber "
        + "Haas Hansen Horvat Ibrahim Ito Jansen Jensen Kaya Keller Khan Kim Klein Kowalski Larsen Lopez Marino Martin Meyer Moreau Nagy "
        + "Novak Okafor Olsen Park Petrov Popescu Rossi Sato Schmidt Silva Singh Smith Suzuki Tanaka Torres Virtanen Weber Yilmaz Zhang");

    private static readonly byte[][] Streets = Words(
        "Acre+Lane Abbey+Road Birch+Street Bridge+Street Canal+Street Castle+Road Cedar+Avenue Chapel+Lane Church+Street Elm+Street "
        + "Field+Road Forest+Drive Garden+Street Harbour+Road High+Street Hill+Road King+Street Lake+View Lime+Avenue Long+Lane "
        + "Main+Street Maple+Avenue Market+Square Meadow+Lane Mill+Lane North+Road Oak+Street Orchard+Road Park+Avenue Pine+Street "
        + "Queen+Street River+Road Rose+Lane School+Street South+Road Spring+Street Station+Road Sunset+Drive Tower+Street West+Street");

    /// <summary>A city, its country, and its postcode: # is a digit.</summary>
    private static readonly (byte[] City, byte[] Country, byte[] Zip)[] Cities =
    [
        .. ("Aarhus/DK/8### Accra/GH/##### Athens/GR/1#### Auckland/NZ/10## Barcelona/ES/08### Basel/CH/40## Belgrade/RS/11### "
            + "Bergen/NO/50## Berlin/DE/10### Bern/CH/30## Bogota/CO/11#### Bologna/IT/401## Boston/US/021## Brussels/BE/10## "
            + "Bucharest/RO/0##### Chicago/US/606## Dakar/SN/1#### Denver/US/802## Dresden/DE/01### Geneva/CH/12## Ghent/BE/90## "
            + "Graz/AT/80## Hamburg/DE/20### Hanoi/VN/1#### Helsinki/FI/00### Istanbul/TR/34### Kolkata/IN/7000## Krakow/PL/31-### "
            + "Kyoto/JP/60#-#### Lagos/NG/10#### Lima/PE/150## Lisbon/PT/1###-### Lyon/FR/690## Madrid/ES/28### Milan/IT/201## "
            + "Montevideo/UY/11### Nairobi/KE/00### Oslo/NO/01## Porto/PT/4###-### Prague/CZ/1##+## Riga/LV/LV-10## Rome/IT/001## "
            + "Rotterdam/NL/30## Seattle/US/981## Seoul/KR/0#### Sofia/BG/1### Tallinn/EE/10### Tunis/TN/10## Turin/IT/101## "
            + "Uppsala/SE/75#+## Vienna/AT/1##0 Vilnius/LT/0#### Warsaw/PL/00-### Zagreb/HR/10### Zurich/CH/80##").Split(' ')
            .Select(entry => entry.Split('/')).Select(entry => (Encode(entry[0]), Encode(entry[1]), Encode(entry[2]))),
    ];

    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
    {
        var random = new RandomStream(context.BitsOf(salt));
        byte[] first = First[random.Next(First.Length)];
        byte[] last = Last[random.Next(Last.Length)];
        (byte[] city, byte[] country, byte[] zip) = Cities[random.Next(Cities.Length)];
        switch (part)
        {
            case PeoplePart.FirstName: writer.WriteString(name, first); break;
            case PeoplePart.LastName: writer.WriteString(name, last); break;
            case PeoplePart.City: writer.WriteString(name, city); break;
            case PeoplePart.Country: writer.WriteString(name, country); break;
            case PeoplePart.FullName: WriteTwo(writer, name, first, last); break;
            case PeoplePart.Street:
                Span<byte> house = stackalloc byte[MostDigits];
                System.Buffers.Text.Utf8Formatter.TryFormat(1 + random.Next(MostHouse), house, out int length);
                WriteTwo(writer, name, house[..length], Streets[random.Next(Streets.Length)]);
                break;
            default:
                Span<byte> digits = stackalloc byte[zip.Length];
                for (int i = 0; i < zip.Length; i++)
                    digits[i] = zip[i] == '#' ? (byte)('0' + random.Next(10)) : zip[i];
                writer.WriteString(name, digits);
                break;
        }
    }

    private static void WriteTwo(BsonWriter writer, ReadOnlySpan<byte> name, ReadOnlySpan<byte> one, ReadOnlySpan<byte> other)
    {
        writer.WriteName(BsonType.String, name);
        writer.WriteRawInt32(one.Length + other.Length + 2);
        writer.WriteRaw(one);
        writer.WriteRawByte((byte)' ');
        writer.WriteRaw(other);
        writer.WriteRawByte(0);
    }

    private static byte[][] Words(string words) => [.. words.Split(' ').Select(Encode)];

    private static byte[] Encode(string word) => Encoding.UTF8.GetBytes(word.Replace('+', ' '));
}
