import { type Html, markup, trusted } from '../internal/html.ts';

/**
 * The style of reports, for print and for screens that are at least 360 px wide. Information is never shown by colour
 * alone.
 */
const REPORT_STYLE = `
:root { color-scheme: light; --ink: #1f2933; --quiet: #52606d; --line: #cbd2d9; --soft: #f5f7fa; --accent: #00527f; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: #fff; color: var(--ink);
  font: 1rem/1.55 Inter, system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
header, main, footer { max-width: 60rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 2.5rem; }
footer { margin-top: 3rem; padding-top: 1.5rem; padding-bottom: 3rem; color: var(--quiet); font-size: .875rem; }
footer::before { content: ""; display: block; border-top: 1px solid var(--line); margin-bottom: 1.5rem; }
h1, h2, h3 { line-height: 1.25; margin: 0; overflow-wrap: anywhere; text-wrap: balance; }
h1 { font-size: 2rem; letter-spacing: -.015em; }
h2 { font-size: 1.5rem; margin-top: 3rem; padding-bottom: .4rem; border-bottom: 2px solid var(--ink); }
h3 { font-size: 1.2rem; margin-top: 2rem; }
summary { cursor: pointer; display: flex; align-items: baseline; gap: .6rem; margin-top: 3rem; padding-bottom: .4rem;
  border-bottom: 2px solid var(--ink); }
summary::before { content: "\\25b8"; }
details[open] > summary::before { content: "\\25be"; }
summary::-webkit-details-marker { display: none; }
summary h2 { margin: 0; padding: 0; border: 0; }
p, ul { margin: .75rem 0; max-width: 44rem; overflow-wrap: anywhere; }
ul { padding-left: 1.25rem; }
main > section > ul > li + li { margin-top: .5rem; }
a { color: var(--accent); }
.source { color: var(--quiet); margin-top: .35rem; }
.verdict { margin: 1.5rem 0; padding: 1rem 1.25rem; border: 1px solid var(--line); border-left: 8px solid var(--quiet);
  border-radius: 4px; background: var(--soft); }
.verdict.pass { border-left-color: #00795b; }
.verdict.fail { border-left-color: #b3261e; border-left-style: double; }
.verdict h2 { margin: 0; padding: 0; border: 0; font-size: 1.35rem; }
.verdict ul { list-style: none; padding: 0; margin: .5rem 0 0; }
.verdict li + li { margin-top: .35rem; }
.verdict li strong { font-weight: 600; }
.facts { display: grid; grid-template-columns: repeat(3, 1fr); margin: 1rem 0 1.5rem; border: 1px solid var(--line);
  border-width: 1px 0 0 1px; }
.facts > div { padding: .65rem .9rem; border: 1px solid var(--line); border-width: 0 1px 1px 0; min-width: 0; }
.facts dt { font-size: .8125rem; color: var(--quiet); }
.facts dd { margin: 0; font-size: 1.125rem; font-weight: 600; font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere; }
.facts small { display: block; font-size: .8125rem; font-weight: 400; color: var(--quiet); line-height: 1.35; }
.picture { margin: 1rem 0; overflow-x: auto; border: 1px solid var(--line); border-radius: 4px; }
.picture svg { display: block; width: 100%; min-width: 27rem; height: auto; }
.scroll { margin: 1.25rem 0; overflow-x: auto; background: linear-gradient(to right, #fff 2rem, transparent) left / 4rem 100% no-repeat local,
  linear-gradient(to left, #fff 2rem, transparent) right / 4rem 100% no-repeat local,
  linear-gradient(to right, #cbd2d9, transparent) left / .75rem 100% no-repeat scroll,
  linear-gradient(to left, #cbd2d9, transparent) right / .75rem 100% no-repeat scroll; }
.scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; line-height: 1.4; }
caption { text-align: left; font-weight: 600; padding: .25rem 0 .5rem; }
caption span { display: block; max-width: calc(100vw - 2rem); overflow-wrap: anywhere; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem; border-bottom: 1px solid var(--line); }
td:not(.number) { min-width: 12rem; }
th:first-child, td:first-child { padding-left: .25rem; min-width: 8rem; }
thead th { vertical-align: bottom; border-bottom: 2px solid var(--quiet); font-weight: 600; }
.close { font-size: .875rem; }
.close th, .close td { padding-left: .45rem; padding-right: .45rem; }
.close td:not(.number) { min-width: 8rem; }
tbody th { font-weight: 500; max-width: 24rem; overflow-wrap: anywhere; }
tbody th bdi { display: block; }
.number { text-align: right; white-space: nowrap; overflow-wrap: normal; font-variant-numeric: tabular-nums; }
thead .number { white-space: normal; }
.note { margin: 1rem 0; padding: .6rem 1rem; border-left: 4px solid #8a6100; background: #fdf8ec; max-width: 47.5rem; }
.note p, .note ul { margin: .25rem 0; }
.pair { margin: 1.25rem 0; border: 1px solid var(--line); border-radius: 4px; padding: .75rem 1rem; }
.pair-title { margin: 0 0 .5rem; max-width: none; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem 1.5rem; }
.sides > div { min-width: 0; }
.sides p { margin: .25rem 0; max-width: none; }
.asked, .said { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .9375rem; }
.said { margin: .25rem 0 0; padding: .5rem .75rem; background: var(--soft); border-left: 3px solid var(--line); }
.sides .side { color: var(--quiet); font-size: .8125rem; margin-top: .5rem; }
mark { background: #fff1c2; color: inherit; font-weight: 600; text-decoration: underline; }
.made { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: .75rem 0; }
.made dt { color: var(--quiet); }
.made dd { margin: 0; overflow-wrap: anywhere; }
.command { margin: .5rem 0; padding: .6rem .75rem; border: 1px solid var(--line); white-space: pre-wrap; overflow-wrap: anywhere; font-size: .875rem; }
@media screen and (min-width: 84rem) {
  .scroll:has(> .close) { margin-left: -5.5rem; margin-right: -5.5rem; }
}
@media (max-width: 40rem) {
  header, main, footer { padding-left: 1rem; padding-right: 1rem; }
  header { padding-top: 1.5rem; }
  h1 { font-size: 1.6rem; }
  .facts { grid-template-columns: 1fr 1fr; }
  .facts dd { font-size: 1rem; }
  .sides { grid-template-columns: 1fr; }
  .made { grid-template-columns: 1fr; gap: 0; }
  .made dd { margin-bottom: .5rem; }
  table { font-size: .875rem; }
  th, td { padding-left: .4rem; padding-right: .4rem; }
  td:not(.number), .close td:not(.number) { min-width: 6.5rem; }
  td:not(.number):last-child:nth-child(n + 4) { min-width: 14rem; }
  th:first-child, td:first-child { min-width: 5.5rem; }
}
@page { margin: 16mm 14mm; }
@media print {
  body { font-size: 10pt; }
  header, main, footer { max-width: none; padding: 0; }
  h2 { margin-top: 2rem; }
  h2, h3, caption { break-after: avoid; }
  a { color: inherit; text-decoration: none; }
  table, .close { font-size: 9pt; }
  th, td { padding-top: .2rem; padding-bottom: .2rem; }
  td:not(.number) { min-width: 0; }
  caption span { max-width: none; }
  thead { display: table-header-group; }
  tr, .facts, .verdict, .note, .pair { break-inside: avoid; }
  .picture { border: 0; break-inside: avoid; }
  .picture svg { min-width: 0; max-width: 17cm; max-height: 24cm; }
  .scroll, .picture { overflow: visible; max-height: none; background: none; }
  p, ul { orphans: 3; widows: 3; }
}
`;

