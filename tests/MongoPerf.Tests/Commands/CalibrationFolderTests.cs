using System.Text.Json.Nodes;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Commands;

/// <summary>What is kept of a calibration, and what is not believed.</summary>
public sealed class CalibrationFolderTests : IDisposable
{
    private const string Model = "Example(R) CPU @ 2.60GHz";

    private readonly TemporaryFolder _cache = new();
    private readonly CalibrationFolder _calibrations;

    public CalibrationFolderTests() => _calibrations = new CalibrationFolder(_cache.At("calibrations"));

    public void Dispose() => _cache.Dispose();

    [Fact]
    public void What_was_stored_is_found_for_its_CPU_model_and_for_no_other()
    {
        ClientCalibration stored = Calibrations.Of(Model) with { OtherCores = 1.25 };
        Assert.Equal(_cache.At("calibrations/example-r-cpu-2-60ghz.json"), _calibrations.Save(stored));
        ClientCalibration? found = _calibrations.Find(Model, out string? problem);
        Assert.Null(problem);
        Assert.Equal(stored.Costs, found!.Costs);
        Assert.Equal(stored, found with { Costs = stored.Costs });
        // The second has the same file name.
        foreach (string other in (string[])["Another CPU", "Example R CPU 2.60GHz"])
        {
            Assert.Null(_calibrations.Find(other, out problem));
            Assert.Null(problem);
        }
    }

    [Fact]
    public void A_second_calibration_takes_the_place_of_the_first()
    {
        _calibrations.Save(Calibrations.Of(Model));
        _calibrations.Save(Calibrations.Of(Model) with { Version = "0.2.0" });
        Assert.Equal("0.2.0", _calibrations.Find(Model, out _)?.Version);
        Assert.Single(Directory.EnumerateFiles(_cache.At("calibrations")));
    }

    [Fact]
    public void Only_the_owner_reads_and_writes_it()
    {
        string file = _calibrations.Save(Calibrations.Of(Model));
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(file));
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute,
            File.GetUnixFileMode(_cache.At("calibrations")));
    }

    [Fact]
    public void What_others_can_write_to_is_neither_read_nor_written()
    {
        string file = _calibrations.Save(Calibrations.Of(Model));
        File.SetUnixFileMode(file, File.GetUnixFileMode(file) | UnixFileMode.GroupWrite);
        Assert.Equal($"other users can write to {file}", ProblemOf());
        _calibrations.Save(Calibrations.Of(Model));
        Assert.NotNull(_calibrations.Find(Model, out _));
        string folder = _cache.At("calibrations");
        File.SetUnixFileMode(folder, File.GetUnixFileMode(folder) | UnixFileMode.OtherWrite);
        Assert.Equal($"other users can write to {folder}", ProblemOf());
        UserException refused = Assert.Throws<UserException>(() => _calibrations.Save(Calibrations.Of(Model)));
        Assert.Equal($"calibrations can't be stored: other users can write to {folder}", refused.Message);
    }

    [Fact]
    public void Whether_it_can_be_stored_is_known_before_anything_is_measured()
    {
        _calibrations.Prepare();
        Assert.Empty(Directory.EnumerateFileSystemEntries(_cache.At("calibrations")));
        File.WriteAllText(_cache.At("file"), "");
        UserException refused = Assert.Throws<UserException>(new CalibrationFolder(_cache.At("file/calibrations")).Prepare);
        Assert.StartsWith("calibrations can't be stored: ", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_link_is_not_followed()
    {
        string file = _calibrations.Save(Calibrations.Of(Model));
        File.Move(file, _cache.At("elsewhere.json"));
        File.CreateSymbolicLink(file, _cache.At("elsewhere.json"));
        Assert.Equal($"{file} is a link", ProblemOf());
    }

    [Fact]
    public void A_file_of_a_future_version_is_left_unread()
    {
        string file = _calibrations.Save(Calibrations.Of(Model));
        File.WriteAllText(file, """{"format": 2, "whatever": [null]}""");
        Assert.Equal($"{file}: written by a newer MongoPerf (format 2; this one reads format 1) ('mongoperf calibrate' writes it anew)",
            ProblemOf());
    }

    [Theory]
    [InlineData("")]
    [InlineData("{")]
    [InlineData("null")]
    [InlineData("[]")]
    [InlineData("{}")]
    [InlineData("\0\0\0\0")]
    public void A_damaged_file_is_refused_in_one_line(string text)
    {
        string file = _calibrations.Save(Calibrations.Of(Model));
        File.WriteAllText(file, text);
        Assert.DoesNotContain("\n", ProblemOf(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_giant_file_is_refused_and_not_loaded()
    {
        string file = _calibrations.Save(Calibrations.Of(Model));
        File.AppendAllText(file, new string(' ', 65_536));
        Assert.Equal($"{file} is larger than 65,536 bytes", ProblemOf());
    }

    [Theory]
    [InlineData("microseconds", "-1")]
    [InlineData("microseconds", "0")]
    [InlineData("serviceMicroseconds", "\"NaN\"")]
    [InlineData("cpuMicroseconds", "1e300")]
    [InlineData("documentBytes", "\"Infinity\"")]
    [InlineData("allocatedBytes", "null")]
    [InlineData("kind", "\"find 11\"")]
    public void A_cost_that_nobody_measures_is_refused_in_one_line(string name, string value)
    {
        string file = _calibrations.Save(Calibrations.Of(Model));
        JsonNode root = JsonNode.Parse(File.ReadAllText(file))!;
        root["costs"]![3]![name] = JsonNode.Parse(value);
        File.WriteAllText(file, root.ToJsonString());
        Assert.StartsWith(file, ProblemOf(), StringComparison.Ordinal);
        Assert.DoesNotContain("\n", ProblemOf(), StringComparison.Ordinal);
    }

    private string ProblemOf()
    {
        Assert.Null(_calibrations.Find(Model, out string? problem));
        return problem!;
    }
}
