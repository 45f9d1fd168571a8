import {
  ALERT_CHANGES,
  type AlertChange,
  type AlertSink,
  type AlertTransition,
  MONITOR_STATES,
  type MonitorReading,
} from '../alarms/alert-event.ts';
import { logQuietly } from '../records/file/file-functions.ts';

/** A sink that keeps the current values for Prometheus to scrape. */
export interface PrometheusSink extends AlertSink {
  /** The content type of {@link PrometheusSink.text}. */
  readonly contentType: string;
  /** Returns the current values in the Prometheus text format, version 0.0.4. */
  text(): string;
  /** Replaces all current values. */
  read(readings: readonly MonitorReading[]): void;
}

type Gauge = readonly [name: string, help: string, value: (reading: MonitorReading) => number];

const GAUGES: readonly Gauge[] = [
  ['evenhand_fairness_gap', 'Gap between groups in the sliding window.', ({ value }) => value ?? NaN],
  ['evenhand_fairness_gap_low', 'Lower bound of the gap that holds at all times.', ({ low }) => low ?? NaN],
  ['evenhand_fairness_limit', 'Limit of the gap.', ({ limit }) => limit],
  ['evenhand_fairness_events', 'Events that the gap was computed from.', ({ n }) => n],
];

/**
 * Creates a sink that keeps the current values for Prometheus. Serve the result of `text()` from an HTTP server. The
 * sink has these values for each attribute and metric:
 *
 * - `evenhand_fairness_gap`, `evenhand_fairness_gap_low`, `evenhand_fairness_limit`, `evenhand_fairness_events`: NaN if
 *   the value is undefined;
 * - `evenhand_fairness_state`: one series per state, 1 for the current state and 0 for the other states.
 *
 * There are also two metrics over all attributes: `evenhand_alerts_open` and `evenhand_alerts_total{change}`. These two
 * metrics count alarms but not watches. A watch has no guaranteed rate of false alarms, so it should not call the
 * person on duty. Both metrics start at 0 when the sink is created.
 * @example
 * ```ts
 * import { prometheusSink } from 'evenhand/monitoring';
 *
 * const sink = prometheusSink();
 * const gap = { attribute: 'sex', metric: 'demographic_parity_difference', value: 0.12, low: null };
 * sink.read([{ ...gap, state: 'watch', limit: 0.1, n: 900 }]);
 * console.log(sink.text().split('\n').slice(0, 3).join('\n'));
 * // # HELP evenhand_fairness_gap Gap between groups in the sliding window.
 * // # TYPE evenhand_fairness_gap gauge
 * // evenhand_fairness_gap{attribute="sex",metric="demographic_parity_difference"} 0.12
 * ```
 */
export function prometheusSink(): PrometheusSink {
  let readings: readonly MonitorReading[] = [];
  let failures = 0;
  const open = new Set<string>();
  const totals = new Map<AlertChange, number>(ALERT_CHANGES.map((change) => [change, 0]));
  const quietly = (work: () => void): void => {
    try {
      work();
    } catch (cause) {
      failures++;
      logQuietly('warn', `cannot update the values for Prometheus: ${String(cause)}`);
    }
  };
  return {
    name: 'prometheus',
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    get failures() {
      return failures;
    },
    read(next) {
      quietly(() => {
        readings = latestOfEach(next);
      });
    },
    send(transition) {
      quietly(() => {
        countTransition(transition, open, totals);
      });
    },
    text: () => toExposition([...readingFamilies(readings), ...alertFamilies(open.size, totals)]),
    close: () => Promise.resolve(),
  };
}

function countTransition(
  { change, alert }: AlertTransition,
  open: Set<string>,
  totals: Map<AlertChange, number>,
): void {
  const { tier, id } = alert;
  const total = totals.get(change);
  if (total === undefined) throw new Error(`'${change}' is not a change of an alert`);
  if (tier !== 'alarm') return;
  totals.set(change, total + 1);
  if (change === 'resolved' || change === 'cleared') open.delete(id);
  else open.add(id);
}

/**
 * Returns a copy of the latest reading of each attribute and metric, because each series may occur only once in the
 * output. Readings are copied because the caller may change them.
 */
function latestOfEach(readings: readonly MonitorReading[]): MonitorReading[] {
  const latest = new Map<string, MonitorReading>();
  for (const reading of readings) {
    const { attribute, metric, state, value, low, limit, n } = reading;
    if (typeof attribute !== 'string' || typeof metric !== 'string') throw new Error('a reading has no name');
    latest.set(JSON.stringify([attribute, metric]), { attribute, metric, state, value, low, limit, n });
  }
  return [...latest.values()];
}

function readingFamilies(readings: readonly MonitorReading[]): MetricFamily[] {
  const gauges = GAUGES.map(([name, help, valueOf]): MetricFamily => ({
    name,
    help,
    type: 'gauge',
    samples: readings.map((reading) => ({ labels: labelsOf(reading), value: valueOf(reading) })),
  }));
  const states = readings.flatMap((reading) =>
    MONITOR_STATES.map((state): Sample => ({
      labels: { ...labelsOf(reading), state },
      value: Number(reading.state === state),
    })),
  );
  const help = 'State of a metric: 1 for the current state, 0 for the others.';
  return [...gauges, { name: 'evenhand_fairness_state', help, type: 'gauge', samples: states }];
}

function alertFamilies(open: number, totals: ReadonlyMap<AlertChange, number>): MetricFamily[] {
  const changes = Array.from(totals, ([change, value]): Sample => ({ labels: { change }, value }));
  return [
    {
      name: 'evenhand_alerts_open',
      help: 'Number of open alarms.',
      type: 'gauge',
      samples: [{ labels: {}, value: open }],
    },
    { name: 'evenhand_alerts_total', help: 'Number of changes of alarms, by kind.', type: 'counter', samples: changes },
  ];
}

function labelsOf({ attribute, metric }: MonitorReading): Record<string, string> {
  return { attribute, metric };
}

/** One value of a metric family, with its labels. */
interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  /** The value of the sample; NaN if it is undefined. */
  readonly value: number;
}

/** Samples that have the same metric name and help text. */
interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly samples: readonly Sample[];
}

/** Returns metric families in the Prometheus text format, version 0.0.4, with a newline after each line. */
function toExposition(families: readonly MetricFamily[]): string {
  return families.map(familyText).join('');
}

function familyText({ name, help, type, samples }: MetricFamily): string {
  const lines = samples.map(({ labels, value }) => `${name}${labelText(labels)} ${numberText(value)}\n`);
  return [`# HELP ${name} ${escapeHelp(help)}\n`, `# TYPE ${name} ${type}\n`, ...lines].join('');
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}
