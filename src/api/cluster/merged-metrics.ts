import type { MetricsJson, RenderedMetrics } from '../middleware/metrics.ts';
import { loadPromClient } from '../packages.ts';

/** Metrics of several processes as one. */
export interface MergedMetrics {
  /**
   * The sums of what the living say and what the dead have counted. A process that is not named, but was before and is not
   * buried, is taken as it was last known.
   */
  render(living: ReadonlyMap<string, MetricsJson>): Promise<RenderedMetrics>;
  /** A process has ended: what it was last known to have counted stays in the sums, so that they never fall. */
  bury(name: string): Promise<void>;
}

/** These only grow; what a dead process had in use (gauges) it has no more. */
const GROWING = new Set<unknown>(['counter', 'histogram']);

/** Keeps what each process was last known to have counted. */
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
        // Both at once, so that whoever renders now counts it once.
        buried = sum;
        lastKnown.delete(name);
      });
      return burials;
    },
  };
}

async function added(first: MetricsJson, second: MetricsJson): Promise<MetricsJson> {
  if (second.length === 0) return first;
  const { AggregatorRegistry } = loadPromClient();
  return AggregatorRegistry.aggregate([first, second]).getMetricsAsJSON();
}

/**
 * The metrics of several processes as those of one service: counts add up, other numbers as each metric says.
 * @param processes what `toJson` gave in each of them
 */
export async function mergeMetrics(processes: readonly MetricsJson[]): Promise<RenderedMetrics> {
  const { AggregatorRegistry } = loadPromClient();
  const merged = AggregatorRegistry.aggregate(processes as unknown as object[]);
  return { text: await merged.metrics(), contentType: merged.contentType };
}