/** The content security policy of the page. The policy prevents the page from loading or sending anything. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/** The parts of a page. */
export interface ReportPage {
  /** The title of the browser tab. */
  readonly title: string;
  readonly header: Html;
  readonly main: Html;
  readonly footer: Html;
  /** A link at the start of the page that skips repeated content. */
  readonly skipLink?: Html | undefined;
  /** Additional CSS rules, added after the rules that all reports share. */
  readonly style?: string | undefined;
  /**
   * Scripts at the end of the page. The content security policy contains their hashes and allows no others.
   * @defaultValue none: no script may run
   */
  readonly scripts?: readonly PageScript[] | undefined;
  /**
   * Data for programs.
   * @defaultValue none
   */
  readonly data?: PageData | undefined;
}

/** Data that a page holds for programs; it is not shown and does not run. */
export interface PageData {
  readonly id: string;
  readonly value: object;
}

/** A script of a page. `pageScript` computes the hash. */
export interface PageScript {
  /** JavaScript code. It must not contain `</script`, which would end the script element. */
  readonly code: string;
  /** The hash of the code, for a content security policy: `sha256-` and base64. */
  readonly hash: string;
}

/** Renders a self-contained page that loads no external resource. */
export function reportPage(page: ReportPage): string {
  const { title, header, main, footer, skipLink, style = '', scripts = [], data } = page;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf(scripts)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${trusted(REPORT_STYLE + style)}</style>
</head>
<body>
${skipLink}<header>
${header}
</header>
<main>
${main}
</main>
<footer>
${footer}
</footer>
${data !== undefined && dataElement(data)}${scripts.map(({ code }) => markup`<script>${trusted(code)}</script>\n`)}</body>
</html>
`.text;
}

/** A `<` is escaped, because `</script` would end the element. */
function dataElement({ id, value }: PageData): Html {
  const json = JSON.stringify(value).replaceAll('<', String.raw`\u003c`);
  return markup`<script type="application/json" id="${id}">${trusted(json)}</script>\n`;
}

function policyOf(scripts: readonly PageScript[]): string {
  return scripts.length === 0 ? POLICY : `${POLICY}; script-src ${scripts.map(({ hash }) => `'${hash}'`).join(' ')}`;
}
