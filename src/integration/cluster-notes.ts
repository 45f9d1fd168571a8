import { quoteArgument } from '../document/provenance.ts';
import type { ValidateRequest } from '../schemas/validate-values.ts';
import type { RepeatedIdentifier } from '../table/index.ts';

/**
 * Notes columns whose values look like people or things with several rows, if no clusters are named.
 * @param find finds such columns among those that are not used
 */
export async function clusterNotes(
  request: ValidateRequest,
  find: (used: ReadonlySet<string>) => Promise<readonly RepeatedIdentifier[]>,
): Promise<readonly string[]> {
  const { attributes, control = [], yPred, score, yTrue, sampleWeight, cluster, strata } = request;
  if (cluster !== undefined || strata !== undefined) return [];
  const used = [...attributes.flat(), ...control, yPred, score, yTrue, sampleWeight];
  const found = await find(new Set(used.filter((name) => name !== undefined)));
  return found.map(
    (own) =>
      `${rowsOfValue(own)}. If the rows of a value depend on each other, the intervals are too narrow: name it as the cluster (${clusterOption(own)}), in code and in requests with the option cluster`,
  );
}

/** Notes a column that looks like people with several rows, for a report that counts each row as a person. */
export function countedRowsNote(found: RepeatedIdentifier): string {
  return `${rowsOfValue(found)}, and each row is counted. If a value stands for one person, keep one row for each person; 'evenhand validate' with ${clusterOption(found)} compares rates with several rows per person`;
}

/** Notes a column that looks like people with several rows, for a training that may hold out only some of them. */
export function heldOutRowsNote(found: RepeatedIdentifier): string {
  return `${rowsOfValue(found)}, and some may be trained on while others are held out. If the rows of a value depend on each other, the held-out values are better than on new ones: 'evenhand run-pipeline' with the key cluster keeps them together`;
}

function rowsOfValue({ name, meanCount }: RepeatedIdentifier): string {
  return `column '${name}' has about ${meanCount.toFixed(1)} rows for each of its values`;
}

function clusterOption({ name }: RepeatedIdentifier): string {
  return `--cluster ${quoteArgument(name)}`;
}
