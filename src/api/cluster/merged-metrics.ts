import type { MetricsJson, RenderedMetrics } from '../middleware/metrics.ts';
import { loadPackage } from '../packages.ts';

/** The combined metrics of several processes. */
export interface MergedMetrics {
  /**
   * Renders the sums over living and ended processes. If a process is missing in `living` and has not ended, its last
   * known values are used.
   */
  render(living: ReadonlyMap<string, MetricsJson>): Promise<RenderedMetrics>;
  /** Records the end of a process. Its last known counts stay in the sums, so that the sums never decrease. */
  bury(name: string): Promise<void>;
}

/** The metric types whose values never decrease. Gauges of an ended process are dropped. */
const GROWING = new Set<unknown>(['counter', 'histogram']);

/** Creates an object that stores the last known metrics of each process. */
export function createMergedMetrics(): MergedMetrics {
  const lastKnown = new Map<string, MetricsJson>();
  let buried: MetricsJson = [];
  let burials = Promise.resolve();
  return {
    render: (living) => {
      for (const [name, metrics] of living) lastKnown.set(name, metrics);
      return mergeMetrics([...lastKnown.values(), buried]);
    },
    bury: (name) => {
      burials = burials.then(async () => {
        const counted = (lastKnown.get(name) ?? []).filter((metric) => GROWING.has((metric as { type: unknown }).type));
        const sum = await added(buried, counted);
        // Both changes happen in the same turn, so that a concurrent render counts the process exactly once.
        buried = sum;
        lastKnown.delete(name);
      });
      return burials;
    },
  };
}

async function added(first: MetricsJson, second: MetricsJson): Promise<MetricsJson> {
  if (second.length === 0) return first;
  const { AggregatorRegistry } = loadPackage('prom-client');
  return AggregatorRegistry.aggregate([first, second]).getMetricsAsJSON();
}

/**
 * Merges the metrics of several processes into those of one service. Counters are added; other metrics are aggregated
 * as each metric defines.
 * @param processes the results of `toJson` in each process
 */
export async function mergeMetrics(processes: readonly MetricsJson[]): Promise<RenderedMetrics> {
  const { AggregatorRegistry } = loadPackage('prom-client');
  const merged = AggregatorRegistry.aggregate(processes as unknown as object[]);
  return { text: await merged.metrics(), contentType: merged.contentType };
}
