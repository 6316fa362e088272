namespace MongoPerf.Learning.Observing;

/// <summary>Finds by which of the scenarios' distributions keys were drawn, by maximum likelihood.</summary>
/// <remarks>
/// Which key has which rank is not known, and ranking keys by how often they came would make even a uniform choice look skewed. So the
/// likelihood is that of the frequencies: how many keys came once, twice and so on, keys that never came included, when key i is drawn
/// with probability p(i) and its count follows Poisson's law (F. Mosteller and D. Wallace, 1964, for words). Ranks are summed in groups
/// within which p hardly varies.
/// </remarks>
internal static class KeyFit
{
    /// <summary>Fewer draws than this tell nothing.</summary>
    public const int LeastDraws = 50;

    /// <summary>The ranks of YCSB's scrambled zipfian.</summary>
    private const double ScrambledRanks = 10_000_000_001;

    private const double LeastTheta = 0.01;
    private const double MostTheta = 0.999;
    private const double Precision = 0.002;

    /// <summary>Below this a zipfian is as good as uniform: its most popular key has a few times the average.</summary>
    private const double UniformTheta = 0.15;

    /// <summary>Half of the 99.9 % quantile of χ² with one degree of freedom: a better likelihood than by chance.</summary>
    private const double Significant = 5.4;

    /// <summary>How many times the keys that came there may be, where nobody knows.</summary>
    private static readonly double[] Factors = [1, 1.1, 1.2, 1.35, 1.5, 1.7, 2, 2.4, 3, 4, 6, 10, 30, 100];

    /// <param name="frequencies">How many different keys came that many times; without those that never came.</param>
    /// <param name="population">Keys and documents that there are; null if unknown.</param>
    /// <param name="usual">How they are usually drawn, which stands unless these say otherwise; by default nothing is known.</param>
    public static KeyDistribution Of(
        IReadOnlyDictionary<long, long> frequencies, FieldPopulation? population, KeyDistribution usual = default)
    {
        double draws = frequencies.Sum(one => (double)one.Key * one.Value);
        double came = frequencies.Values.Sum();
        if (draws < LeastDraws || came < 2)
            return default;
        double[] candidates = population is { Distinct: > 0 } known ? [Math.Max(came, known.Distinct)]
            : [.. Factors.Select(factor => Math.Ceiling(came * factor))];
        Fit[] fits = [.. candidates.SelectMany(keys => Fits(frequencies, draws, keys, Math.Max(keys, population?.Documents ?? keys),
            isConditional: candidates.Length > 1, usual))];
        Fit best = fits.MaxBy(fit => fit.Likelihood);
        // What is drawn by document comes as often as documents have it.
        if (population is { Shares: not null } documents && candidates is [var only]
            && new FrequencyLikelihood(frequencies, draws, only, isConditional: false).Of(documents.ShareOf)
                > best.Likelihood - Significant)
            return new KeyDistribution(KeyDistributionKind.Uniform);
        if (usual.Kind is KeyDistributionKind.Uniform or KeyDistributionKind.Zipfian
            && best.Likelihood < fits.Max(fit => fit.Usual) + Significant)
            return usual;
        return best.Theta < UniformTheta || best.Likelihood < best.Uniform + Significant ? new KeyDistribution(KeyDistributionKind.Uniform)
            : new KeyDistribution(KeyDistributionKind.Zipfian, best.Theta, best.IsScrambled);
    }

    /// <summary>The θ of Zipf's law for ranks that are known.</summary>
    /// <param name="ranks">The rank of each draw, from 0 on.</param>
    /// <param name="count">Ranks that there are.</param>
    public static double ThetaOfRanks(IEnumerable<long> ranks, double count)
    {
        double sum = 0;
        long draws = 0;
        foreach (long rank in ranks)
        {
            sum += Math.Log(Math.Min(rank, count - 1) + 1);
            draws++;
        }

        return Maximum(theta => -(theta * sum) - (draws * Math.Log(Zeta(count, theta)))).Theta;
    }

    /// <summary>The θ of Zipf's law for documents of which only the newest are known by their rank.</summary>
    /// <param name="ages">The rank of each draw, from 0 on, or -1; and how many ranks were known then.</param>
    /// <param name="count">Ranks that there are.</param>
    public static double ThetaOfAges(IEnumerable<(int Age, int Came)> ages, double count)
    {
        // To a fiftieth: so few are different.
        var unknown = new Dictionary<int, long>();
        double sum = 0;
        long known = 0;
        foreach ((int age, int came) in ages)
        {
            if (age >= 0)
            {
                sum += Math.Log(Math.Min(age, count - 1) + 1);
                known++;
                continue;
            }

            int size = (int)Math.Round(50 * Math.Log(came));
            unknown[size] = unknown.GetValueOrDefault(size) + 1;
        }

        return Maximum(theta =>
        {
            double all = Zeta(count, theta);
            return -(theta * sum) - (known * Math.Log(all)) + unknown.Sum(one =>
                one.Value * Math.Log(Math.Max(1 - (Zeta(Math.Min(Math.Exp(one.Key / 50.0), count), theta) / all), 1e-12)));
        }).Theta;
    }

