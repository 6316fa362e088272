namespace MongoPerf.Reports.Html;

/// <summary>How the report looks on a screen, a phone and paper.</summary>
internal static class HtmlStyle
{
    public const string Css = """
        :root { color-scheme: light dark; --ink: #202020; --soft: #5a5a5a; --line: #d5d5d5; --back: #ffffff; --band: #f4f5f7; --warn: #8a3b00; --warnback: #fff2e2; --focus: #0072B2; }
        @media (prefers-color-scheme: dark) {
          :root { --ink: #e6e6e6; --soft: #a8a8a8; --line: #444444; --back: #181a1d; --band: #23262b; --warn: #ffc48a; --warnback: #3a2a18; --focus: #3FA3E0; }
        }
        * { box-sizing: border-box; }
        body { margin: 0 auto; max-width: 1100px; padding: 1rem 1.2rem 4rem; color: var(--ink); background: var(--back);
          font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
        h1 { font-size: 1.7rem; line-height: 1.25; margin: 0.6rem 0 0.2rem; }
        h2 { font-size: 1.25rem; margin: 2.4rem 0 0.6rem; padding-bottom: 0.2rem; border-bottom: 1px solid var(--line); }
        h3 { font-size: 1.05rem; margin: 1.4rem 0 0.4rem; }
        p { margin: 0.4rem 0; max-width: 48rem; }
        .soft { color: var(--soft); }
        .warn { color: var(--warn); background: var(--warnback); padding: 0.5rem 0.8rem; border-radius: 4px; max-width: none; }
        ul.verdict { list-style: none; margin: 1rem 0; padding: 0.6rem 1rem; background: var(--band); border-radius: 4px; }
        ul.verdict li { margin: 0.25rem 0; }
        .mark { display: inline-block; min-width: 3rem; font-weight: 700; }
        .mark.BAD, .mark.note { color: var(--warn); }
        dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: 0.2rem 1.2rem; margin: 0.5rem 0; }
        dt { color: var(--soft); }
        dd { margin: 0; overflow-wrap: anywhere; }
        .whole { white-space: nowrap; }
        figure { margin: 1.6rem 0 2rem; }
        figure .wide { background: #ffffff; border: 1px solid var(--line); border-radius: 4px; padding: 4px; }
        figure img { display: block; width: 100%; height: auto; }
        @media screen and (prefers-color-scheme: dark) {
          /* Lightness is turned round and hues stay, so that the charts' colors keep their meaning; links to the files show them as they are. */
          figure .wide { background: #181a1d; }
          figure img { filter: invert(0.93) hue-rotate(180deg) brightness(1.35); }
        }
        figcaption { margin-top: 0.5rem; max-width: 48rem; }
        .wide { overflow-x: auto; }
        table { border-collapse: collapse; font-size: 0.88rem; font-variant-numeric: tabular-nums; }
        th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
        thead th { background: var(--band); font-weight: 600; }
        .figure { text-align: right; vertical-align: top; }
        .text { text-align: left; white-space: normal; min-width: 4rem; vertical-align: top; }
        .text:last-child { min-width: 9rem; }
        code, pre { font: 0.9em/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, monospace; }
        pre { background: var(--band); padding: 0.7rem 0.9rem; border-radius: 4px; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
        a { color: inherit; }
        .conclusion { font-size: 1.15rem; font-weight: 600; max-width: none; }
        ul.cautions { margin: 0.8rem 0; padding: 0.5rem 0.8rem 0.5rem 2rem; color: var(--warn); background: var(--warnback); border-radius: 4px; }
        nav.contents { margin: 1rem 0; font-size: 0.9rem; }
        nav.contents ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; }
        .wide:focus-visible, a:focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; }
        @media (max-width: 700px) {
          body { padding: 0.6rem 0.7rem 3rem; }
          dl { grid-template-columns: 1fr; gap: 0; }
          dd { margin-bottom: 0.5rem; }
          figure img { width: 860px; max-width: none; }
          table { width: max-content; }
          .text { max-width: 14rem; }
        }
        @media print {
          :root { --ink: #000000; --soft: #444444; --line: #bbbbbb; --back: #ffffff; --band: #f2f2f2; --warn: #000000; --warnback: #f2f2f2; }
          body { max-width: none; padding: 0; font-size: 11pt; }
          figure, tr { break-inside: avoid; }
          h2, h3 { break-after: avoid; }
          table { font-size: 7.5pt; }
          th, td { padding: 0.15rem 0.35rem; }
          .wide { overflow: visible; }
          nav.contents { display: none; }
          figure img { width: 100%; max-height: 24cm; object-fit: contain; }
        }

        """;
}
