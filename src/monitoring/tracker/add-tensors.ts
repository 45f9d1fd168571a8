import { CELLS_PER_GROUP, type ClassificationStats, sum } from '../../metrics/statistics/group-stats.ts';
import type { EventStream } from './event-stream.ts';
import { type GroupCodes, UNKNOWN_GROUP } from './group-codes.ts';
import type { GroupTable } from './group-table.ts';
import { blockOfTail, type CountedBatch, countTensors, readTensors, type TensorBatch } from './tensor-batch.ts';
import type { TrackedAttribute } from './tracker-options.ts';

/**
 * Counts a batch of tensors where they are. Its events are one step: a fresh
 * start or a record that falls within it is taken at its end. What needs every
 * row (ids, times, weights, errors, crossings, detectors) reads them all.
 */
export async function addTensors(stream: EventStream, batch: TensorBatch): Promise<void> {
  const { columns, attributes } = stream.options;
  const { hasWeights, hasErrors } = stream.shape;
  const needsRows = columns.id !== undefined || columns.timestamp !== undefined || hasWeights || hasErrors;
  if (needsRows || stream.isObserved || attributes.some(({ parts }) => parts.length > 0)) {
    stream.addBatch(await readTensors(batch, stream.options, hasErrors));
    return;
  }
  const counted = await countTensors(batch, stream.options);
  addCounts(stream, counted);
  stream.addCounted(counted.events);
}

/** Adds the counts to the sums of a stream without crossings, and the last rows to its window. */
function addCounts(stream: EventStream, { attributes, events, missingPredictions, tail }: CountedBatch): void {
  if (missingPredictions > 0) stream.faults.add('missing_prediction', missingPredictions);
  attributes.forEach((stats, place) => {
    addAttribute(stream, stats, place);
  });
  stream.grow();
  const block = blockOfTail(tail, stream.options, stream.reader.groups as readonly GroupCodes[]);
  stream.window.skip(events - block.length);
  stream.window.add(block, 0, block.length);
}

function addAttribute(stream: EventStream, stats: ClassificationStats, place: number): void {
  const groups = stream.reader.groups[place] as GroupCodes;
  const table = stream.tables[place] as GroupTable;
  stats.labels.forEach((label, group) => {
    const cells = stats.counts.subarray(group * CELLS_PER_GROUP, (group + 1) * CELLS_PER_GROUP);
    const code = groups.codeOf(label);
    if (code < 0) {
      stream.faults.add(code === UNKNOWN_GROUP ? 'unknown_group' : 'too_many_groups', sum(cells));
      return;
    }
    table.grow(groups.labels.length);
    table.addCells(code, cells);
  });
  const ungrouped = sum(stats.ungrouped.counts);
  if (ungrouped > 0) stream.faults.add('missing_group', ungrouped);
  const isDeclared = (stream.options.attributes[place] as TrackedAttribute).declared !== null;
  if (!isDeclared && !stream.isWarm) stream.early[place] = groups.labels.length;
}
