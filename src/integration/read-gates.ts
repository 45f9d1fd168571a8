import { type ConfigDialect, problemsError } from '../io/config-text/config-problem.ts';
import { openConfigText, readConfigFile } from '../io/config-text/open-config-text.ts';
import { type PathProblem, positionProblem, problemAt, wordingOf } from '../io/config-text/path-problem.ts';
import { readFields } from '../io/config-text/read-fields.ts';
import { type Gate, gatesSchema } from '../schemas/gates.ts';
import { gateProblems, type GateRequest } from './gates.ts';

const EXAMPLE = "Write a list of gates, such as '- { metric: demographic_parity_difference, threshold: 0.1 }'.";

const DIALECT: ConfigDialect = {
  aliases: new Map(),
  textKeys: [],
  beginning: EXAMPLE,
  insteadOfMerging: 'Write the keys of each gate.',
  listing: EXAMPLE,
};

const FIELDS = { schemas: { gates: gatesSchema }, otherKeys: [], dialect: DIALECT };

/**
 * Reads a file of gates: a YAML or JSON list of `{ metric, threshold, comparator?, attributes? }`.
 * @param request the validation to which the gates apply; it determines which metrics and attributes a gate may name
 * @throws {ConfigValidationError} if the file cannot be read, is empty, or has invalid gates; the error lists every
 *   problem with its line and column
 */
export async function readGates(file: string, request: GateRequest): Promise<Gate[]> {
  const { value, indices, start } = await openConfigText(await readConfigFile(file, DIALECT), file, DIALECT);
  // The field reader expects a mapping, so the list becomes the only field of a mapping.
  const root = { gates: value };
  const at = { written: 'gates', key: start, value: start, source: null };
  indices.set(root, { at: start, entries: new Map([['gates', at]]) });
  const { fields, faults } = readFields(root, wordingOf(root, indices), FIELDS);
  const { gates = [] } = fields;
  const impossible = gateProblems(gates, request).map(({ index, key, error }): PathProblem =>
    problemAt(['gates', index, key], error.message.replace(/\.$/, ''), error.suggestion ?? EXAMPLE),
  );
  const problems = [...faults, ...impossible];
  if (problems.length === 0) return gates;
  throw problemsError(
    problems.map((problem) => positionProblem(problem, root, indices, file)),
    DIALECT,
  );
}
