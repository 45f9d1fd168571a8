import { loadPromClient } from '../packages.ts';
import type { MetricsJson, RenderedMetrics } from './metrics.ts';

/**
 * The metrics of several processes as those of one service: counts add up, other numbers as each metric says.
 * @param processes what `toJson` gave in each of them
 */
export async function mergeMetrics(processes: readonly MetricsJson[]): Promise<RenderedMetrics> {
  const { AggregatorRegistry } = loadPromClient();
  const merged = AggregatorRegistry.aggregate(processes as unknown as object[]);
  return { text: await merged.metrics(), contentType: merged.contentType };
}
