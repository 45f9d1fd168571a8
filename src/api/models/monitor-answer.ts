import { z } from 'zod';

import { count, fields, model, moment, numberOrNull, textOrNull } from './answer-fields.ts';

const streamName = z.string().meta({ description: 'The name of the stream.', examples: ['credit-decisions'] });
const pairOf = <Schema extends z.ZodType>(schema: Schema): z.ZodArray<Schema> => z.array(schema).length(2);

/** An alert about a gap above its limit. */
export const monitorAlertSchema = model('MonitorAlert', 'An alert about a gap that was found above its limit.', {
  id: z.string(),
  tier: z.enum(['alarm', 'watch']),
  timestamp: moment,
  ...fields(z.string(), 'metric', 'attribute'),
  groups: pairOf(z.string()).describe('The two groups that differ most; the one with the larger rate comes first.'),
  measure: z.string(),
  rates: pairOf(numberOrNull),
  ...fields(numberOrNull, 'value', 'low', 'high'),
  limit: z.number(),
  n: z.number().describe('The number of events of the smaller group.'),
  severity: z.enum(['low', 'high', 'critical']),
  ...fields(numberOrNull, 'severity_score', 'confidence', 'drift_score'),
  changed_at: textOrNull.describe('The time at which the change probably began.'),
  window_start: z.string(),
  window_events: count,
  share: z.strictObject(fields(numberOrNull, 'engine', 'combination', 'window', 'group')).nullable(),
  within: z
    .strictObject({
      is_reason: z.boolean(),
      is_above: z.boolean(),
      ...fields(numberOrNull, 'value', 'low', 'high'),
      n: count,
    })
    .nullable()
    .describe('The gap within strata; null without strata.'),
  reason: z.string(),
});

const alerts = z.array(monitorAlertSchema);
const state = z.enum(['within', 'watch', 'breach', 'unknown']);

const gap = z.strictObject({
  state,
  ...fields(numberOrNull, 'value', 'low', 'high'),
  groups: pairOf(z.string()).nullable(),
  rates: pairOf(z.number()).nullable(),
  measure: z.string(),
  n: numberOrNull,
  window_events: count,
  limit: z.number(),
});

/** The answer of `GET /monitor/{stream}`. */
export const streamStateSchema = model('StreamState', 'The state of a monitored stream.', {
  stream: streamName,
  created_at: moment.nullable(),
  n_events: count.describe('The number of counted events.'),
  n_labels: count.describe('The number of labels that arrived after their event.'),
  timestamp: textOrNull.describe('The time of the latest event.'),
  faults: z.record(z.string(), count).describe('The number of problems by reason, such as missing_prediction.'),
  warnings: z
    .array(z.string())
    .describe('What to check before you rely on the states, such as groups whose labels look alike.'),
  alerts: alerts.describe('The alarms that were raised, oldest first.'),
  watches: alerts.describe('Early hints, which may be wrong.'),
  states: z.record(z.string(), z.record(z.string(), state)).describe('The state by attribute and metric.'),
  metrics: z
    .record(z.string(), z.record(z.string(), gap))
    .describe('The gap in the sliding window, by attribute and metric.'),
  preview: z
    .strictObject({ alerts, watches: alerts })
    .optional()
    .describe('What a check now would find. It is raised by the next check, after look_every events.'),
});

const APPENDED = {
  stream: streamName,
  accepted: count.describe('The number of lines that were counted.'),
  repeated: count.describe('The number of lines that had been counted before.'),
  n_events: count,
  n_labels: count,
  faults: z
    .record(z.string(), count)
    .describe(
      'The number of problems with these lines by reason, such as missing_group: the events that count for no group.',
    ),
  alerts: alerts.describe('The alarms that these lines raised.'),
} as const;

/** The answer of `POST /monitor/{stream}/events`. */
export const eventsAnswerSchema = model(
  'EventsAnswer',
  'The events are counted, and stored if there is a store.',
  APPENDED,
);

/** The answer of `POST /monitor/{stream}/labels`. */
export const labelsAnswerSchema = model('LabelsAnswer', 'The labels are counted, and stored if there is a store.', {
  ...APPENDED,
  unknown: count.describe('The number of labels for events that are unknown, or too old to be labelled.'),
});

/** The answer of `GET /monitor`. */
export const streamListSchema = model('StreamList', 'The monitored streams, by name.', {
  streams: z.array(
    z.strictObject({
      stream: streamName,
      created_at: moment,
      options: z
        .record(z.string(), z.union([z.string(), z.array(z.string())]))
        .describe('The query of the first events.'),
    }),
  ),
});
