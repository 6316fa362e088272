// The "Explore" section of a run's page: charts by dygraphs, everything around them by this file.
// The data are in the element explore-data, as PlotEncoding.cs writes them. Text of the run only ever becomes text nodes, never markup.
(() => {
  "use strict";

  const section = document.getElementById("explore");
  const source = document.getElementById("explore-data");
  if (!section || !(source || section.dataset.live)) return;

  // The page's language: its texts by the English ones, or nothing for English.
  const texts = JSON.parse(document.getElementById("explore-texts")?.textContent ?? "{}");
  const say = (english, ...values) => (texts[english] ?? english).replace(/\{(\d)\}/g, (_, i) => values[i]);

  // ---- reading what PlotEncoding.cs and RangeHistograms.cs wrote ----

  class Words {
    constructor(bytes, at = 0) { this.bytes = bytes; this.at = at; }
    // LEB128, up to 2^53: no bit operations, which end at 2^32.
    next() {
      for (let value = 0, factor = 1; ; factor *= 128) {
        const byte = this.bytes[this.at++];
        value += (byte & 127) * factor;
        if (byte < 128) return value;
      }
    }
    column(rows, decimals) {
      const values = new Array(rows);
      let last = 0;
      for (let i = 0; i < rows; i++) {
        const word = this.next();
        if (word < 2) values[i] = word === 0 ? null : NaN;
        else values[i] = scaled(last += signed(word - 2), decimals);
      }
      return values;
    }
  }

  const signed = zigZag => zigZag % 2 ? -(zigZag + 1) / 2 : zigZag / 2;
  const scaled = (value, decimals) => decimals >= 0 ? value / 10 ** decimals : value * 10 ** -decimals;

  async function unpack(text) {
    // Nothing is packed as nothing, which browsers don't take for a stream: no histograms during a warm-up.
    if (!text) return new Uint8Array();
    const stream = new Blob([Uint8Array.from(atob(text), c => c.charCodeAt(0))]).stream();
    return new Uint8Array(await new Response(stream.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer());
  }

  async function readColumns(plot) {
    const words = new Words(await unpack(plot.packed)), histograms = new Words(await unpack(plot.histograms));
    for (const panel of plot.panels) {
      panel.at = words.column(panel.rows, 1);
      for (const series of panel.series) {
        series.values = words.column(panel.rows, series.decimals);
      }
      findPoints(panel);
      // Times are in tenths, the last one rounded up as well as down.
      plot.seconds = Math.max(plot.seconds, panel.at[panel.rows - 1] ?? 0);
    }
    plot.growth = plot.documents ? { at: words.column(plot.documents, 1), count: words.column(plot.documents, 0) } : null;
    for (const range of plot.ranges) readBlocks(range, histograms);
  }

  // The points of each line without the rows that it passes by.
  function findPoints(panel) {
    for (const series of panel.series) {
      series.at = [];
      series.points = [];
      series.values.forEach((value, row) => {
        if (!Number.isFinite(value ?? NaN)) return;
        series.at.push(panel.at[row]);
        series.points.push(value);
      });
    }
  }

  // Where each block begins; its counts are read when they are needed.
  function readBlocks(range, words) {
    const count = range.blocks;
    range.blocks = [];
    for (let i = 0, end = 0; i < count; i++) {
      const from = end + signed(words.next());
      end = from + words.next();
      const block = { from: from / 10, to: end / 10, bytes: words.bytes, at: words.at };
      for (let left = words.next(); left > 0; left--) if (words.next() % 2) words.next();
      range.blocks.push(block);
    }
  }

  // ---- percentiles: the rules of LatencyHistogram.cs ----

  const COUNTS = 27 * 1024;
  const bucketOf = index => Math.max(0, Math.floor(index / 1024) - 1);
  const lowest = index => (index < 1024 ? index : index % 1024 + 1024) * 2 ** (bucketOf(index) + 6);
  const highest = index => lowest(index) + 2 ** (bucketOf(index) + 6) - 1;
  const tenths = microseconds => Math.round(microseconds * 10) / 10;
  const shown = nanoseconds => tenths(Math.max(100, nanoseconds) / 1000);

  function countsOf(block, act) {
    const words = new Words(block.bytes, block.at);
    for (let left = words.next(), index = -1; left > 0; left--) {
      const step = words.next();
      const count = step % 2 ? words.next() : 1;
      act(index += Math.floor(step / 2), count);
    }
  }
  const isWithin = (block, from, to) => (block.from + block.to) / 2 >= from && (block.from + block.to) / 2 <= to;

  // Of the blocks whose middle lies in the range.
  function summarise(range, from, to) {
    const counts = new Float64Array(COUNTS);
    let total = 0, sum = 0, begin = Infinity, end = -Infinity;
    for (const block of range.blocks) {
      if (!isWithin(block, from, to)) continue;
      begin = Math.min(begin, block.from);
      end = Math.max(end, block.to);
      countsOf(block, (index, count) => {
        counts[index] += count;
        total += count;
        sum += count * (lowest(index) + highest(index)) / 2;
      });
    }
    if (!total) return null;
    const percentiles = [50, 90, 95, 99, 99.9].map(percent => {
      const rank = Math.min(total, Math.max(1, Math.ceil(percent / 100 * total * (1 - 1e-12))));
      for (let index = 0, seen = 0; ; index++) if ((seen += counts[index]) >= rank) return shown(highest(index));
    });
    let last = COUNTS - 1;
    while (!counts[last]) last--;
    return { total, begin, end, figures: [tenths(sum / total / 1000), ...percentiles, shown(highest(last))] };
  }

  // ---- HdrHistogram's V2 compressed encoding, as HistogramEncoding.cs writes it ----

  async function encode(block) {
    const words = [];
    const put = word => {
      // ZigZag LEB128.
      for (word = word < 0 ? -2 * word - 1 : 2 * word; word >= 128; word = Math.floor(word / 128)) words.push(word % 128 + 128);
      words.push(word);
    };
    let next = 0, last = 0;
    countsOf(block, (index, count) => {
      if (index - next === 1) put(0);
      else if (index > next) put(next - index);
      put(count);
      next = index + 1;
      last = index;
    });
    const plain = new DataView(new ArrayBuffer(40 + words.length));
    [0x1c849313, words.length, 0, 3].forEach((value, i) => plain.setInt32(i * 4, value));
    plain.setBigInt64(16, 100n);
    plain.setBigInt64(24, 3600000000000n);
    plain.setFloat64(32, 1);
    new Uint8Array(plain.buffer, 40).set(words);
    const packed = new Uint8Array(await new Response(new Blob([plain.buffer]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer());
    const whole = new DataView(new ArrayBuffer(8 + packed.length));
    whole.setInt32(0, 0x1c849314);
    whole.setInt32(4, packed.length);
    new Uint8Array(whole.buffer, 8).set(packed);
    return { base64: btoa(String.fromCharCode(...new Uint8Array(whole.buffer))), max: highest(last) };
  }

  // ---- numbers for people, as Units.cs has them ----

  const grouped = (value, digits = 0) => value.toLocaleString("en-US", { maximumFractionDigits: digits });
  const significant = value => {
    const size = Math.abs(value);
    return String(Number(value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.0995 ? 2 : 4)));
  };
  function stepped(value, by, suffixes) {
    let step = 0;
    for (; Math.abs(value) >= by - 0.5 && step < suffixes.length - 1; step++) value /= by;
    return significant(value) + suffixes[step];
  }
  const TIMES = [" µs", " ms", " s"], SIZES = [" B", " KiB", " MiB", " GiB", " TiB"], COUNTED = ["", "k", "M", "G", "T"];
  const onAxis = (unit, value) => unit === "µs" ? stepped(value, 1000, TIMES) : unit === "bytes" ? stepped(value, 1024, SIZES) : stepped(value, 1000, COUNTED);
  // At the cursor: each quantity in the unit in which it is read, as in the program's tables.
  const atCursor = (unit, value) => unit === "µs" ? stepped(value, 1000, TIMES) : unit === "bytes" ? stepped(value, 1024, SIZES) : Math.abs(value) >= 99.95 ? grouped(value) : significant(value);
  function clock(seconds, digits = 0) {
    const whole = Math.floor(Number(seconds.toFixed(digits)));
    const two = number => String(number).padStart(2, "0");
    const rest = digits ? (Number(seconds.toFixed(digits)) - whole).toFixed(digits).slice(1) : "";
    const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
    return (hours ? `${hours}:${two(minutes)}` : minutes) + `:${two(whole % 60)}${rest}`;
  }

  // ---- small helpers for the page ----

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }
  const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const marked = plot => plot.notMongoDb ? `${plot.title} (${plot.notMongoDb})` : plot.title;
  const colorOf = name => color(`--c-${name}`) || color("--ink");
  function save(blob, name) {
    const link = element("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
  // The first index of a rising array whose value is not below.
  function indexOf(rising, value) {
    let low = 0, high = rising.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rising[middle] < value) low = middle + 1; else high = middle;
    }
    return low;
  }
  function nearest(rising, value) {
    const right = indexOf(rising, value);
    return right > 0 && (right === rising.length || value - rising[right - 1] < rising[right] - value) ? right - 1 : right;
  }

  // Least and greatest of some rows in the order in which they came, and whether the line ends there.
  function extremes(values, from, to) {
    let least = null, greatest = null, ends = false;
    for (let row = from; row < to; row++) {
      const value = values[row];
      if (value === null) continue;
      if ((ends = Number.isNaN(value))) continue;
      if (least === null || value < values[least]) least = row;
      if (greatest === null || value > values[greatest]) greatest = row;
    }
    if (least === null) return [null, null, ends];
    return [values[Math.min(least, greatest)], least === greatest ? null : values[Math.max(least, greatest)], ends];
  }

  // Of a panel: some two pixels each on a wide screen.
  const MOST_PIECES = 500;
  const PATTERNS = { solid: null, dashed: [6, 3], dotted: [2, 3] };
  const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];

  const KINDS = { "warm-up": say("warm-up"), checkpoint: say("checkpoint"), index_build: say("index build"), migration: say("chunk migrating"), migration_failed: say("failed migration"), resharding: say("resharding"), outage: say("outage"), others: say("other programs"), phase: say("phase") };
  const kindText = kind => KINDS[kind] ?? kind;

  // ---- several runs laid over each other ----

  // Those of the static charts, where a colour is a run.
  const MORE_COLORS = 24, RUN_COLORS = ["o2", "o4", "o3", "o6"], RUN_STYLES = ["solid", "dashed", "dotted", "dashed"];

  // Panels of one title share a place. A line knows whose it is: where a run has but one colour there, runs are told apart by colours, otherwise by dashes.
  function combine(plots) {
    const titles = [...new Set(plots.flatMap(plot => plot.panels.map(panel => panel.title)))];
    return titles.map(title => {
      const parts = plots.map(plot => ({ plot, panel: plot.panels.find(panel => panel.title === title) })).filter(part => part.panel);
      const first = parts[0].panel;
      const isAlone = parts.every(part => new Set(part.panel.series.map(series => series.color)).size === 1);
      const series = parts.flatMap(({ plot, panel }) => panel.series.map(one => dress(one, plot, plots, isAlone)));
      return { title, unit: first.unit, log: first.log, parts, series, at: first.at };
    });
  }

  const PERCENTILES = ["p50", "p99", "max"];

  // Of lines of which one percentile is shown at a time, the operation has the name, and all of them are solid.
  function dress(series, plot, plots, isAlone) {
    series.plot = plot;
    series.label = series.percentile ? series.title.slice(0, -series.percentile.length - 1) : series.title;
    series.name = plots.length > 1 ? `${series.label} · ${plot.title}` : series.label;
    series.full = series.percentile ? `${series.name} ${series.percentile}` : series.name;
    if (series.percentile) Object.assign(series, { style: "solid", shown: true });
    if (plots.length === 1) return series;
    if (isAlone) series.color = RUN_COLORS[plots.indexOf(plot)];
    else series.style = RUN_STYLES[plots.indexOf(plot)];
    return series;
  }

  // No two lines of a panel look alike: a colour that another line has already gives way to one that none has, the same for that line in all panels.
  function setApart(panels) {
    const given = new Map();
    for (const { series } of panels) {
      const taken = new Map();
      for (const line of series) {
        const look = () => `${line.color} ${line.style}`;
        if ((taken.get(look()) ?? line.name) !== line.name) {
          if (!given.has(line.name)) given.set(line.name, `x${given.size % MORE_COLORS}`);
          line.color = given.get(line.name);
        }
        taken.set(look(), line.name);
      }
    }
    return panels;
  }

  // Of the heat map: rows for each power of ten, and the row of 1 µs.
  const HEAT_ROWS = 16, HEAT_BASE = 20;

  class Explorer {
    constructor(plots) {
      this.plots = plots;
      this.lines = setApart(combine(plots));
      this.percentile = "p99";
      this.home = element("div");
      this.ended = new AbortController();
      this.from = 0;
      this.to = this.seconds;
      this.axis = "time";
      this.phase = null;
      this.cursor = null;
      this.mark = null;
      this.flipped = new Set();
    }

    get ranges() { return this.plots.flatMap(plot => plot.ranges.map(range => ({ plot, range, name: this.plots.length > 1 ? `${range.title} · ${plot.title}` : range.title }))); }

    // -- the axis: time is what is kept, documents are a way to draw it --

    get plot() { return this.plots[0]; }
    get seconds() { return Math.max(...this.plots.map(plot => plot.seconds)); }
    get hasGrowth() { return this.plots.every(plot => plot.growth); }
    get isWhole() { return this.from <= 0 && this.to >= this.seconds; }
    documentsAt(time, plot = this.plot) {
      const { at, count } = plot.growth;
      const right = indexOf(at, time);
      if (right === 0) return at.length ? count[0] * Math.max(0, time) / Math.max(at[0], 0.1) : 0;
      if (right === at.length) return count[right - 1];
      return count[right - 1] + (count[right] - count[right - 1]) * (time - at[right - 1]) / (at[right] - at[right - 1]);
    }
    // The first or the last moment at which there were so many.
    timeAt(documents, isLast, plot = this.plot) {
      const { at, count } = plot.growth;
      const right = isLast ? indexOf(count, documents + 0.5) : indexOf(count, documents);
      if (right === count.length) return plot.seconds;
      const [time, before] = right ? [at[right - 1], count[right - 1]] : [0, 0];
      return count[right] === before ? time : time + (at[right] - time) * Math.min(1, Math.max(0, (documents - before) / (count[right] - before)));
    }
    // While nothing is added, all that is measured lies at one number of documents: it is drawn over time.
    get over() { return this.axis === "documents" && this.documentsAt(this.to) > this.documentsAt(this.from) ? "documents" : "time"; }
    place(time, plot = this.plot) { return this.over === "documents" ? this.documentsAt(time, plot) : time - this.shiftOf(plot); }
    // A time of the first run on another run's clock: the same second, since the chosen phase began, or when that had as many documents.
    timeIn(plot, time, isLast = false) {
      if (plot === this.plot) return time;
      return this.over === "time" ? time + this.shiftOf(plot) : this.timeAt(this.documentsAt(time), isLast, plot);
    }
    shiftOf(plot) {
      const mine = plot === this.plot ? null : this.plot.phases[this.phase], other = mine && plot.phases.find(phase => phase.text === mine.text);
      return other ? other.from - mine.from : 0;
    }
    time(place, isLast = false) { return this.over === "documents" ? this.timeAt(place, isLast) : place; }
    get window() {
      const from = this.place(this.from), to = this.place(this.to);
      return to > from ? [from, to] : [from, from + 1];
    }
    share(time) {
      const [from, to] = this.window;
      return (this.place(time) - from) / (to - from);
    }
    ticks(from, to, pixels) {
      const step = STEPS.find(one => (to - from) / one <= pixels / 75) ?? STEPS[STEPS.length - 1];
      const made = [];
      for (let i = Math.ceil(from / step - 1e-9); i * step <= to + 1e-9; i++) {
        // The first would run into the lowest label of the values.
        const isAtEdge = (i * step - from) / (to - from) * pixels < 12;
        made.push({ v: i * step, label: isAtEdge ? "" : clock(i * step, step < 1 ? 1 : 0) });
      }
      return made;
    }
    // Powers of ten, and 2 and 5 times these where there is room.
    logTicks(from, to, unit) {
      const low = Math.floor(Math.log10(Math.max(from, 1e-3))), high = Math.ceil(Math.log10(to));
      const factors = high - low <= 2 ? [1, 2, 5] : [1];
      const made = [];
      for (let power = low; power <= high; power++)
        for (const factor of factors) made.push({ v: factor * 10 ** power, label: onAxis(unit, factor * 10 ** power) });
      return made;
    }

    // -- what the reader sees --

    build() {
      section.append(this.home);
      this.home.append(element("p", { class: "soft" }, say("Drag to zoom, double-click for the whole run; arrow keys move the cursor, press Enter at each end to select a range, Esc to show the whole run. Copy the address to share the view.")));
      if (this.plots.length > 1) this.home.append(element("p", { class: "soft" }, say("Bands, events and phases are those of {0}. ", this.plot.title) + (this.hasGrowth ? say("Over documents, runs are aligned where they held the same number of documents. ") : "") + say("Zooming to a phase lines the runs up where it begins.")));
      for (const remark of new Set(this.plots.flatMap(plot => plot.remarks))) this.home.append(element("p", { class: "soft" }, remark));
      this.buildBar();
      this.strip = element("div", { class: "ex-strip", "aria-hidden": "true" });
      this.now = element("p", { class: "ex-now soft" });
      this.kinds = element("p", { class: "ex-key soft", "aria-hidden": "true" });
      this.home.append(this.bar, this.strip, this.kinds, this.now);
      this.panels = this.lines.map((panel, i) => this.buildPanel(panel, i));
      this.table = element("tbody");
      this.extent = element("p", { class: "soft" });
      if (this.ranges.length) {
        const heads = [say("operation"), say("measured as"), say("operations"), say("mean"), "p50", "p90", "p95", "p99", "p99.9", say("max")];
        this.home.append(element("h3", {}, say("Latency of the range")), this.extent,
          element("div", { class: "wide" }, element("table", { id: "explore-range" },
            element("caption", {}, say("Percentiles of the selected range")),
            element("thead", {}, element("tr", {}, ...heads.map((head, i) => element("th", { scope: "col", class: i < 2 ? "text" : "figure" }, head)))), this.table)));
        this.buildHeat();
      }
      const { signal } = this.ended;
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.recolor(); this.drawHeat(); }, { signal });
      addEventListener("hashchange", () => {
        this.readHash();
        this.showLines();
        this.redraw();
        if (location.hash.startsWith("#explore&")) section.scrollIntoView();
      }, { signal });
    }

    destroy() {
      this.ended.abort();
      clearTimeout(this.later);
      clearTimeout(this.heatLater);
      for (const view of this.panels) view.dygraph?.destroy();
      this.home.remove();
    }

    buildBar() {
      this.range = element("output", { class: "ex-range" });
      const bar = element("div", { class: "ex-bar" }, this.range, element("button", { type: "button", onclick: () => this.showWhole() }, say("Whole run")));
      if (this.plot.phases.length > 1) {
        this.phases = element("select", { "aria-label": say("Zoom to a phase"), onchange: () => {
          if (this.phases.value) this.showPhase(Number(this.phases.value));
        } }, element("option", { value: "" }, say("Zoom to a phase…")), ...this.plot.phases.map((phase, i) => element("option", { value: i }, `${phase.text} (${clock(phase.from)})`)));
        bar.append(this.phases);
      }
      if (this.hasGrowth) {
        this.axes = element("select", { "aria-label": say("Axis"), onchange: () => { this.axis = this.axes.value; this.redraw(); } },
          element("option", { value: "time" }, say("over time")), element("option", { value: "documents" }, say("over documents")));
        bar.append(this.axes);
      }
      bar.append(element("button", { type: "button", onclick: () => this.saveCsv() }, say("CSV of the range")));
      if (this.ranges.length) bar.append(element("button", { type: "button", title: say("HdrHistogram log: a line for each block of the range"), onclick: () => this.saveHlog() }, say(".hlog of the range")));
      this.bar?.replaceWith(bar);
      this.bar = bar;
      this.drawnPhases = this.plot.phases.length;
    }

    showKinds() {
      this.kinds.replaceChildren();
      if (this.plot.phases.length) this.kinds.append(element("span", {}, say("above: phases; click one to zoom in")));
      for (const kind of Object.keys(KINDS).filter(kind => this.plot.bands.some(band => band.kind === kind)))
        this.kinds.append(element("span", {}, element("i", { style: `background: var(--c-${kind})` }), kindText(kind)));
      if (this.plot.marks.length) this.kinds.append(element("span", {}, element("i", { class: "ex-mark" }), say("event")));
    }

    buildPanel(panel, number) {
      const view = { panel, number, buttons: [], values: [], choices: [] };
      view.graph = element("div", { class: "ex-graph" });
      view.line = element("div", { class: "ex-line", hidden: "" });
      view.selection = element("div", { class: "ex-selection", hidden: "" });
      view.over = element("div", { class: "ex-over", tabindex: "0", role: "slider", "aria-label": say("{0}, {1}: cursor", panel.title, panel.unit), "aria-valuemin": "0",
        "aria-valuemax": this.seconds, "aria-valuenow": "0" }, view.line, view.selection);
      const legend = element("div", { class: "ex-legend", role: "group", "aria-label": say("Lines of {0}", panel.title) });
      panel.series.forEach((series, i) => {
        const value = element("span", { class: "ex-value" });
        const button = element("button", { type: "button", "aria-pressed": "true", onclick: () => this.toggle(view, i) },
          element("i", { class: series.style, style: `border-color: var(--c-${series.color})` }), element("span", {}, series.name), value);
        view.buttons.push(button);
        view.values.push(value);
        legend.append(button);
      });
      const kinds = PERCENTILES.filter(name => panel.series.some(one => one.percentile === name));
      view.choices = kinds.length < 2 ? [] : kinds.map(name =>
        element("button", { type: "button", value: name, onclick: () => this.choosePercentile(name) }, name === "p50" ? say("median") : name));
      const choice = element("span", { class: "ex-choice", role: "group", "aria-label": say("Percentile") }, ...view.choices);
      view.box = element("div", { class: "ex-panel" },
        element("div", { class: "ex-head" }, element("strong", {}, panel.title), element("span", { class: "soft" }, panel.unit === "µs" ? say("logarithmic") : panel.unit === "bytes" ? say("bytes") : panel.unit),
          ...(view.choices.length ? [choice] : []), element("button", { type: "button", "aria-label": say("PNG of {0}", panel.title), onclick: () => this.savePng(view) }, "PNG")),
        legend, element("div", { class: "ex-plot" }, view.graph, view.over), element("p", { class: "ex-none soft" }, say("Nothing was measured here in this range.")));
      this.home.append(view.box);
      this.listen(view);
      return view;
    }

    // What is drawn of the visible range: all points, or where they would lie closer than pixels the least and the greatest of each piece.
    rows(panel) {
      if (panel.parts.length === 1) return this.rowsOf(panel.parts[0]);
      const rows = [];
      let offset = 1;
      for (const part of panel.parts) {
        for (const [x, ...values] of this.rowsOf(part)) {
          const row = new Array(panel.series.length + 1).fill(null);
          row[0] = x;
          values.forEach((value, i) => { row[offset + i] = value; });
          rows.push(row);
        }
        offset += part.panel.series.length;
      }
      return rows.sort((one, other) => one[0] - other[0]);
    }
    rowsOf({ plot, panel }) {
      const from = this.timeIn(plot, this.from), to = this.timeIn(plot, this.to, true);
      const first = Math.max(0, indexOf(panel.at, from) - 1), end = Math.min(panel.at.length, indexOf(panel.at, to) + 2);
      const piece = Math.ceil((end - first) / MOST_PIECES);
      const rows = [];
      if (piece <= 2) {
        for (let row = first; row < end; row++) rows.push([this.place(panel.at[row], plot), ...panel.series.map(series => series.values[row])]);
        return rows;
      }
      for (let row = first; row < end; row += piece) {
        const last = Math.min(end, row + piece);
        const parts = panel.series.map(series => extremes(series.values, row, last));
        rows.push([this.place(panel.at[row], plot), ...parts.map(part => part[0])], [this.place(panel.at[(row + last) >> 1], plot), ...parts.map(part => part[1])]);
        if (parts.some(part => part[2])) rows.push([this.place(panel.at[last - 1], plot), ...parts.map(part => part[2] ? NaN : null)]);
      }
      return rows;
    }

    // Panels on the screen are drawn at once, the others one by one behind them.
    draw() {
      for (const view of this.panels) {
        const box = view.graph.getBoundingClientRect();
        view.isStale = box.bottom < 0 || box.top > innerHeight;
      }
      for (const view of this.panels.filter(view => !view.isStale)) this.drawPanel(view);
      clearTimeout(this.later);
      this.later = setTimeout(() => this.drawStale(), 30);
    }
    drawStale() {
      const view = this.panels.find(view => view.isStale);
      if (!view) return void (section.dataset.drawn = "true");
      view.isStale = false;
      this.drawPanel(view);
      this.later = setTimeout(() => this.drawStale());
    }
    drawPanel(view) {
      const file = this.rows(view.panel);
      // No point in the range, of any line: a frame around nothing says less than a sentence.
      const isEmpty = !view.panel.series.some(({ at, plot }) => at[indexOf(at, this.timeIn(plot, this.from))] <= this.timeIn(plot, this.to, true));
      if (view.box.classList.toggle("ex-empty", isEmpty)) return;
      // A window that changed its size while this was hidden left it none.
      if (view.dygraph && !view.dygraph.size().width) view.dygraph.resize();
      // A second by itself is a point, often at the panel's very edge.
      const pointSize = file.length === 1 ? 4 : 1.5;
      if (view.dygraph) view.dygraph.updateOptions({ file, dateWindow: this.window, pointSize });
      else view.dygraph = new Dygraph(view.graph, file, { ...this.options(view), pointSize });
    }
    isShown(number, i) {
      const one = this.lines[number].series[i];
      return (!one.percentile || one.percentile === this.percentile) && one.shown !== this.flipped.has(`${number}.${this.keyOf(number, i)}`);
    }
    // What is switched on and off together: the percentiles of an operation, by the place of the first.
    keyOf(number, i) {
      const { series } = this.lines[number];
      return series[i].percentile ? series.findIndex(one => one.percentile && one.name === series[i].name) : i;
    }

    options(view) {
      const { panel, number } = view;
      const pattern = {};
      panel.series.forEach((series, i) => { pattern[i] = { strokePattern: PATTERNS[series.style] }; });
      return {
        labels: ["x", ...panel.series.keys()].map(String),
        series: pattern,
        visibility: panel.series.map((_, i) => this.isShown(number, i)),
        ...this.look(panel),
        strokeWidth: 1.4, connectSeparatedPoints: true, drawGapEdgePoints: true,
        includeZero: !panel.log, logscale: panel.log,
        legend: "never", showLabelsOnHighlight: false, highlightCircleSize: 0, interactionModel: {},
        dateWindow: this.window, rightGap: 8, axisLabelFontSize: 12, xRangePad: 0,
        axes: {
          x: {
            ticker: (from, to, pixels, ...rest) => this.over === "time" ? this.ticks(from, to, pixels) : Dygraph.numericTicks(from, to, pixels, ...rest),
            axisLabelFormatter: value => onAxis("", value),
          },
          y: {
            axisLabelFormatter: value => onAxis(panel.unit, value), axisLabelWidth: 62, pixelsPerLabel: 28, labelsKMG2: panel.unit === "bytes",
            ...(panel.log ? { ticker: (from, to) => this.logTicks(from, to, panel.unit) } : {}),
          },
        },
        underlayCallback: (canvas, area, dygraph) => this.underlay(canvas, area, dygraph),
        drawCallback: dygraph => this.fit(view, dygraph),
      };
    }
    look(panel) { return { colors: panel.series.map(series => colorOf(series.color)), gridLineColor: color("--line"), axisLineColor: color("--soft") }; }
    recolor() { for (const view of this.panels) view.dygraph?.updateOptions(this.look(view.panel)); }

    // Bands and marks under the lines.
    underlay(canvas, area, dygraph) {
      const x = time => dygraph.toDomXCoord(this.place(time));
      canvas.save();
      canvas.beginPath();
      canvas.rect(area.x, area.y, area.w, area.h);
      canvas.clip();
      const fills = Object.fromEntries(Object.keys(KINDS).map(kind => [kind, colorOf(kind)]));
      for (const band of this.plot.bands) {
        if (band.to < this.from || band.from > this.to) continue;
        canvas.globalAlpha = band.kind === "others" ? 0.6 : 0.9;
        canvas.fillStyle = fills[band.kind];
        canvas.fillRect(x(band.from), area.y, Math.max(1, x(band.to) - x(band.from)), area.h);
      }
      canvas.globalAlpha = 0.6;
      canvas.fillStyle = colorOf("o8");
      for (const mark of this.plot.marks) if (mark.at >= this.from && mark.at <= this.to) canvas.fillRect(Math.round(x(mark.at)), area.y, 1, area.h);
      canvas.restore();
    }

    // Cursor and selection lie over the plot itself, beside its labels.
    fit(view, dygraph) {
      const area = dygraph.getArea();
      Object.assign(view.over.style, { left: `${area.x}px`, top: `${area.y}px`, width: `${area.w}px`, height: `${area.h}px` });
      if (view.number === 0) Object.assign(this.strip.style, { marginLeft: `${area.x}px`, width: `${area.w}px` });
    }

    // -- pointer and keys --

    listen(view) {
      const over = view.over;
      let start = null;
      const shareOf = event => {
        const box = over.getBoundingClientRect();
        return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      };
      const timeOf = (share, isLast) => {
        const [from, to] = this.window;
        return this.time(from + share * (to - from), isLast);
      };
      over.addEventListener("pointerdown", event => {
        if (event.button !== 0) return;
        start = shareOf(event);
        over.setPointerCapture(event.pointerId);
      });
      over.addEventListener("pointermove", event => {
        const share = shareOf(event);
        this.moveTo(timeOf(share), share);
        if (start !== null) this.select(start, share);
      });
      over.addEventListener("pointerup", event => {
        const end = shareOf(event);
        const [left, right] = [Math.min(start ?? end, end), Math.max(start ?? end, end)];
        start = null;
        this.select(0, 0);
        this.moveTo(timeOf(end), end);
        if ((right - left) * over.clientWidth > 5) this.zoom(timeOf(left), timeOf(right, true));
      });
      over.addEventListener("pointercancel", () => { start = null; this.select(0, 0); });
      over.addEventListener("dblclick", () => this.showWhole());
      over.addEventListener("keydown", event => this.key(view, event));
    }

    key(view, event) {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const at = view.panel.at;
      const length = this.to - this.from;
      const cursor = this.cursor ?? this.from;
      const step = (event.shiftKey ? 10 : 1) * (event.key === "ArrowLeft" ? -1 : 1);
      const to = row => this.moveTo(Math.min(this.to, Math.max(this.from, at[Math.min(at.length - 1, Math.max(0, row))])));
      const halve = factor => {
        const half = length * factor / 2;
        this.zoom(cursor - half, cursor + half);
      };
      switch (event.key) {
        case "ArrowLeft": case "ArrowRight": to(nearest(at, cursor) + step); break;
        case "Home": to(indexOf(at, this.from)); break;
        case "End": to(indexOf(at, this.to)); break;
        case "PageUp": this.pan(-length); break;
        case "PageDown": this.pan(length); break;
        case "+": case "=": halve(0.5); break;
        case "-": halve(2); break;
        case "Enter": this.markEnd(cursor); break;
        case "Escape": this.mark = null; this.select(0, 0); this.showWhole(); break;
        default: return;
      }
      event.preventDefault();
    }

    markEnd(cursor) {
      const begin = this.mark;
      this.mark = begin === null ? cursor : null;
      this.select(0, 0);
      if (begin === null) this.showNow();
      else if (begin !== cursor) this.zoom(Math.min(begin, cursor), Math.max(begin, cursor));
    }

    pan(by) {
      const moved = Math.max(-this.from, Math.min(this.seconds - this.to, by));
      this.zoom(this.from + moved, this.to + moved);
    }

    select(left, right) {
      for (const { selection } of this.panels) {
        selection.hidden = left === right;
        selection.style.left = `${Math.min(left, right) * 100}%`;
        selection.style.width = `${Math.abs(right - left) * 100}%`;
      }
    }

    // One cursor for all panels. Over documents, several times share a place: the share says where the pointer is.
    moveTo(time, share = this.share(time)) {
      this.cursor = time;
      const reach = Math.max(3, (this.to - this.from) / 200);
      for (const view of this.panels) {
        view.line.hidden = !(share >= 0 && share <= 1);
        view.line.style.left = `${share * 100}%`;
        const texts = view.panel.series.map((series, i) => {
          const own = this.timeIn(series.plot, time);
          const row = nearest(series.at, own);
          const isNear = row < series.at.length && Math.abs(series.at[row] - own) <= reach;
          return view.values[i].textContent = isNear ? atCursor(view.panel.unit, series.points[row]) : "";
        });
        view.over.setAttribute("aria-valuenow", time.toFixed(1));
        view.over.setAttribute("aria-valuetext", [this.when(time), ...texts.map((text, i) => text && this.isShown(view.number, i) ? `${view.panel.series[i].full} ${text}` : "")].filter(Boolean).join(", "));
      }
      if (this.mark !== null) this.select(this.share(this.mark), share);
      this.showNow();
    }

    when(time) { return clock(time, 1) + (this.plot.growth ? say(", {0} documents", grouped(this.documentsAt(time))) : ""); }

    showNow() {
      if (this.cursor === null) return void (this.now.textContent = "");
      const time = this.cursor, near = (this.to - this.from) / 150;
      const inside = [...this.plot.phases, ...this.plot.bands].filter(band => band.from <= time && time <= band.to)
        .map(band => band.kind === "phase" || !band.text ? band.text || kindText(band.kind) : `${kindText(band.kind)}: ${band.text}`);
      const marks = this.plot.marks.filter(mark => Math.abs(mark.at - time) <= near).slice(0, 4).map(mark => say("{0} at {1}: {2}", kindText(mark.kind), clock(mark.at, 1), mark.text));
      this.now.textContent = [this.when(time), ...new Set(inside), ...marks, this.mark === null ? "" : say("range start set")].filter(Boolean).join(" · ");
    }

    // -- changing the view --

    zoom(from, to) {
      this.limit(from, to);
      this.redraw();
    }

    showWhole() {
      this.phase = null;
      this.zoom(0, this.seconds);
    }

    // Runs laid over each other are lined up where the phase begins.
    showPhase(i) {
      const { from, to } = this.plot.phases[i];
      this.phase = i;
      this.zoom(from, this.plots.length > 1 ? Math.max(to, ...this.plots.map(plot => (plot.phases.find(phase => phase.text === this.plot.phases[i].text)?.to ?? 0) - this.shiftOf(plot))) : to);
    }

    // A range lies within the run and has a length, whatever was asked for.
    limit(from, to) {
      const length = Math.min(this.seconds, Math.max(0.2, to - from));
      this.from = Math.max(0, Math.min(from, this.seconds - length));
      this.to = this.from + length;
    }

    toggle(view, i) {
      const name = `${view.number}.${this.keyOf(view.number, i)}`;
      if (!this.flipped.delete(name)) this.flipped.add(name);
      view.dygraph?.setVisibility(i, this.isShown(view.number, i));
      this.showToggles();
      this.writeHash();
    }

    choosePercentile(name) {
      this.percentile = name;
      this.showLines();
      this.redraw();
    }

    // After another choice of lines than by their own buttons.
    showLines() {
      for (const view of this.panels) view.dygraph?.updateOptions({ visibility: view.panel.series.map((_, i) => this.isShown(view.number, i)) }, true);
      this.showToggles();
    }

    showToggles() {
      for (const view of this.panels) {
        view.buttons.forEach((button, i) => {
          const { percentile } = view.panel.series[i];
          button.hidden = !!percentile && percentile !== this.percentile;
          button.setAttribute("aria-pressed", this.isShown(view.number, i));
        });
        for (const button of view.choices) button.setAttribute("aria-pressed", button.value === this.percentile);
      }
    }

    redraw() {
      this.refresh();
      this.drawRange();
    }

    // What comes from histograms, behind what is drawn at once.
    drawRange() {
      this.drawTable();
      clearTimeout(this.heatLater);
      this.heatLater = setTimeout(() => this.drawHeat(), 60);
    }

    refresh() {
      if (this.drawnPhases !== this.plot.phases.length) this.buildBar();
      this.showKinds();
      this.draw();
      const digits = this.to - this.from < 60 ? 1 : 0;
      this.range.textContent = say("{0} to {1} of {2}", clock(this.from, digits), clock(this.to, digits), clock(this.seconds))
        + (this.plot.growth ? say(", {0} to {1} documents", grouped(this.documentsAt(this.from)), grouped(this.documentsAt(this.to))) : "");
      if (this.plots.length > 1 && this.phase !== null && this.over === "time") this.range.textContent += say(", runs aligned where {0} begins", this.plot.phases[this.phase].text);
      if (this.over !== this.axis) this.range.textContent += say(", drawn over time, as no documents were added");
      if (this.phases) this.phases.value = this.plot.phases.findIndex((phase, i) => phase.from === this.from && (phase.to === this.to || i === this.phase)) + "";
      if (this.phases?.selectedIndex === -1) this.phases.value = "";
      if (this.axes) this.axes.value = this.axis;
      if (this.cursor !== null) this.moveTo(this.cursor);
      this.drawStrip();
      this.writeHash();
    }

    titlesOf(name) {
      const [panel, series] = name.split(".");
      return [this.lines[panel].title, this.lines[panel].series[series].name];
    }
    flip([panel, series]) {
      const number = this.lines.findIndex(one => one.title === panel);
      const i = number < 0 ? -1 : this.lines[number].series.findIndex(one => one.name === series);
      if (i >= 0) this.flipped.add(`${number}.${i}`);
    }

    // In the strip: a name that does not fit whole is left to the pointer that rests on it.
    widthOf(text) {
      const pen = (this.pen ??= document.createElement("canvas").getContext("2d"));
      pen.font = `${0.72 * parseFloat(getComputedStyle(document.documentElement).fontSize)}px ${getComputedStyle(document.body).fontFamily}`;
      return pen.measureText(text).width + 8;
    }

    drawStrip() {
      const wide = this.strip.clientWidth;
      const blocks = [];
      this.plot.phases.forEach((phase, i) => {
        const left = Math.max(0, this.share(phase.from)), right = Math.min(1, this.share(phase.to));
        if ((right - left) * wide < 2) return;
        blocks.push(element("span", { class: i % 2 ? "odd" : "", title: phase.text, style: `left: ${left * 100}%; width: ${(right - left) * 100}%`,
          onclick: () => this.showPhase(i) }, this.widthOf(phase.text) < (right - left) * wide ? phase.text : ""));
      });
      this.strip.replaceChildren(...blocks);
    }

    drawTable() {
      const rows = [];
      let begin = Infinity, end = -Infinity;
      for (const { plot, range, name } of this.ranges) {
        const found = summarise(range, this.timeIn(plot, this.from), this.timeIn(plot, this.to, true));
        if (!found) continue;
        begin = Math.min(begin, found.begin);
        end = Math.max(end, found.end);
        rows.push(element("tr", {}, element("td", { class: "text" }, name), element("td", { class: "text" }, range.response ? say("response time") : say("service time")),
          element("td", { class: "figure", "data-value": found.total }, grouped(found.total)),
          ...found.figures.map(value => element("td", { class: "figure", "data-value": value, title: `${grouped(value, 1)} µs` }, stepped(value, 1000, TIMES)))));
      }
      this.table.replaceChildren(...rows);
      const length = Math.max(...this.plots.map(plot => plot.blockSeconds));
      this.extent.dataset.from = begin;
      this.extent.dataset.to = end;
      this.extent.textContent = rows.length === 0 ? say("Nothing was measured in this range.") : say("Computed from the histograms recorded between {0} and {1}, without warm-up, as in the rest of the report", clock(begin, 1), clock(end, 1))
        + (length > 1 ? say("; this page holds them in blocks of {0}, to which the range was rounded (run.db has every second).", clock(length)) : say("."));
    }

    // -- the heat map: how many operations took how long, when --

    buildHeat() {
      const most = this.ranges.reduce((best, one, i, all) => one.range.blocks.length > all[best].range.blocks.length ? i : best, 0);
      this.heat = element("canvas", { class: "ex-heat", role: "img" });
      this.heatOf = element("select", { "aria-label": say("Operation of the heat map"), onchange: () => this.drawHeat() }, ...this.ranges.map((one, i) => element("option", { value: i }, one.name)));
      this.heatOf.value = most;
      this.home.append(element("div", { class: "ex-head" }, element("h3", {}, say("Heat map of latency")), this.heatOf), this.heat,
        element("p", { class: "soft" }, say("The darker a cell, the more operations took that long at that time. Shades grow more slowly than counts, so that rare slow operations stay visible.")));
    }

    drawHeat() {
      if (!this.heat) return;
      const { plot, range, name } = this.ranges[this.heatOf.value];
      const left = parseFloat(this.strip.style.marginLeft) || 0, wide = this.strip.clientWidth, high = 170, scale = devicePixelRatio || 1;
      const width = left + wide + 8, pen = this.heat.getContext("2d");
      Object.assign(this.heat, { width: width * scale, height: (high + 20) * scale });
      Object.assign(this.heat.style, { width: `${width}px`, height: `${high + 20}px` });
      pen.scale(scale, scale);
      const cells = this.heatCells(plot, range, Math.max(1, Math.floor(wide / 3)));
      this.heat.setAttribute("aria-label", cells ? say("Heat map of {0}: durations from {1} to {2}", name, onAxis("µs", cells.low), onAxis("µs", cells.high)) : say("Heat map of {0}: nothing was measured in this range", name));
      if (!cells) return;
      const stepX = wide / cells.columns, stepY = high / (cells.top - cells.bottom + 1), dark = Math.log1p(cells.most);
      pen.fillStyle = colorOf("server");
      cells.counts.forEach((count, cell) => {
        pen.globalAlpha = 0.08 + 0.92 * Math.log1p(count) / dark;
        const row = cell % 1000, column = (cell - row) / 1000;
        pen.fillRect(left + column * stepX, high - (row - cells.bottom + 1) * stepY, stepX + 0.5, stepY + 0.5);
      });
      pen.globalAlpha = 1;
      pen.fillStyle = color("--ink");
      pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
      pen.textAlign = "right";
      for (const { v, label } of this.logTicks(cells.low, cells.high, "µs")) {
        const y = high - (Math.log10(v) * HEAT_ROWS + HEAT_BASE - cells.bottom) * stepY;
        if (y > 6 && y < high) pen.fillText(label, left - 5, y + 4);
      }
      pen.textAlign = "center";
      const [from, to] = this.window;
      const ticks = this.over === "time" ? this.ticks(from, to, wide) : Dygraph.numericTicks(from, to, wide, this.panels[0].dygraph.optionsViewForAxis_("x"), this.panels[0].dygraph).map(tick => ({ v: tick.v, label: onAxis("", tick.v) }));
      for (const { v, label } of ticks) if (v > from) pen.fillText(label, left + (v - from) / (to - from) * wide, high + 15);
    }

    // Counts by column and row of the map: rows are steps of the logarithm of the duration.
    heatCells(plot, range, columns) {
      const counts = new Map();
      const [from, to] = this.window;
      const column = time => Math.floor((this.place(time, plot) - from) / (to - from) * columns);
      let bottom = Infinity, top = -Infinity, most = 0;
      for (const block of range.blocks) {
        const first = Math.max(0, column(block.from)), last = Math.min(columns - 1, Math.max(first, column(block.to) - 1));
        if (column(block.to) < 0 || first > last) continue;
        countsOf(block, (index, count) => {
          const row = Math.floor(Math.log10(Math.max(100, lowest(index)) / 1000) * HEAT_ROWS + HEAT_BASE);
          bottom = Math.min(bottom, row);
          top = Math.max(top, row);
          for (let x = first; x <= last; x++) {
            const sum = (counts.get(x * 1000 + row) ?? 0) + count;
            counts.set(x * 1000 + row, sum);
            most = Math.max(most, sum);
          }
        });
      }
      const value = row => 10 ** ((row - HEAT_BASE) / HEAT_ROWS);
      return counts.size ? { counts, columns, bottom, top, most, low: value(bottom), high: value(top + 1) } : null;
    }

    // -- the link, and files --

    writeHash() {
      const parts = this.isWhole ? [] : [`from=${this.from.toFixed(1)}`, `to=${this.to.toFixed(1)}`];
      if (this.axis !== "time") parts.push(`axis=${this.axis}`);
      if (this.percentile !== "p99") parts.push(`percentile=${this.percentile}`);
      if (this.plots.length > 1 && this.phase !== null) parts.push(`phase=${this.phase}`);
      if (this.flipped.size) parts.push(`flip=${[...this.flipped].join(",")}`);
      const hash = parts.length ? "#explore&" + parts.join("&") : "";
      if (hash || location.hash.startsWith("#explore&")) history.replaceState(null, "", hash || "#");
    }

    readHash() {
      if (!location.hash.startsWith("#explore&")) return;
      const asked = new URLSearchParams(location.hash.slice(1));
      const [from, to] = [Number(asked.get("from") ?? 0), Number(asked.get("to") ?? this.seconds)];
      if (to > from && from >= 0) this.limit(from, to);
      const phase = asked.get("phase");
      this.phase = phase !== null && this.plot.phases[phase] ? Number(phase) : null;
      this.axis = asked.get("axis") === "documents" && this.hasGrowth ? "documents" : "time";
      this.percentile = PERCENTILES.includes(asked.get("percentile")) ? asked.get("percentile") : "p99";
      this.flipped = new Set((asked.get("flip") ?? "").split(",").filter(name => /^\d+\.\d+$/.test(name) && this.lines[name.split(".")[0]]?.series[name.split(".")[1]]));
    }

    get fileName() { return `${this.plot.title}-${clock(this.from)}-${clock(this.to)}`.replace(/[^\w.-]+/g, "_"); }

    saveCsv() {
      // A spreadsheet takes what begins with these for a formula.
      const field = text => `"${(/^[=+\-@\t\r]/.test(text) ? "'" : "") + text.replaceAll('"', '""')}"`;
      const lines = ["seconds,panel,line,unit,value,not_mongodb"];
      for (const { panel, number } of this.panels) {
        panel.series.forEach((series, i) => {
          if (!this.isShown(number, i)) return;
          const to = this.timeIn(series.plot, this.to, true);
          for (let row = indexOf(series.at, this.timeIn(series.plot, this.from)); row < series.at.length && series.at[row] <= to; row++)
            lines.push([series.at[row], field(panel.title), field(series.full), field(panel.unit), series.points[row], field(series.plot.notMongoDb ?? "")].join(","));
        });
      }
      save(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" }), `${this.fileName}.csv`);
    }

    // The times are seconds on this page's axis.
    async hlog() {
      const lines = [`#[MongoPerf, ${this.plots.map(marked).join(", ")}: the tag is the operation; nanoseconds]`, "#[Histogram log format version 1.3]",
        "#[StartTime: 0.000 (seconds since epoch)]", "#[BaseTime: 0.000 (seconds since epoch)]", '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'];
      for (const { plot, range, name } of this.ranges) {
        const from = this.timeIn(plot, this.from), to = this.timeIn(plot, this.to, true);
        for (const block of range.blocks.filter(block => isWithin(block, from, to))) {
          const { base64, max } = await encode(block);
          lines.push(`Tag=${name.replace(/[,\s]+/g, "_")},${block.from.toFixed(3)},${(block.to - block.from).toFixed(3)},${(max / 1e6).toFixed(3)},${base64}`);
        }
      }
      return lines.join("\n") + "\n";
    }
    async saveHlog() { save(new Blob([await this.hlog()], { type: "text/plain" }), `${this.fileName}.hlog`); }

    savePng(view) {
      const box = view.graph.getBoundingClientRect(), scale = 2, head = 48;
      const canvas = element("canvas", { width: box.width * scale, height: (box.height + head) * scale });
      const pen = canvas.getContext("2d");
      const font = getComputedStyle(document.body).fontFamily;
      pen.scale(scale, scale);
      pen.fillStyle = color("--back");
      pen.fillRect(0, 0, box.width, box.height + head);
      pen.fillStyle = color("--ink");
      pen.font = `bold 14px ${font}`;
      pen.fillText(`${view.panel.title}, ${view.panel.unit}: ${this.plots.every(plot => !plot.notMongoDb) ? this.plot.title : this.plots.map(marked).join(", ")}`, 8, 18);
      pen.font = `12px ${font}`;
      let x = 8;
      view.panel.series.forEach((series, i) => {
        if (!this.isShown(view.number, i)) return;
        pen.fillStyle = colorOf(series.color);
        pen.fillRect(x, 32, 16, 3);
        pen.fillStyle = color("--ink");
        pen.fillText(series.full, x + 20, 38);
        x += pen.measureText(series.full).width + 36;
      });
      for (const part of view.graph.querySelectorAll("canvas")) pen.drawImage(part, 0, head, box.width, box.height);
      pen.textBaseline = "middle";
      for (const label of view.graph.querySelectorAll(".dygraph-axis-label")) {
        const at = label.getBoundingClientRect();
        pen.textAlign = label.classList.contains("dygraph-axis-label-x") ? "center" : "right";
        pen.fillText(label.textContent, pen.textAlign === "right" ? at.right - box.left : at.left - box.left + at.width / 2, at.top - box.top + at.height / 2 + head);
      }
      canvas.toBlob(blob => save(blob, `${this.fileName}-${view.panel.title.replace(/[^\p{L}\p{N}]+/gu, "_")}.png`));
    }
  }

  // ---- a run that is under way ----

  // Seconds without a point after which a line ends.
  const LONGEST_GAP = 3.5;

  // Adds what came since; what is older than the tail begins stays.
  function append(plot, tail) {
    for (const added of tail.panels) {
      const panel = plot.panels.find(panel => panel.title === added.title);
      if (!panel) continue;
      if (added.again) cut(panel, indexOf(panel.at, tail.since));
      const lines = added.series.map(series => panel.series.find(mine => mine.title === series.title));
      const ends = panel.series.map(series => added.again ? Infinity : series.at[series.at.length - 1] ?? Infinity);
      added.at.forEach((at, row) => {
        added.series.forEach((series, i) => {
          const value = series.values[row], line = lines[i];
          if (!line || value === null) return;
          const place = panel.series.indexOf(line);
          if (at - ends[place] > LONGEST_GAP) put(panel, line, ends[place] + 0.1, NaN);
          ends[place] = at;
          put(panel, line, at, value);
        });
      });
      findPoints(panel);
    }
    if (plot.growth && tail.growth) {
      tail.growth.at.forEach((at, row) => {
        if (at <= (plot.growth.at[plot.growth.at.length - 1] ?? -1)) return;
        plot.growth.at.push(at);
        plot.growth.count.push(Math.max(plot.growth.count[plot.growth.count.length - 1] ?? 0, tail.growth.count[row]));
      });
    }
    for (const added of tail.ranges) {
      const range = plot.ranges.find(range => range.title === added.title);
      if (range) range.blocks.push(...added.blocks);
    }
    plot.marks = [...plot.marks.filter(mark => mark.at < tail.since), ...tail.marks];
    extend(plot.bands, tail.bands);
    extend(plot.phases, tail.phases);
    plot.seconds = Math.max(plot.seconds, tail.seconds);
  }

  function cut(panel, rows) {
    panel.at.length = rows;
    for (const series of panel.series) series.values.length = rows;
  }

  function put(panel, line, at, value) {
    const row = indexOf(panel.at, at);
    if (panel.at[row] !== at) {
      panel.at.splice(row, 0, at);
      for (const series of panel.series) series.values.splice(row, 0, null);
    }
    line.values[row] = value;
  }

  function extend(bands, added) {
    for (const band of added) {
      const mine = bands.findLast(mine => mine.kind === band.kind && mine.text === band.text && mine.to >= band.from - 5);
      if (mine) mine.to = Math.max(mine.to, band.to); else bands.push(band);
    }
  }

  const structure = plot => JSON.stringify([plot.panels.map(panel => [panel.title, panel.series.map(series => series.title)]), plot.ranges.map(range => range.title), !!plot.growth]);

  // Keeps what the reader looks at: the whole run, its last minutes, or a range that stays.
  function follow(explorer, change) {
    const { isWhole, from, to } = explorer, before = explorer.seconds;
    const isAtEnd = !isWhole && to >= before - 0.15;
    change();
    if (isWhole) explorer.limit(0, explorer.seconds);
    else if (isAtEnd) explorer.limit(from + explorer.seconds - before, explorer.seconds);
  }

  // Another plot in place of what is shown. Where its lines are the same, nothing is built anew.
  function replace(explorer, plot) {
    if (explorer && structure(explorer.plot) === structure(plot)) {
      follow(explorer, () => {
        explorer.plots = [plot];
        explorer.lines = setApart(combine([plot]));
      });
      for (const view of explorer.panels) view.panel = explorer.lines[view.number];
      return explorer;
    }
    const made = new Explorer([plot]);
    if (explorer) {
      for (const name of explorer.flipped) made.flip(explorer.titlesOf(name));
      [made.from, made.to, made.axis, made.cursor, made.percentile] = [explorer.from, explorer.to, plot.growth ? explorer.axis : "time", explorer.cursor, explorer.percentile];
      const isWhole = explorer.isWhole;
      made.limit(isWhole ? 0 : made.from, isWhole ? plot.seconds : made.to);
      section.style.minHeight = `${section.offsetHeight}px`;
      explorer.destroy();
    } else made.readHash();
    made.build();
    made.showToggles();
    section.style.minHeight = "";
    return made;
  }

  function live() {
    const status = document.getElementById("live-status"), on = document.getElementById("live-on");
    const events = new EventSource(section.dataset.live);
    const pageTitle = document.title;
    let explorer = null, run = null, state = "", ready = Promise.resolve(), isStale = false, tableAt = 0, tableLater = 0;
    const draw = () => {
      if (!explorer || document.hidden) return void (isStale = true);
      isStale = false;
      explorer.refresh();
      section.dataset.seconds = explorer.plot.seconds;
      // Histograms of hours take their time: twenty times as long nothing is computed. What comes meanwhile is computed then.
      clearTimeout(tableLater);
      tableLater = setTimeout(() => {
        const begun = performance.now();
        explorer.drawRange();
        tableAt = performance.now() + 20 * (performance.now() - begun);
      }, tableAt - performance.now());
    };
    const handle = (name, act) => events.addEventListener(name, event => { ready = ready.then(() => act(event.data)).catch(error => { status.textContent = say("This page failed: {0}. Reload it.", error.message); }); });
    handle("plot", async text => {
      explorer = replace(explorer, await read(text));
      draw();
      section.dataset.ready = "true";
    });
    handle("tail", async text => {
      if (!explorer) return;
      const tail = await read(text);
      follow(explorer, () => append(explorer.plot, tail));
      draw();
    });
    handle("status", text => {
      const now = JSON.parse(text);
      // The next run of a sequence has the same address.
      if (run !== null && now.run && now.run !== run) return void location.replace(location.pathname);
      run = now.run ?? run;
      state = now.state;
      status.textContent = now.text ? `${now.state}: ${now.text}` : now.state;
      status.dataset.state = now.state;
      if (now.on) on.textContent = `${now.plan} · ${now.on}`;
      document.title = pageTitle + (now.notMongoDb ? ` (${now.notMongoDb})` : "");
    });
    events.onerror = () => { if (state === "" || state === "running") status.textContent = say("Not connected: the run has ended, or this page's server has. Trying again…"); };
    document.addEventListener("visibilitychange", () => { if (isStale) draw(); });
  }

  // An old browser has the static charts.
  if (typeof Dygraph === "undefined" || typeof DecompressionStream === "undefined") {
    section.append(element("p", { class: "soft" }, say("This browser is too old for the interactive charts; the charts and tables below show the same run.")));
    return;
  }
  async function read(text) {
    const plot = JSON.parse(text);
    await readColumns(plot);
    return plot;
  }
  if (section.dataset.live) return live();
  const sources = document.querySelectorAll('script[type="application/json"][id^="explore-data"]');
  Promise.all([...sources].map(one => read(one.textContent))).then(plots => {
    const explorer = new Explorer(plots);
    explorer.readHash();
    explorer.build();
    explorer.showToggles();
    explorer.redraw();
    if (location.hash.startsWith("#explore&")) section.scrollIntoView();
    section.dataset.ready = "true";
  });
})();
