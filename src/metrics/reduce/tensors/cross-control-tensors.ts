import { onHost, type SensitiveSource } from '../../../table/index.ts';
import { currentTensorflow } from '../../../tensor/index.ts';
import { type ControlCell, crossControl } from '../../frame/cross-control.ts';
import type { MetricRows } from '../../row-options.ts';
import type { GroupStats } from '../../statistics/group-stats.ts';
import { crossOnDevice, encodeGroupTensors } from './group-codes.ts';
import { withTensors } from './row-states.ts';

/**
 * Crosses the sensitive attribute with a control feature on their device, as `crossControl` does on the host. The
 * function reads only what {@link encodeGroupTensors} reads, and a table of the pairs of level and group. If there are
 * too many pairs, it reads both columns.
 * @param statisticsOf computes the statistics of the crossed attribute
 */
export async function crossControlTensors(
  { sensitive, nanPolicy, naValues }: MetricRows,
  control: SensitiveSource,
  statisticsOf: (crossed: SensitiveSource) => Promise<GroupStats>,
): Promise<{ readonly stats: GroupStats; readonly cells: readonly ControlCell[] }> {
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) => {
    const [levels, groups] = [
      await encodeGroupTensors(tf, keep, control, { nanPolicy, naValues }),
      await encodeGroupTensors(tf, keep, sensitive, { nanPolicy, naValues }),
    ];
    const crossed = await crossOnDevice(tf, keep, levels, groups);
    if (crossed === undefined) {
      const read = await onHost({ sensitive, control });
      const { column, cells } = crossControl(read.sensitive, read.control, nanPolicy, naValues);
      return { stats: await statisticsOf(column), cells };
    }
    const cells = crossed.parts.map(([level, group]) => ({ level, group }));
    // The encoding is an attribute of its own kind, which only the reductions of tensors know.
    return { stats: await statisticsOf(crossed as unknown as SensitiveSource), cells };
  });
}
