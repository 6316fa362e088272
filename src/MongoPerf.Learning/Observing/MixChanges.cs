namespace MongoPerf.Learning.Observing;

/// <summary>Finds when other operations came than before: a load and then queries, or the day's and the night's.</summary>
/// <remarks>
/// Bottom-up segmentation (Keogh et al., "An Online Algorithm for Segmenting Time Series", 2001): neighbours are merged, those first that
/// lose the least likelihood, while they differ by no more than chance, or little, or one is too short to be anything of its own.
/// </remarks>
internal static class MixChanges
{
    /// <summary>A file with more phases is none that people read.</summary>
    public const int MostMixes = 24;

    /// <summary>Mixes differ if so much of one would have to be something else to be the other (total variation distance).</summary>
    private const double Different = 0.3;

    private const int LeastOperations = 100;
    private const double LeastSeconds = 0.1;

    /// <summary>So many operations may take less than that: writes that nobody acknowledges come in no time.</summary>
    private const int Many = 1000;

    /// <summary>Fewer operations than <see cref="LeastOperations"/> are enough where they took so much of the time.</summary>
    private const double LeastShare = 0.01;

    private const int MostBlocks = 5000;

    /// <param name="arrivals">In the order of time.</param>
    /// <returns>
    /// For each mix the ranges of its operations. Up to <see cref="MostMixes"/> changes, each has one; beyond that, one has all times at
    /// which it came; and where there are more than that many mixes, all is one.
    /// </returns>
    public static IReadOnlyList<IReadOnlyList<Range>> In(IReadOnlyList<Arrival> arrivals)
    {
        if (arrivals.Count == 0)
            return [];
        List<Segment> segments = Blocks(arrivals);
        segments = Merge(segments, arrivals);
        for (int i = 1; i < segments.Count; i++)
            Separate(segments[i - 1], segments[i], arrivals);
        List<List<Segment>> mixes = segments.Count <= MostMixes ? [.. segments.Select(one => new List<Segment> { one })] : Alike(segments);
        return mixes.Count > MostMixes ? [[Range.All]]
            : [.. mixes.Select(mix => (IReadOnlyList<Range>)[.. mix.Select(one => one.First..one.End)])];
    }

    private static List<Segment> Blocks(IReadOnlyList<Arrival> arrivals)
    {
        int most = BlockLength(arrivals.Count);
        double longest = (arrivals[^1].Start - arrivals[0].Start) * LeastShare / 2;
        var blocks = new List<Segment>();
        for (int first = 0; first < arrivals.Count;)
        {
            int end = first + 1;
            while (end < arrivals.Count && end - first < most && arrivals[end].Start - arrivals[first].Start <= longest)
                end++;
            blocks.Add(new Segment(first, end, arrivals));
            first = end;
        }

        return blocks;
    }

    /// <summary>The operations of a block, of so many in all; fewer where they came slowly.</summary>
    private static int BlockLength(int operations) => Math.Max(LeastOperations / 5, operations / MostBlocks);

    private static List<Segment> Merge(List<Segment> blocks, IReadOnlyList<Arrival> arrivals)
    {
        double all = arrivals[^1].Start - arrivals[0].Start;
        var next = new LinkedList<Segment>(blocks);
        var queue = new PriorityQueue<(LinkedListNode<Segment> Left, Segment Of, Segment Right), double>();
        for (LinkedListNode<Segment>? at = next.First; at is not null; at = at.Next)
            Offer(at);
        while (queue.TryDequeue(out (LinkedListNode<Segment> Left, Segment Of, Segment Right) pair, out _))
        {
            // One of them may have been merged since.
            if (pair.Left.List is null || pair.Left.Value != pair.Of || pair.Left.Next?.Value != pair.Right)
                continue;
            next.Remove(pair.Left.Next);
            pair.Left.Value = pair.Of.With(pair.Right);
            Offer(pair.Left);
            if (pair.Left.Previous is { } previous)
                Offer(previous);
        }

        return [.. next];

        void Offer(LinkedListNode<Segment> left)
        {
            if (left.Next is null)
                return;
            (Segment one, Segment right) = (left.Value, left.Next.Value);
            double loss = one.LossWith(right);
            if (IsShort(one) || IsShort(right) || AreAlike(one, right, loss))
                queue.Enqueue((left, one, right), loss);
        }

        bool IsShort(Segment segment)
        {
            double seconds = segment.SecondsIn(arrivals);
            return (seconds < LeastSeconds && segment.Length < Many) || (segment.Length < LeastOperations && seconds < all * LeastShare);
        }
    }

