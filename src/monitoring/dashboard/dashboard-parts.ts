import { tableToHtml } from '../../document/document-to-html.ts';
import { plainText } from '../../document/report-text.ts';
import { type Html, markup } from '../../internal/html.ts';
import type { AlertHistory, MonitorState } from '../alarms/alert-event.ts';
import { attributeText } from '../attribute-text.ts';
import { alertFacts, statusText, reportOrder } from './alert-words.ts';
import { rangeText, sentenceText, valueText, watchedText } from './dashboard-words.ts';
import { coverageTables, problemTable, gapOf } from './metric-tables.ts';
import type { MonitoringView, WatchedMetric } from './monitoring-view.ts';
import { counted, formatSignificant } from '../../internal/format.ts';
import { headlineOf, sentenceAfterState, STATE_WORDS } from './state-words.ts';

/** Renders the headline in a box. */
export function headlineToHtml(view: MonitoringView): Html {
  const { state, title, sentences } = headlineOf(view);
  return markup`<section class="verdict ${state}" id="state" aria-labelledby="headline">
<h2 id="headline">${state !== null && markup`<span aria-hidden="true">${STATE_WORDS[state].sign}</span> `}${title}</h2>
<ul>${sentences.map((text) => markup`<li>${text}</li>\n`)}</ul>
</section>
${
  view.notes.length > 0 &&
  markup`<div class="note"><p><strong>Please note</strong></p>
<ul>${view.notes.map((text) => markup`<li>${plainText(text)}</li>\n`)}</ul></div>`
}`;
}

/** Renders a state with its symbol, word and colour. */
export function stateToHtml(state: MonitorState): Html {
  const { sign, word } = STATE_WORDS[state];
  return markup`<span class="state ${state}"><span class="sign" aria-hidden="true">${sign}</span>${word}</span>`;
}

/** Renders the summary of one watched metric. */
export function cardToHtml(watched: WatchedMetric, target: string | undefined): Html {
  const { state, limit } = watched;
  const [now, overall] = [gapOf(watched, watched.now), gapOf(watched, watched.overall)];
  const name = watchedText(watched);
  const numbers: readonly (readonly [string, string])[] = [
    ['Gap in the window', valueText(now?.value ?? null, 'number')],
    ['Gap over all events', valueText(overall?.value ?? null, 'number')],
    ['Bounds at all times', rangeText(overall?.low ?? null, overall?.high ?? null, 'number')],
    ['Limit', formatSignificant(limit, 3)],
  ];
  return markup`<li class="card ${state}">${stateToHtml(state)}
<h3>${target === undefined ? markup`<bdi>${name}</bdi>` : markup`<a href="#${target}"><bdi>${name}</bdi></a>`}</h3>
<p>${plainText(sentenceAfterState(watched))}</p>
<dl class="numbers">${numbers.map(([term, value]) => markup`<dt>${term}</dt><dd>${value}</dd>\n`)}</dl>
</li>
`;
}

/** Renders the list of alerts. */
export function alertsToHtml(view: MonitoringView): Html {
  const { shown, total } = reportOrder(view);
  if (total === 0) return markup`<p>No alert was raised.</p>`;
  const rest = total - shown.length;
  return markup`<ol class="alerts">${shown.map(alertToHtml)}</ol>
${rest > 0 && markup`<p>\u2026 and ${counted(rest, 'older alert')}.</p>`}`;
}

function alertToHtml(history: AlertHistory): Html {
  const { alert, isOpen } = history;
  const kind = alert.tier === 'watch' ? 'Watch' : 'Alarm';
  return markup`<li class="alert${isOpen && ' open'}${alert.tier === 'watch' && ' watch'}">
<h3><bdi>${kind}: ${watchedText(alert)}</bdi></h3>
<p class="status"><strong>${statusText(history)}</strong>, severity <strong>${alert.severity}</strong></p>
<p>${plainText(sentenceText(alert.reason, alert.attribute))}</p>
<dl>${alertFacts(history).map(([term, value]) => markup`<dt>${term}</dt><dd><bdi>${value}</bdi></dd>\n`)}</dl>
</li>
`;
}

/** Renders the label coverage. Returns undefined if no labels are expected. */
export function coverageToHtml(view: MonitoringView): Html | undefined {
  const tables = coverageTables(view);
  if (tables.length === 0) return undefined;
  return markup`<section aria-labelledby="labels">
<h2 id="labels">True labels</h2>
${tables.map(tableToHtml)}
</section>`;
}

/** Renders the number of problems for each reason. */
export function problemsToHtml(view: MonitoringView): Html {
  const table = problemTable(view);
  return table === undefined ? markup`<p>Every event was counted.</p>` : tableToHtml(table);
}

/** Returns the attributes in the order in which they are watched. */
export function attributesOf({ watched }: MonitoringView): string[] {
  return [...new Set(watched.map(({ attribute }) => attribute))];
}

/** Returns an attribute's heading: "By region". */
export function attributeTitle(attribute: string): string {
  return `By ${attributeText(attribute)}`;
}
