using MathNet.Numerics.Distributions;
using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Reports.Forecasts;

/// <summary>What noise is expected, and which laws may hold.</summary>
/// <param name="Deviation">The deviation of a measurement about its law, as a share; it counts as much as two measurements.</param>
/// <param name="Slope">
/// Expected size of the exponent of a slow drift: 0.25 for a value that may change by a fifth when the size doubles.
/// </param>
/// <param name="Beyond">
/// What nobody can know from sizes that were measured: deviation of the logarithm per e-fold beyond the largest of them.
/// </param>
/// <param name="Shapes">The shapes besides none; each family counts as much as none.</param>
public sealed record FitRequest(double Deviation, double Slope, double Beyond, IReadOnlyList<IReadOnlyList<Shape>> Shapes)
{
    /// <summary>
    /// The deviation of a value that rises and falls from one doubling of the documents to the next, as a logarithm, at any size from twice
    /// the largest on.
    /// </summary>
    public double Waves { get; init; }
}

/// <summary>How a value greater than 0 follows the number of documents, as far as some measurements tell.</summary>
/// <remarks>
/// The logarithm of the value is a level, perhaps a slope over the logarithm of the documents, and perhaps a <see cref="Shape"/>. Every
/// combination is fitted and weighs as much as the measurements support it (its likelihood, integrated over level and slope by Laplace's
/// approximation: T. Leonard, 1982; over shapes by their grid), so a law with more parameters must earn them. Errors are Student's t with 5
/// degrees of freedom, which lets an outlier be one (K. L. Lange, R. J. A. Little, J. M. G. Taylor, 1989). A prediction is the mixture of
/// all of them (J. A. Hoeting and others, "Bayesian model averaging", 1999): where laws that fit equally well disagree, it is wide.
/// </remarks>
public sealed class GrowthFit
{
    /// <summary>Fewer measurements tell nothing of a slope.</summary>
    public const int LeastSizes = 4;

    private const int LeastSizesOfShapes = 6;
    private const double Freedom = 5;
    private const double PriorCount = 2;
    private const int Iterations = 12;
    private const double LeastWeight = 1e-3;

    private static readonly bool[] WithoutAndWithSlope = [false, true];

    private static readonly double[] Strata = [.. Enumerable.Range(0, 99).Select(i => StudentT.InvCDF(0, 1, Freedom, (i + 0.5) / 99))];

    private readonly double _largest;
    private readonly Law[] _laws;
    private readonly double _inflation;
    private readonly FitRequest _request;

    private GrowthFit(double largest, Law[] laws, double inflation, FitRequest request)
    {
        _request = request;
        _largest = largest;
        _laws = laws;
        _inflation = inflation;
    }

    /// <summary>The law that the measurements support most.</summary>
    public Law Best => _laws[0];

    /// <summary>How much of 1 speaks for a shape of any kind.</summary>
    public double ShapeWeight => _laws.Where(law => law.Shape != Shape.None).Sum(law => law.Weight);

    /// <summary>How much of 1 speaks for a slope, and for no shape.</summary>
    public double SlopeWeight => _laws.Where(law => law.Shape == Shape.None && law.HasSlope).Sum(law => law.Weight);

    /// <param name="documents">The documents of each measurement, more than 0.</param>
    /// <param name="values">Greater than 0.</param>
    /// <param name="request">What may be.</param>
    /// <returns>Null for fewer than <see cref="LeastSizes"/> measurements.</returns>
    public static GrowthFit? Of(double[] documents, double[] values, FitRequest request)
    {
        if (documents.Length < LeastSizes)
            return null;
        double largest = documents.Max();
        double[] x = [.. documents.Select(n => Math.Log(n / largest))];
        double[] y = [.. values.Select(v => Math.Log(v))];
        IEnumerable<(Shape Shape, double Prior)> shapes = [(Shape.None, 1)];
        if (documents.Length >= LeastSizesOfShapes)
            shapes = shapes.Concat(request.Shapes.SelectMany(family => family.Select(shape => (shape, 1.0 / family.Count))));
        Law[] laws =
        [
            .. shapes.SelectMany(one =>
                WithoutAndWithSlope.Select(hasSlope => Law.Fit(documents, x, y, one.Shape, hasSlope, request, Math.Log(one.Prior))))
                .OrderByDescending(law => law.Weight),
        ];
        double best = laws[0].Weight;
        Law[] likely = [.. laws.Select(law => law with { Weight = Math.Exp(law.Weight - best) })
            .TakeWhile(law => law.Weight >= LeastWeight)];
        double sum = likely.Sum(law => law.Weight);
        return new GrowthFit(largest, [.. likely.Select(law => law with { Weight = law.Weight / sum })],
            Inflation(laws[0], documents, x, y), request);
    }

    /// <summary>A measurement at a size, measured or not.</summary>
    /// <param name="documents">Greater than 0.</param>
    /// <param name="scale">The scale as <see cref="Shape.At"/> takes it.</param>
    public Prediction At(double documents, double scale = 1)
    {
        double x = Math.Log(documents / _largest);
        double drift = _request.Beyond * Math.Max(0, x);
        double waves = _request.Waves * Math.Clamp(x / Math.Log(2), 0, 1);
        var points = new List<(double Value, double Weight)>(_laws.Length * Strata.Length);
        foreach (Law law in _laws)
        {
            double middle = law.Level + (law.Slope * x) + law.Shape.At(documents, scale);
            double deviation = Math.Sqrt((law.Variance * (1 + (_inflation * law.Leverage(x)))) + (drift * drift) + (waves * waves));
            points.AddRange(Strata.Select(stratum => (middle + (deviation * stratum), law.Weight / Strata.Length)));
        }

        return OfQuantiles(points, Math.Exp);
    }

