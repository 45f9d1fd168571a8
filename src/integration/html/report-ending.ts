import { type Html, markup } from '../../internal/html.ts';
import { VERSION } from '../../internal/version.ts';
import { formatPercent } from '../../metrics/metric-markdown.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';

/** Options by name, as they were given. */
export type ReportSettings = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly (string | number)[]>
>;

/** What a reader who is no statistician needs to know. */
export const HOW_TO_READ = markup`<section aria-labelledby="reading">
<h2 id="reading">How to read this</h2>
<ul>
<li>A difference of 0, or a ratio of 1, means equal rates over the groups compared. It says nothing of groups that were excluded, or of why rates differ: a gap is a reason to look, not by itself proof of unfair treatment, and no gap is not proof of fair treatment.</li>
<li>An interval holds the values that the data are compatible with at its level. Where it is wide, the data cannot tell a small gap from a large one. The interval of a metric is made for the gap itself; the lines in the pictures are intervals of each group by itself (Wilson for rates, normal for means), and two that overlap can still belong to groups that differ.</li>
<li>Small groups have wide intervals, and their rates are more often extreme by chance alone. Of many groups some lie far apart even where all are treated alike: a gap of the extremes grows with their number. The minimum detectable gap says which gap data of this size would have shown with probability 0.8.</li>
<li>Groups with too few rows are excluded and listed with their counts. An undefined metric is no pass.</li>
</ul>
</section>`;

/** What is needed to get the same numbers again. No time stands here, so that two runs give the same bytes. */
export function reproducibility(results: readonly MetricResult[], source: string, settings: ReportSettings): Html {
  const listed = <T>(pick: (result: MetricResult) => T | null, shown: (value: T) => string = String): string =>
    [...new Set(results.map(pick).filter((value) => value !== null))].map(shown).join(', ') || 'none';
  const given = Object.entries(settings).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null ? [] : [[name, Array.isArray(value) ? value.join(', ') : String(value)]],
  );
  const lines: [string, string][] = [
    ['evenhand', VERSION],
    ['Source', source],
    ['Metrics', listed(({ metric }) => metric)],
    ['Interval level', listed(({ ciLevel }) => ciLevel, formatPercent)],
    ['Interval method', listed(({ ciMethod }) => ciMethod)],
    ['p-value method', listed(({ pValueMethod }) => pValueMethod)],
    ['Seed', listed(({ seed }) => seed)],
    ...given,
  ];
  return markup`<h2 id="made">How this was made</h2>
<dl class="made">
${lines.map(([name, value]) => markup`<dt>${name}</dt><dd><bdi>${value}</bdi></dd>\n`)}</dl>
<p>The same data, version and options give this page again, byte for byte.</p>`;
}
