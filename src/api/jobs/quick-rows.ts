import { LRUCache } from 'lru-cache';

import { ConfigValidationError } from '../../exceptions/index.ts';
import { findMetricDefinition, metricKind } from '../../metrics/metric-definitions.ts';
import { metricNamesOf } from '../../integration/gates.ts';
import { RequestMemory, type ValidateRowsInput } from '../../integration/validate-rows.ts';
import { parseValidateRows, type ValidateRowsBody } from '../../schemas/validate-rows.ts';
import { measureOptionsOf } from '../../schemas/validate-wire.ts';
import { parseJson } from '../problem/parse-json.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { scanRows } from './scan-rows.ts';

/** Fields that change how columns are read. A body with one of these fields is parsed in the usual way. */
const UNUSUAL: readonly (keyof ValidateRowsBody)[] = [
  'intersections',
  'y_score',
  'sample_weight',
  'control',
  'positive_label',
  'y_true_positive_label',
  'na_values',
  'average',
  'measures',
  'score_threshold',
];

interface KnownOptions {
  readonly options: ReturnType<typeof measureOptionsOf> | null;
  readonly memory: RequestMemory;
}

/** The rows of a body, and what is known from earlier requests with the same options. */
export interface QuickRows {
  readonly input: ValidateRowsInput;
  readonly memory: RequestMemory;
}

/**
 * The options of recent requests by their JSON text; null for options that need the usual way. A client usually sends
 * the same options with other rows.
 */
const known = new LRUCache<string, KnownOptions>({ max: 256 });

/** The maximum length of the text of options that are remembered. */
const MAX_TEXT = 2048;

/**
 * Reads a JSON body as `readRowsBody` does, but several times faster, if the body has the simple form of
 * {@link scanRows} and its options do not change how columns are read. The columns are encoded while they are read.
 * Their validation gives the same results as the validation of the arrays.
 * @returns undefined if the body must be read by `readRowsBody`: it has another form, or it is invalid
 */
export function readQuickRows(bytes: Uint8Array, maxItems: number): QuickRows | undefined {
  const rows = scanRows(bytes);
  if (rows?.yPred === undefined) return undefined;
  const { yPred, yTrue, sensitive, isNamed, others } = rows;
  const { length } = yPred;
  if (length > maxItems || (yTrue !== undefined && yTrue.length !== length)) return undefined;
  const columns = Object.values(sensitive);
  if (!columns.every(({ codes }) => codes.length === length)) return undefined;
  const { options, memory } = optionsIn(others);
  if (options === null) return undefined;
  const [only] = columns;
  // The options are spread last: fields that follow them would give each object a shape of its own.
  return { input: { yPred, yTrue, sensitive: isNamed || only === undefined ? sensitive : only, ...options }, memory };
}

function optionsIn(text: string): KnownOptions {
  const remembered = known.get(text);
  if (remembered !== undefined) return remembered;
  const parsed = { options: parseOptions(text), memory: new RequestMemory() };
  if (text.length <= MAX_TEXT) known.set(text, parsed);
  return parsed;
}

/** Parses options with the schema of the complete body. Returns null if the body must be read by `readRowsBody`. */
function parseOptions(text: string): KnownOptions['options'] {
  try {
    const given = parseJson(text) as Record<string, unknown>;
    if (['y_pred', 'y_true', 'sensitive', ...UNUSUAL].some((name) => Object.hasOwn(given, name))) return null;
    // The rules for options do not depend on the values of the columns.
    const options = measureOptionsOf(parseValidateRows({ ...given, y_pred: [0], y_true: [0], sensitive: ['a'] }));
    // Metrics of numbers need decisions as numbers.
    return metricNamesOf(options).every(isOfDecisions) ? options : null;
  } catch (error) {
    if (error instanceof ServiceProblem || ConfigValidationError.isInstance(error)) return null;
    throw error;
  }
}

function isOfDecisions(name: string): boolean {
  const definition = findMetricDefinition(name);
  return definition !== undefined && metricKind(definition) === 'classification';
}
