using MongoPerf.Reporting.Charts;

namespace MongoPerf.Tests.Reporting;

/// <summary>A test that needs gnuplot: skipped with the reason where it is missing, but not in CI, where it must be there.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class GnuplotFactAttribute : FactAttribute
{
    public GnuplotFactAttribute()
    {
        if (Gnuplot.Find(out string whyNot) is null && Environment.GetEnvironmentVariable("CI") != "true")
            Skip = $"{whyNot}; apt-get install gnuplot-nox";
    }
}