    /// <param name="one">A segment.</param>
    /// <param name="other">Another.</param>
    /// <param name="loss"><see cref="Segment.LossWith"/>.</param>
    private static bool AreAlike(Segment one, Segment other, double loss)
    {
        int[] shapes = [.. one.Counts.Keys.Union(other.Counts.Keys)];
        double distance = shapes.Sum(shape => Math.Abs(one.ShareOf(shape) - other.ShareOf(shape))) / 2;
        // Twice the loss is distributed as χ² where both are one mix: this is its 99.9th percentile or more.
        return distance < Different || 2 * loss < 10 + (2 * shapes.Length);
    }

    /// <summary>Each with all that come later and are like it; it ends when there are too many.</summary>
    private static List<List<Segment>> Alike(List<Segment> segments)
    {
        var mixes = new List<(Segment Whole, List<Segment> Of)>();
        foreach (Segment segment in segments)
        {
            int like = mixes.FindIndex(mix => AreAlike(mix.Whole, segment, mix.Whole.LossWith(segment)));
            if (like < 0)
            {
                mixes.Add((segment, [segment]));
                if (mixes.Count > MostMixes)
                    break;
                continue;
            }

            mixes[like].Of.Add(segment);
            mixes[like] = (mixes[like].Whole.With(segment), mixes[like].Of);
        }

        return [.. mixes.Select(mix => mix.Of)];
    }

    /// <summary>Moves the boundary of two neighbours, which blocks have made, to where it is most likely.</summary>
    private static void Separate(Segment left, Segment right, IReadOnlyList<Arrival> arrivals)
    {
        int reach = 4 * BlockLength(arrivals.Count);
        int first = Math.Max(left.First + 1, right.First - reach);
        int end = Math.Min(right.End - 1, right.First + reach);
        double gain = 0;
        (double Gain, int At) best = (0, first);
        for (int at = first; at < end; at++)
        {
            gain += left.LogOf(arrivals[at].Shape) - right.LogOf(arrivals[at].Shape);
            if (gain > best.Gain)
                best = (gain, at + 1);
        }

        left.End = right.First = best.At;
    }

    /// <summary>Operations that came one after the other.</summary>
    private sealed class Segment
    {
        public Segment(int first, int end, IReadOnlyList<Arrival> arrivals)
        {
            (First, End, Length) = (first, end, end - first);
            for (int i = first; i < end; i++)
                Counts[arrivals[i].Shape] = Counts.GetValueOrDefault(arrivals[i].Shape) + 1;
        }

        private Segment(Segment one, Segment other)
        {
            (First, End, Length) = (one.First, other.End, one.Length + other.Length);
            Counts = new Dictionary<int, int>(one.Counts);
            foreach ((int shape, int count) in other.Counts)
                Counts[shape] = Counts.GetValueOrDefault(shape) + count;
        }

        public int First { get; set; }

        public int End { get; set; }

        public Dictionary<int, int> Counts { get; } = [];

        public int Length { get; }

        /// <summary>Minus the logarithm of how likely its operations are by its own mix.</summary>
        public double Cost => -Counts.Values.Sum(count => count * Math.Log((double)count / Length));

        public Segment With(Segment other) => new(this, other);

        /// <summary>How much less likely both are as one mix, as a logarithm.</summary>
        public double LossWith(Segment other) => With(other).Cost - Cost - other.Cost;

        public double ShareOf(int shape) => (double)Counts.GetValueOrDefault(shape) / Length;

        /// <summary>Of how likely an operation is; of one that never came, it counts as half a one.</summary>
        public double LogOf(int shape) => Math.Log(Math.Max(Counts.GetValueOrDefault(shape), 0.5) / Length);

        /// <summary>To the end of its last operation, or until the next one came.</summary>
        public double SecondsIn(IReadOnlyList<Arrival> arrivals) =>
            (End < arrivals.Count ? Math.Min(arrivals[End - 1].End, arrivals[End].Start) : arrivals[End - 1].End) - arrivals[First].Start;
    }
}
