import type { AttributeView, AuditResult, MetricView } from '../engine/protocol.ts';

/** Something to do next, and why. */
export interface Advice {
  readonly title: string;
  readonly text: string;
}

/** Returns what an auditor can do next, for a result. The most important comes first. */
export function adviceFor(result: AuditResult): Advice[] {
  const { gates, settings, attributes } = result;
  const failed = gates.filter(({ status }) => status === 'fail');
  const open = gates.filter(({ status }) => status === 'undefined');
  const advice: Advice[] = [];
  if (attributes.some(({ controlWarnings }) => controlWarnings.length > 0)) {
    advice.push({
      title: 'Report the parts, not only the total',
      text: 'A gap reverses within the parts of the control column. The total can mislead: report both, and find out who decides in which part.',
    });
  }
  if (open.length > 0) {
    advice.push({
      title: 'Get more rows for small groups',
      text: 'A limit could not be checked, because too few groups have enough rows. An unchecked limit is not a passed one. Merge groups only if that makes sense for your question.',
    });
  }
  if (gates.some(({ straddles }) => straddles)) {
    advice.push({
      title: 'Do not rely on a narrow verdict',
      text: 'An interval contains the limit, so another sample could give the other verdict. Collect more decisions, or report the verdict with its interval.',
    });
  }
  if (failed.length > 0) {
    advice.push({
      title: 'Find out why before you name a cause',
      text: 'A gap is a reason to investigate. It does not prove unfair treatment. Ask which rule, data or step of the process makes the difference.',
    });
  }
  if (failed.length > 0 && settings.control === undefined) {
    advice.push({
      title: 'Compare like with like',
      text: 'Choose a control column under More choices, such as department, grade or region. The gap may vanish, stay or reverse within its parts.',
    });
  }
  if (settings.yTrue === undefined) {
    advice.push({
      title: 'Add the outcome, if you have it',
      text: 'With the later outcome (repaid, performed well), you also see whether errors hit one group more often.',
    });
  }
  if (settings.sensitive.length > 1 && settings.isCrossed !== true) {
    advice.push({
      title: 'Look at combinations',
      text: 'Rates can be equal for women and for older people, and still be low for older women. Tick Combinations too.',
    });
  }
  if (gates.length > 0 && failed.length === 0 && open.length === 0) {
    advice.push({
      title: 'Keep watching',
      text: 'A verdict holds for this file. Run the command below for each new file, for example in continuous integration.',
    });
  }
  return advice.slice(0, 4);
}

/** Returns the gap of a metric as a comparison of 100 people of each group; undefined if it does not compare shares. */
export function hundredOf(metric: MetricView, outcome: string): string | undefined {
  const [measure, ...others] = metric.measures;
  if (measure === undefined || others.length > 0 || !measure.isShare || measure.name !== 'selection_rate')
    return undefined;
  const rateOf = (label: string | null): number | null =>
    measure.groups.find((group) => group.label === label)?.value ?? null;
  const [high, low] = [rateOf(metric.first), rateOf(metric.second)];
  if (high === null || low === null || metric.first === null || metric.second === null) return undefined;
  return `${people(high)} of 100 in the group ${metric.first} have ${outcome}, and ${people(low)} of 100 in the group ${metric.second}.`;
}

function people(rate: number): string {
  const share = 100 * rate;
  return share > 0 && share < 1 ? 'fewer than 1' : String(Math.round(share));
}

/** Returns the metric that an attribute shows first. */
export function mainMetric({ metrics }: AttributeView): MetricView | undefined {
  return metrics[0];
}
