import { type ConfigDialect, escapeControls, problemsError } from '../io/config-text/config-problem.ts';
import { openConfigText, readConfigFile } from '../io/config-text/open-config-text.ts';
import { type PathProblem, positionProblem, problemAt, wordingOf } from '../io/config-text/path-problem.ts';
import { readFields } from '../io/config-text/read-fields.ts';
import { type Gate, gatesSchema } from '../schemas/gates.ts';
import { readTextFile } from '../io/read-text-file.ts';
import { readYaml } from '../io/read-yaml.ts';
import { gateWarning, isHigherBetter, judgesSize } from './assertions.ts';
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

/** A validation for which every gate is possible. */
const ANY_REQUEST: GateRequest = {
  names: [],
  hasTruth: true,
  hasPredictions: true,
  hasScores: true,
  strictMissing: false,
};

/**
 * Reads a file of gates: a YAML or JSON list of `{ metric, threshold, comparator?, attributes? }`.
 * @param request the validation to which the gates apply; its data and attributes determine which gates are possible.
 *   Without it, only errors are found that do not depend on the data
 * @throws {ConfigValidationError} if the file cannot be read or is empty, or with all problems of its gates, each with
 *   line and column
 */
export async function readGates(file: string, request?: GateRequest): Promise<Gate[]> {
  const { value, indices, start } = await openConfigText(await readConfigFile(file, DIALECT), file, DIALECT);
  // The field reader expects a mapping, so the list becomes the only field of a mapping.
  const root = { gates: value };
  const at = { written: 'gates', key: start, value: start, source: null };
  indices.set(root, { at: start, entries: new Map([['gates', at]]) });
  const { fields, faults } = readFields(root, wordingOf(root, indices), FIELDS);
  const { gates = [] } = fields;
  const impossible = gateProblems(gates, request ?? ANY_REQUEST)
    .filter(({ key }) => request !== undefined || key !== 'attributes')
    .map(({ index, key, error }): PathProblem =>
      problemAt(['gates', index, key], error.message.replace(/\.$/, ''), error.suggestion ?? EXAMPLE),
    );
  const problems = [...faults, ...impossible];
  if (problems.length === 0) return gates;
  throw problemsError(
    problems.map((problem) => positionProblem(problem, root, indices, file)),
    DIALECT,
  );
}

/** The maximum number of bytes that are read to determine the kind of a file. */
const MAX_BYTES = 2 ** 20;

/** Returns whether a file is a file of gates: a list, unlike every other configuration. */
export async function isGatesFile(file: string): Promise<boolean> {
  const { text } = await readTextFile(file, MAX_BYTES);
  return text !== null && Array.isArray((await readYaml(text)).value);
}

/** Describes a gate in one line. */
export function describeGate({ metric, comparator, threshold, attributes }: Gate): string {
  const limit = `${comparator === undefined ? LIMITS[isHigherBetter(metric) ? '>=' : '<='] : LIMITS[comparator]} ${String(threshold)}`;
  const size = judgesSize({ metric }, comparator, threshold) && !isHigherBetter(metric) ? ' in size' : '';
  const names = attributes?.map((given) => [given].flat().join(' and ')).join('; ') ?? 'every attribute';
  const warning = gateWarning(metric, comparator, threshold);
  return escapeControls(`${metric}: ${limit}${size}, for ${names}.${warning}`);
}

const LIMITS = { '<=': 'at most', '<': 'below', '>=': 'at least', '>': 'above' } as const;
