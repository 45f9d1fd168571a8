import { knownMetric } from '../../integration/measure-attributes.ts';
import { type ValidateRowsInput, validateRowsNow } from '../../integration/validate-rows.ts';
import { validationToJson } from '../../integration/validation-report.ts';
import { metricKind } from '../../metrics/metric-definitions.ts';
import { parseMetricGate } from '../../schemas/validate-values.ts';
import type { Service } from '../context/service-context.ts';
import { readRowsBody } from '../jobs/rows-body.ts';
import { answerBody } from '../runs/run-record.ts';

/** With more groups than these a validation takes longer than others on the same event loop should wait. */
const MAX_GROUPS = 12;

/** Columns that are counted, those that are crossed too. */
const MAX_COLUMNS = 6;

/** The most replicates, for the same reason. */
const MAX_SAMPLES = 1000;

/**
 * Validates arrays on the spot and keeps the result, where that takes no longer than reading them.
 * @returns the body of the answer; undefined where it is work for a thread
 * @throws {ServiceProblem} 400 for a body that is not UTF-8 or not strict JSON, 413 for an array that is too long
 * @throws {ConfigValidationError} for fields at fault
 */
export async function validateAtOnce(bytes: Buffer, service: Service): Promise<string | undefined> {
  const input = readRowsBody(bytes, service.limits.arrayItems);
  if (!isLight(input)) return undefined;
  const result = JSON.stringify(validationToJson(validateRowsNow(input)));
  const runId = service.createId();
  const createdAt = new Date(service.clock()).toISOString();
  const body = answerBody(runId, result, createdAt);
  await service.runs.keep({ runId, endpoint: '/validate', createdAt, body });
  return body;
}

/** Whether a validation costs about as much as reading its body did. */
function isLight(input: ValidateRowsInput): boolean {
  const { backend = 'native', control, withCi, withPValue, sensitive, intersections = [] } = input;
  if (backend !== 'native' || control !== undefined || withPValue === true) return false;
  if (!Array.isArray(sensitive)) {
    const crossed = intersections.reduce((sum, names) => sum + names.length, 0);
    const columns = Object.values(sensitive);
    return withCi !== true && columns.length + crossed <= MAX_COLUMNS && columns.every(hasFewGroups);
  }
  return hasFewGroups(sensitive) && (withCi !== true || hasLightInterval(input));
}

/** Only intervals of rates come from counts alone. */
function hasLightInterval({ ciMethod = 'simultaneous', ciSamples = MAX_SAMPLES, metric }: ValidateRowsInput): boolean {
  if (ciMethod !== 'simultaneous' || ciSamples > MAX_SAMPLES) return false;
  const named = metric === undefined ? [] : [metric].flat().map(parseMetricGate);
  return named.every((gate) => metricKind(knownMetric(gate.metric)) === 'classification');
}

/** Looking through a short list takes less than a set of all rows. */
function hasFewGroups(rows: unknown): boolean {
  const groups: unknown[] = [];
  for (const label of rows as readonly unknown[]) {
    if (groups.includes(label)) continue;
    if (groups.length === MAX_GROUPS) return false;
    groups.push(label);
  }
  return true;
}
