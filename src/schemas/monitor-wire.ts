import { z } from 'zod';

import { splitNames } from '../internal/arguments.ts';
import { described, optionalField } from './fields.ts';
import { MIN_GROUP_SIZE_DEFAULT } from './min-group-size.ts';
import { type MonitorRequest, monitorSchema } from './monitor.ts';
import { brokenRules, parseWire, ruleIssue } from './problems-of.ts';
import { textNumber } from './text-values.ts';
import { sensitiveNames } from './validate-table.ts';

/** The maximum length of a parameter that contains names. */
const MAX_NAMES_LENGTH = 1000;
/** The largest sliding window of a stream of the service. A window is kept in memory. */
const MAX_WINDOW = 1_000_000;

const column = z.string().min(1).max(MAX_NAMES_LENGTH);
const { shape } = monitorSchema;
const number = <Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  ...examples: readonly unknown[]
): z.ZodPipe<z.ZodTransform, Schema> => textNumber(described(schema, description, ...examples));

/** The query of `POST /monitor/{stream}/events`: the columns, metrics and limits of a stream. */
const MONITOR_WIRE_FIELDS = {
  y_pred: optionalField(column, 'The field of decisions, or of scores. Required for the first events.', 'approved'),
  sensitive: sensitiveNames.optional().meta({
    ...sensitiveNames.meta(),
    description:
      'A sensitive field; a comma list also adds the intersection of its fields; repeat the parameter for several. Required for the first events.',
  }),
  y_true: optionalField(column, 'The field of true labels, which may arrive later; adds equalized odds.', 'repaid'),
  id: optionalField(column, 'The field of the id of each event. Default: id.', 'case'),
  timestamp: optionalField(
    column,
    'The field of times: ISO 8601, or a number since 1970. Default: timestamp, if the first event has it; else the time of arrival.',
    'decided_at',
  ),
  sample_weight: optionalField(column, 'The field of weights.', 'weight'),
  positive_label: optionalField(z.string(), 'The label that counts as 1 in y_pred and y_true.', 'yes'),
  y_true_positive_label: optionalField(z.string(), 'The label of y_true that counts as 1, if it differs.', 'repaid'),
  na_values: optionalField(z.string().max(MAX_NAMES_LENGTH), 'Texts that mean a missing value: a comma list.', 'NA'),
  metric: optionalField(
    column,
    'The differences to monitor: a comma list. Default: demographic parity, and with y_true also equalized odds.',
    'demographic_parity_difference',
  ),
  limit: number(shape.limit, 'The largest accepted gap of each metric. Default: 0.1.', 0.1),
  alpha: number(shape.alpha, 'The maximum probability of any false alarm, over all checks. Default: 0.05.', 0.05),
  window_size: number(
    z.number().int().min(1).max(MAX_WINDOW).optional(),
    'The number of events in the sliding window. Default: 10000.',
    10_000,
  ),
  label_horizon: number(
    z.number().int().min(1).max(MAX_WINDOW).optional(),
    'The number of later events after which an event can no longer be labelled, and its id is forgotten. Default: 100000.',
    100_000,
  ),
  min_group_size: number(
    shape.minGroupSize,
    `The minimum events of a group; smaller groups are excluded from gaps. ${MIN_GROUP_SIZE_DEFAULT}`,
    30,
  ),
  score_threshold: number(
    shape.scoreThreshold,
    'A score of at least this value is a positive decision. Default: 0.5.',
    0.5,
  ),
  error_scale: number(shape.errorScale, 'The largest possible error, for mae_parity_difference.', 100),
  look_every: number(shape.lookEvery, 'The number of events between two checks. Default: 100.', 100),
  persistence: number(shape.persistence, 'Consecutive checks until a watch is reported. Default: 3.', 3),
  cooldown_minutes: number(shape.cooldownMinutes, 'Minutes between two alerts of an open alarm. Default: 60.', 60),
  within_time: number(
    shape.withinTime,
    'The length in seconds of the periods within which gaps are watched too. Default: none.',
    3600,
  ),
  within: optionalField(column, 'The field whose labels are strata, within which gaps are watched too.', 'region'),
  detector: optionalField(column, 'Drift detectors: a comma list. Default: adwin.', 'adwin,cusum'),
} as const;

/** The schema of the options of a monitored stream. */
export const monitorWireSchema = z.strictObject(MONITOR_WIRE_FIELDS).check((context) => {
  const { y_true: yTrue, y_true_positive_label: label, window_size: size, min_group_size: least } = context.value;
  const { within, within_time: period, sample_weight: weight } = context.value;
  const rules = brokenRules([
    [
      yTrue === undefined && label !== undefined,
      'y_true_positive_label',
      'y_true_positive_label needs true labels: add y_true.',
      'Name the field of true labels as y_true.',
    ],
    [
      size !== undefined && size < (least ?? 30),
      'window_size',
      'window_size must be at least min_group_size; otherwise no group could have enough events.',
      'Send a larger window_size, or a smaller min_group_size.',
    ],
    [
      within !== undefined && period !== undefined,
      'within',
      'Strata are periods of time or labels of a column: within and within_time exclude each other.',
      'Send one of within and within_time.',
    ],
    [
      weight !== undefined && (within !== undefined || period !== undefined),
      'sample_weight',
      'Gaps within strata are gaps of events without weights.',
      'Leave out sample_weight, or within and within_time.',
    ],
  ]);
  context.issues.push(...rules.map((rule) => ruleIssue(rule)));
});

/** Options of a stream as texts, as they arrive in a query. */
export type MonitorTexts = Readonly<Record<string, string | readonly string[]>>;

/** The request of a monitored stream. */
export type StreamRequest = MonitorRequest & { readonly id: string };

/**
 * Parses the options of a stream.
 * @throws {ConfigValidationError} if options are not valid, or y_pred or sensitive is missing
 */
export function parseMonitorWire(texts: MonitorTexts): StreamRequest {
  const nameOf = (pointer: string): string => pointer.replace(/^\//, '');
  const needed = z.strictObject({
    ...monitorWireSchema.shape,
    y_pred: column.describe('y_pred'),
    sensitive: sensitiveNames,
  });
  const wire = parseWire(monitorWireSchema, texts, 'The query cannot be used', nameOf);
  const { y_pred: yPred, sensitive } = parseWire(needed, texts, 'The query cannot be used', nameOf);
  return {
    yPred,
    attributes: attributesOf([sensitive].flat().map(splitNames)),
    yTrue: wire.y_true,
    id: wire.id ?? 'id',
    timestamp: wire.timestamp,
    sampleWeight: wire.sample_weight,
    positiveLabel: wire.positive_label,
    yTruePositiveLabel: wire.y_true_positive_label,
    naValues: listOf(wire.na_values),
    metric: listOf(wire.metric),
    limit: wire.limit,
    alpha: wire.alpha,
    windowSize: wire.window_size,
    labelHorizon: wire.label_horizon,
    minGroupSize: wire.min_group_size,
    scoreThreshold: wire.score_threshold,
    errorScale: wire.error_scale,
    lookEvery: wire.look_every,
    persistence: wire.persistence,
    cooldownMinutes: wire.cooldown_minutes,
    withinTime: wire.within_time,
    within: wire.within,
    detector: listOf(wire.detector),
    refreshSeconds: 60,
  };
}

/** Returns the attributes, without duplicates. */
function attributesOf(given: readonly string[][]): string[][] {
  return [...new Map(given.map((columns) => [columns.join('\0'), columns])).values()];
}

function listOf(names: string | undefined): string[] | undefined {
  return names === undefined ? undefined : splitNames(names);
}
