import { effectsChart } from '../../charts/effects-chart.ts';
import type { ChartedGroup } from '../../charts/group-values-chart.ts';
import type { ReportBlock, ReportSection } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { testedP } from './finding.ts';
import { groupsTable, pairsTable } from './metric-tables.ts';
import { nullText, pairLabel } from './report-words.ts';

/** The minimum number of finite values; a chart with fewer values is omitted. */
const FEWEST_DRAWN = 2;

/** The maximum number of charts in a section. The metrics with the smallest p-values come first. */
const MAX_PICTURES = 3;

/** Builds a section for each dimension, a section for refusals and a section for stereotypes. */
export function dimensionSections(
  metrics: readonly LlmMetricResult[],
  controlDimension: string | undefined,
): ReportSection[] {
  const ofDimensions = metrics.filter(({ evaluator }) => evaluator !== 'stereotype');
  const dimensions = [...new Set(ofDimensions.flatMap(({ dimension }) => dimension ?? []))];
  const isRefusal = ({ evaluator }: LlmMetricResult): boolean => evaluator === 'refusal';
  const isOther = (metric: LlmMetricResult): boolean => !isRefusal(metric);
  return [
    ...dimensions.map((dimension) => {
      const own = ofDimensions.filter((metric) => metric.dimension === dimension);
      return {
        title: `By ${labelText(dimension)}`,
        blocks: [
          ...(dimension === controlDimension ? [CONTROL_WORDS] : []),
          ...drawnFirst(own).flatMap(pairsPicture).slice(0, MAX_PICTURES),
          ...pairsTable(own),
          ...groupsTable(own.filter(isOther), 'Groups'),
        ],
      };
    }),
    { title: 'Refusals', blocks: groupsTable(metrics.filter(isRefusal), 'Refusals by group') },
    { title: 'Stereotypes', blocks: stereotypeBlocks(metrics.filter(({ evaluator }) => evaluator === 'stereotype')) },
  ];
}

function stereotypeBlocks(metrics: readonly LlmMetricResult[]): ReportBlock[] {
  return [...pairsTable(metrics), ...groupsTable(metrics, 'Groups')];
}

const CONTROL_WORDS: ReportBlock = {
  kind: 'paragraph',
  text: 'This dimension is the control. It should make no difference, so any difference here is noise. An effect here is evidence against the measure, and so against its findings for other dimensions. The control shows an effect only if its adjusted p is at most 0.05.',
};

/**
 * Builds a chart for each metric that is computed for several dimensions. The control dimension is shown below the
 * other dimensions.
 */
export function dimensionPictures(results: readonly LlmMetricResult[], control: string | undefined): ReportBlock[] {
  const metrics = results.filter(({ evaluator }) => evaluator !== 'stereotype');
  const names = [...new Set(drawnFirst(metrics).map(({ metric }) => metric))];
  const pictures = names.flatMap((name): ReportBlock[] => {
    const rows = metrics.filter(
      ({ metric, dimension, value }) => metric === name && dimension !== null && Number.isFinite(value),
    );
    if (rows.length < FEWEST_DRAWN) return [];
    const last = rows.find(({ dimension }) => dimension === control) ?? rows.at(-1);
    if (last === undefined) return [];
    const charted = ({ dimension, n, value, ci }: LlmMetricResult): ChartedGroup => {
      return { label: `${labelText(dimension ?? '')}${dimension === control ? ' (control)' : ''}`, n, value, ci };
    };
    return pictureOf({
      title: `${inWords(name)} by dimension`,
      subtitle: 'Dots are values, lines their intervals; n is the number of items',
      groups: rows.filter((row) => row !== last).map(charted),
      overall: charted(last),
    });
  });
  return pictures.slice(0, MAX_PICTURES);
}

/** Sorts metrics by p-value, smallest first. Metrics with equal p-values keep their order. */
function drawnFirst(metrics: readonly LlmMetricResult[]): LlmMetricResult[] {
  return [...metrics].sort((a, b) => (testedP(a) ?? 1) - (testedP(b) ?? 1));
}

/**
 * Builds a chart of one metric, with a row for each pair of values of its dimension. The last row is the metric itself.
 */
function pairsPicture(metric: LlmMetricResult): ReportBlock[] {
  const drawn = metric.pairs.filter(({ value }) => Number.isFinite(value));
  if (drawn.length < FEWEST_DRAWN || !Number.isFinite(metric.value)) return [];
  const floor =
    metric.nullMean === null ? 'the value without an effect is unknown' : `without an effect: ${nullText(metric)}`;
  return pictureOf({
    title: `${inWords(metric.metric)}, pairs of ${labelText(metric.dimension ?? 'values')}`,
    subtitle: `Dots are pairs, the square is the metric, lines are intervals; ${floor}`,
    groups: drawn.map(({ first, second, value, ci, n }) => ({ label: pairLabel(metric, first, second), n, value, ci })),
    overall: { label: 'the metric', n: metric.n, value: metric.value, ci: metric.ci },
  });
}

function pictureOf(effects: Parameters<typeof effectsChart>[0]): ReportBlock[] {
  return [{ kind: 'picture', chart: () => effectsChart(effects) }];
}
