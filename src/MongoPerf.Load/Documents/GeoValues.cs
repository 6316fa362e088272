using System.Buffers.Binary;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>Places on a map that lie in clusters, as people and shops do: few large ones and many small ones.</summary>
/// <remarks>Immutable, for all threads. Cluster number k gets about 1 / (k + 1) as many as the first.</remarks>
public sealed class ClusteredPlaces
{
    /// <summary>Metres of a degree of latitude.</summary>
    private const double DegreeMetres = 111_195;
    private const double MostLatitude = 85;

    private readonly (double Longitude, double Latitude)[] _centres;
    private readonly double[] _ends;
    private readonly double _spread;

    /// <param name="clusters">1 or more.</param>
    /// <param name="west">Of the rectangle in which their centres lie, in degrees.</param>
    /// <param name="south">Of the rectangle.</param>
    /// <param name="east">Of the rectangle.</param>
    /// <param name="north">Of the rectangle.</param>
    /// <param name="spread">Metres from the centre within which about two thirds of a cluster lie.</param>
    /// <param name="salt">Its own.</param>
    public ClusteredPlaces(int clusters, double west, double south, double east, double north, double spread, ulong salt)
    {
        var random = new RandomStream(salt);
        _centres = new (double, double)[clusters];
        for (int i = 0; i < clusters; i++)
            _centres[i] = (west + ((east - west) * random.NextDouble()), south + ((north - south) * random.NextDouble()));
        _ends = WeightedChoice.Ends([.. Enumerable.Range(1, clusters).Select(rank => 1.0 / rank)]);
        _spread = spread;
    }

    /// <summary>The place that the bits stand for, in degrees.</summary>
    internal (double Longitude, double Latitude) At(ulong bits)
    {
        var random = new RandomStream(bits);
        (double longitude, double latitude) = _centres[WeightedChoice.Pick(_ends, random.Next())];
        // Normally distributed in each direction (Box and Muller).
        double distance = _spread * Math.Sqrt(-2 * Math.Log(1 - random.NextDouble()));
        return Move(longitude, latitude, distance, 2 * Math.PI * random.NextDouble());
    }

    /// <summary>A place some metres away.</summary>
    internal static (double Longitude, double Latitude) Move(double longitude, double latitude, double metres, double angle)
    {
        double north = Math.Clamp(latitude + (metres * Math.Sin(angle) / DegreeMetres), -MostLatitude, MostLatitude);
        double east = longitude + (metres * Math.Cos(angle) / (DegreeMetres * Math.Cos(north * Math.PI / 180)));
        return (Math.Clamp(east, -180, 180), north);
    }
}

/// <summary>GeoJSON of clustered places: documents whose every number is written in place.</summary>
public static class GeoValue
{
    /// <summary>{type: Point, coordinates: [longitude, latitude]}.</summary>
    public static DocumentValue Point(ClusteredPlaces places, ulong salt) =>
        Geometry("Point", DocumentValue.Array(
            [new Coordinate(places, salt, isLatitude: false), new Coordinate(places, salt, isLatitude: true)]));

    /// <summary>A polygon around a place: one closed ring, counterclockwise, that does not cross itself.</summary>
    /// <param name="places">The places.</param>
    /// <param name="corners">3 or more.</param>
    /// <param name="radius">Metres from the place to its furthest corner at most; half of it to the nearest at least.</param>
    /// <param name="salt">The value's own.</param>
    public static DocumentValue Polygon(ClusteredPlaces places, int corners, double radius, ulong salt) =>
        Geometry("Polygon", DocumentValue.Array([DocumentValue.Array([.. Enumerable.Range(0, corners + 1).Select(corner =>
            DocumentValue.Array(
            [
                new Coordinate(places, salt, isLatitude: false, corner % corners, corners, radius),
                new Coordinate(places, salt, isLatitude: true, corner % corners, corners, radius),
            ]))])]));

    private static DocumentValue Geometry(string type, TemplateValue coordinates) =>
        DocumentValue.Of(("type", new LiteralValue(BsonDocument.Of(("v", type)).First().Value)), ("coordinates", coordinates));

    private sealed class Coordinate(
        ClusteredPlaces places, ulong salt, bool isLatitude, int corner = 0, int corners = 0, double radius = 0)
        : FixedValue(BsonType.Double, 8)
    {
        public override void Fill(Span<byte> value, in ValueContext context)
        {
            ulong bits = context.BitsOf(salt);
            (double longitude, double latitude) = places.At(bits);
            if (corners > 0)
            {
                // Corners stay in their sectors, so that edges do not cross.
                var random = new RandomStream(Mixing.At(bits, (ulong)corner));
                double angle = 2 * Math.PI * (corner + (0.8 * random.NextDouble())) / corners;
                (longitude, latitude) = ClusteredPlaces.Move(longitude, latitude, radius * (0.5 + (0.5 * random.NextDouble())), angle);
            }

            BinaryPrimitives.WriteDoubleLittleEndian(value, isLatitude ? latitude : longitude);
        }
    }
}