    private static IEnumerable<Fit> Fits(IReadOnlyDictionary<long, long> frequencies, double draws, double keys, double documents,
        bool isConditional, KeyDistribution usual)
    {
        var likelihood = new FrequencyLikelihood(frequencies, draws, keys, isConditional);
        double uniform = likelihood.Of(_ => 1 / keys);
        double OfTheta(double theta, double ranks)
        {
            double all = Zeta(ranks, theta);
            // The ranks beyond the keys are hashed to all of them alike.
            double rest = Math.Max(0, 1 - (Zeta(keys, theta) / all)) / keys;
            return likelihood.Of(rank => (Math.Pow(rank, -theta) / all) + rest);
        }

        double asUsual = usual.Kind == KeyDistributionKind.Uniform ? uniform
            : OfTheta(usual.Theta, usual.IsScrambled ? ScrambledRanks : documents);
        foreach (double ranks in (double[])[documents, ScrambledRanks])
        {
            (double theta, double most) = Maximum(theta => OfTheta(theta, ranks));
            yield return new Fit(theta, ranks == ScrambledRanks, most, uniform, asUsual);
        }
    }

    /// <summary>Golden-section search; the likelihoods have one maximum.</summary>
    private static (double Theta, double Likelihood) Maximum(Func<double, double> likelihood)
    {
        double golden = (Math.Sqrt(5) - 1) / 2;
        (double low, double high) = (LeastTheta, MostTheta);
        double left = high - (golden * (high - low));
        double right = low + (golden * (high - low));
        (double ofLeft, double ofRight) = (likelihood(left), likelihood(right));
        while (high - low > Precision)
        {
            if (ofLeft > ofRight)
            {
                (high, right, ofRight) = (right, left, ofLeft);
                left = high - (golden * (high - low));
                ofLeft = likelihood(left);
            }
            else
            {
                (low, left, ofLeft) = (left, right, ofRight);
                right = low + (golden * (high - low));
                ofRight = likelihood(right);
            }
        }

        return ((low + high) / 2, Math.Max(ofLeft, ofRight));
    }

    /// <summary>1 + 2^−θ + … + n^−θ, to some six digits: terms one by one, then their integral.</summary>
    private static double Zeta(double n, double theta)
    {
        const int Direct = 64;
        double sum = 0;
        for (int i = 1; i <= Math.Min(n, Direct); i++)
            sum += Math.Pow(i, -theta);
        return n <= Direct ? sum : sum + ((Math.Pow(n, 1 - theta) - Math.Pow(Direct, 1 - theta)) / (1 - theta))
            + ((Math.Pow(n, -theta) - Math.Pow(Direct, -theta)) / 2);
    }

    /// <param name="Theta">The best θ.</param>
    /// <param name="IsScrambled">Ranks are YCSB's.</param>
    /// <param name="Likelihood">Its logarithm.</param>
    /// <param name="Uniform">That of a uniform choice of as many keys.</param>
    /// <param name="Usual">That of what is usual.</param>
    private readonly record struct Fit(double Theta, bool IsScrambled, double Likelihood, double Uniform, double Usual);

    private sealed class FrequencyLikelihood
    {
        private readonly (long Times, double Keys, double LogFactorial)[] _frequencies;
        private readonly (double Rank, double Share)[] _groups;
        private readonly (double Mean, double Log)[] _means;
        private readonly double _draws;
        private readonly double _came;
        private readonly bool _isConditional;

        public FrequencyLikelihood(IReadOnlyDictionary<long, long> frequencies, double draws, double keys, bool isConditional)
        {
            _draws = draws;
            _came = frequencies.Values.Sum();
            _isConditional = isConditional;
            _frequencies =
            [
                .. frequencies.Select(one => (one.Key, (double)one.Value, LogFactorial(one.Key))),
                .. isConditional ? [] : new[] { (0L, keys - _came, 0.0) },
            ];
            var groups = new List<(double, double)>();
            for (double rank = 1; rank <= keys;)
            {
                double width = Math.Min(Math.Max(1, Math.Floor(rank / 16)), keys - rank + 1);
                groups.Add((rank + ((width - 1) / 2), width / keys));
                rank += width;
            }

            _groups = [.. groups];
            _means = new (double, double)[_groups.Length];
        }

        /// <param name="probability">Of the key with that rank, from 1 on.</param>
        public double Of(Func<double, double> probability)
        {
            for (int i = 0; i < _groups.Length; i++)
            {
                double mean = _draws * probability(_groups[i].Rank);
                _means[i] = (mean, Math.Log(mean));
            }

            double sum = 0;
            foreach ((long times, double keys, double logFactorial) in _frequencies)
                sum += keys * Math.Log(Math.Max(Share(times, logFactorial), 1e-300));
            // Where nobody knows how many keys never came, only those that came tell anything.
            return _isConditional ? sum - (_came * Math.Log(Math.Max(1 - Share(0, 0), 1e-300))) : sum;
        }

        /// <summary>The share of keys that come so many times.</summary>
        private double Share(long times, double logFactorial)
        {
            double share = 0;
            for (int i = 0; i < _means.Length; i++)
                share += _groups[i].Share * Math.Exp((times * _means[i].Log) - _means[i].Mean - logFactorial);
            return share;
        }

        /// <summary>Stirling's series from 16 on, to ten digits.</summary>
        private static double LogFactorial(long n)
        {
            if (n >= 16)
                return ((n + 0.5) * Math.Log(n)) - n + (0.5 * Math.Log(2 * Math.PI)) + (1.0 / (12 * n)) - (1.0 / (360.0 * n * n * n));
            double sum = 0;
            for (int i = 2; i <= n; i++)
                sum += Math.Log(i);
            return sum;
        }
    }
}