    /// <summary>
    /// Finds a quantity of the shapes of one kind, such as where something is outgrown; null where none of them is likely.
    /// </summary>
    public Prediction? Where<T>(Func<T, double> quantity)
        where T : Shape
    {
        List<(double Value, double Weight)> points = [.. _laws.Where(law => law.Shape is T)
            .Select(law => (quantity((T)law.Shape), law.Weight))];
        return points.Count == 0 ? null : OfQuantiles(points, value => value);
    }

    /// <summary>
    /// Computes by how much a law is less certain than from as many independent measurements: what the best one leaves swings slowly.
    /// </summary>
    private static double Inflation(Law best, double[] documents, double[] x, double[] y)
    {
        // Too few to see a correlation: a weak one is assumed.
        double correlation = y.Length < 10 ? 0.3 : Math.Min(0.8, Autocorrelation.OfFirstOrder(
            [[.. y.Select((value, i) => Math.Exp(value - best.Level - (best.Slope * x[i]) - best.Shape.At(documents[i], 1)))]]));
        return Autocorrelation.VarianceInflation(correlation, y.Length);
    }

    private static Prediction OfQuantiles(List<(double Value, double Weight)> points, Func<double, double> map)
    {
        points.Sort((a, b) => a.Value.CompareTo(b.Value));
        double all = points.Sum(point => point.Weight);
        return new Prediction(map(Quantile(0.5)), map(Quantile(0.025)), map(Quantile(0.975)));

        double Quantile(double share)
        {
            double sum = 0;
            foreach ((double value, double weight) in points)
            {
                sum += weight;
                if (sum >= share * all)
                    return value;
            }

            return points[^1].Value;
        }
    }

    /// <summary>One combination, fitted.</summary>
    /// <param name="Shape">Whose parameters are given.</param>
    /// <param name="HasSlope">Otherwise the slope is 0.</param>
    /// <param name="Level">Logarithm at the largest size, without the shape.</param>
    /// <param name="Slope">The slope of the logarithm over that of the documents.</param>
    /// <param name="Variance">The variance of a measurement about the law, of the logarithm.</param>
    /// <param name="Weight">The weight, of 1; while laws are fitted its logarithm.</param>
    public sealed record Law(Shape Shape, bool HasSlope, double Level, double Slope, double Variance, double Weight)
    {
        private (double Sum, double Mixed, double Squares) _information;

        /// <summary>Variance of the law itself where x is the logarithm of a size, as a share of <see cref="Variance"/>.</summary>
        public double Leverage(double x)
        {
            (double sum, double mixed, double squares) = _information;
            return HasSlope ? (squares - (2 * x * mixed) + (x * x * sum)) / ((sum * squares) - (mixed * mixed)) : 1 / sum;
        }

        /// <summary>Level and slope by iteratively reweighted least squares.</summary>
        public static Law Fit(double[] documents, double[] x, double[] y, Shape shape, bool hasSlope, FitRequest request, double logPrior)
        {
            int count = y.Length;
            double[] z = [.. y.Select((value, i) => value - shape.At(documents[i], 1))];
            double[] weights = [.. Enumerable.Repeat(1.0, count)];
            double prior = PriorCount * request.Deviation * request.Deviation;
            (double level, double slope, double variance, double squares) = (0, 0, 1, 0);
            (double sum, double mixed, double ofX) = (0, 0, 0);
            for (int pass = 0; pass < Iterations; pass++)
            {
                (sum, mixed, ofX) = (0, 0, hasSlope ? variance / (request.Slope * request.Slope) : 0);
                (double ofZ, double ofBoth) = (0, 0);
                for (int i = 0; i < count; i++)
                {
                    sum += weights[i];
                    mixed += weights[i] * x[i];
                    ofX += weights[i] * x[i] * x[i];
                    ofZ += weights[i] * z[i];
                    ofBoth += weights[i] * x[i] * z[i];
                }

                slope = hasSlope ? ((sum * ofBoth) - (mixed * ofZ)) / ((sum * ofX) - (mixed * mixed)) : 0;
                level = (ofZ - (slope * mixed)) / sum;
                squares = 0;
                for (int i = 0; i < count; i++)
                    squares += weights[i] * Square(z[i] - level - (slope * x[i]));
                variance = (squares + prior) / (count + PriorCount);
                for (int i = 0; i < count; i++)
                    weights[i] = (Freedom + 1) / (Freedom + (Square(z[i] - level - (slope * x[i])) / variance));
            }

            double logLikelihood = (-(count + PriorCount) / 2 * Math.Log(variance)) - (prior / (2 * variance));
            for (int i = 0; i < count; i++)
                logLikelihood -= (Freedom + 1) / 2 * Math.Log(1 + (Square(z[i] - level - (slope * x[i])) / (Freedom * variance)));
            // Laplace: the volume of what fits about as well, over that of what could have been.
            double logVolume = (Math.Log(2 * Math.PI) - Math.Log(sum / variance)) / 2;
            if (hasSlope)
                logVolume = Math.Log(2 * Math.PI) - (Math.Log(((sum * ofX) - (mixed * mixed)) / (variance * variance)) / 2)
                    - (Square(slope / request.Slope) / 2) - Math.Log(request.Slope * Math.Sqrt(2 * Math.PI));
            double parameters = 1 + (hasSlope ? 1 : 0) + (shape == Shape.None ? 0 : 1);
            double unbiased = (squares + prior) / Math.Max(2, count + PriorCount - parameters);
            return new Law(
                shape, hasSlope, level, slope, unbiased, logPrior + logLikelihood + logVolume) { _information = (sum, mixed, ofX) };
        }

        private static double Square(double value) => value * value;
    }
}
