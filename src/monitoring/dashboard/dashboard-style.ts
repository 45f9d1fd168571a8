import { DARK, LIGHT, type Palette } from '../../charts/palette.ts';

/**
 * Background colours of a heat map's cells, from low to high values. The text colour of the page is readable on all
 * these colours.
 */
export const HEAT_LIGHT = ['#f3f8fc', '#dcebf6', '#c2dcef', '#a5cbe7', '#87b9de', '#69a7d4'] as const;
export const HEAT_DARK = ['#17232e', '#1a3044', '#1d3e5b', '#204c72', '#245b89', '#28699f'] as const;

/** Text colours of the four states, chosen for the page's background. */
export const STATES_LIGHT = { breach: '#b3261e', watch: '#8a5a00', unknown: '#52606d', within: '#00704f' } as const;
export const STATES_DARK = { breach: '#ff9d94', watch: '#f0c05a', unknown: '#aab6c2', within: '#5fd6ac' } as const;

function variables(palette: Palette, heat: readonly string[], states: Readonly<Record<string, string>>): string {
  return [
    `--alarm: ${palette.alarm}; --main: ${palette.main}; --calm: ${palette.calm};`,
    ...palette.series.map((colour, index) => `--series-${String(index)}: ${colour};`),
    ...heat.map((colour, index) => `--heat-${String(index)}: ${colour};`),
    ...Object.entries(states).map(([state, colour]) => `--${state}: ${colour};`),
  ].join(' ');
}

/**
 * The style of a dashboard, which extends the style of reports. Dark backgrounds are used only on screens. No element
 * is animated.
 */
export const DASHBOARD_STYLE = `
:root { color-scheme: light dark; ${variables(LIGHT, HEAT_LIGHT, STATES_LIGHT)} }
.skip { position: absolute; left: .5rem; top: -6rem; padding: .5rem 1rem; background: var(--ink); color: #fff; z-index: 9; }
.skip:focus { top: .5rem; }
a:focus-visible, summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
header, main, footer { max-width: 72rem; }
.verdict.breach { border-left-color: var(--breach); border-left-style: double; }
.verdict.watch { border-left-color: var(--watch); border-left-style: dashed; }
.verdict.unknown { border-left-color: var(--unknown); border-left-style: dotted; }
.verdict.within { border-left-color: var(--within); }
.verdict h2 { font-size: 1.6rem; }
nav h2 { font-size: 1rem; margin: 1.5rem 0 .25rem; padding: 0; border: 0; }
nav ul { list-style: none; padding: 0; margin: 0; max-width: none; columns: 18rem; column-gap: 2rem; }
nav li { break-inside: avoid; padding: .1rem 0; }
nav li li { padding-left: 1rem; }
nav ul ul { columns: auto; }
nav a { display: inline-block; padding: .15rem 0; }
.cards { list-style: none; padding: 0; margin: 1.25rem 0; max-width: none; display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); }
main > section > ul.cards > li + li, main > section > ul.legend > li + li { margin-top: 0; }
.card { border: 1px solid var(--line); border-top-width: 5px; border-radius: 4px; padding: .75rem 1rem; min-width: 0; }
.card h3 { font-size: 1.05rem; margin: .35rem 0; }
.card p { margin: .5rem 0; font-size: .9375rem; }
.state { font-weight: 700; font-size: .9375rem; }
.state .sign { display: inline-block; min-width: 1.5em; margin-right: .25rem; text-align: center; border: 2px solid; border-radius: 1em;
  line-height: 1.35em; }
.card.breach { border-top-color: var(--breach); border-top-style: double; }
.card.watch { border-top-color: var(--watch); border-top-style: dashed; }
.card.unknown { border-top-color: var(--unknown); border-top-style: dotted; }
.card.within { border-top-color: var(--within); }
.state.breach { color: var(--breach); }
.state.watch { color: var(--watch); }
.state.unknown { color: var(--unknown); }
.state.within { color: var(--within); }
.numbers { display: grid; grid-template-columns: 1fr max-content; gap: .1rem .75rem; margin: .5rem 0; font-size: .875rem; }
.numbers dt { color: var(--quiet); }
.numbers dd { margin: 0; text-align: right; font-weight: 600; font-variant-numeric: tabular-nums; }
figure { margin: 1.25rem 0; }
figcaption { font-weight: 600; overflow-wrap: anywhere; }
.chart { width: 100%; }
.remark { font-size: .875rem; color: var(--quiet); margin: .25rem 0; max-width: none; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1.25rem; padding: 0; margin: .35rem 0; max-width: none;
  font-size: .875rem; }
.legend li { display: flex; align-items: center; gap: .4rem; min-width: 0; }
.legend svg { flex: none; }
details { margin: .35rem 0; }
summary { cursor: pointer; padding: .25rem 0; color: var(--accent); font-size: .9375rem; width: fit-content; max-width: 100%; }
.alerts { list-style: none; padding: 0; margin: 1rem 0; }
.alert { border: 1px solid var(--line); border-left: 5px solid var(--quiet); border-radius: 4px; padding: .75rem 1rem; margin: .75rem 0; }
.alert.open { border-left-color: var(--breach); }
.alert.open.watch { border-left-color: var(--watch); border-left-style: dashed; }
.alert h3 { font-size: 1.05rem; margin: 0; }
.alert .status { margin: .2rem 0 .5rem; color: var(--quiet); font-size: .875rem; }
.alert .status strong { color: var(--ink); }
.alert p { max-width: none; }
.alert dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.25rem; margin: .5rem 0 0; font-size: .875rem; }
.alert dt { color: var(--quiet); }
.alert dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.heat table { width: auto; }
.heat td { min-width: 6.5rem; text-align: right; font-variant-numeric: tabular-nums; border: 2px solid var(--ground); color: var(--ink);
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.heat td small { display: block; font-size: .75rem; }
.heat td.none { color: var(--quiet); background: var(--soft); font-style: italic; }
.heat thead th { text-align: right; }
.heat thead th:first-child { text-align: left; }
${HEAT_LIGHT.map((_, step) => `.heat-${String(step)} { background: var(--heat-${String(step)}); }`).join('\n')}
.swatch { width: 1.5rem; height: 1rem; border: 1px solid var(--line); print-color-adjust: exact; -webkit-print-color-adjust: exact; }
:root { --ground: #fff; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ground: ${DARK.surface}; --ink: ${DARK.ink}; --quiet: ${DARK.quiet}; --line: #3b4652; --soft: #1d242c; --accent: #7cc6f5;
    ${variables(DARK, HEAT_DARK, STATES_DARK)} }
  body { background: ${DARK.surface}; }
  .skip { color: ${DARK.surface}; }
  .note { background: #2a2415; border-left-color: #d9a93b; }
}
@media (max-width: 40rem) {
  .alert dl { grid-template-columns: 1fr; gap: 0; }
  .alert dd { margin-bottom: .35rem; }
}
@media print {
  nav, .skip, details:not([open]) { display: none; }
  .card, .alert, figure, .heat { break-inside: avoid; }
  h3 + p { break-after: avoid; break-inside: avoid; }
  .chart { overflow: hidden; }
  .cards { grid-template-columns: 1fr 1fr; }
}
`;
