import { z } from 'zod';
import { dataSourceSchema } from './data-source.ts';
import { minGroupSize } from './fields.ts';
import { DEFAULT_MIN_GROUP_SIZE } from './min-group-size.ts';

/** The sizes before defaults are filled in. */
interface SizesGiven {
  readonly windowSize?: number | undefined;
  readonly minGroupSize?: number | undefined;
}

// Uses the tracker's default if a size is omitted.
const windowSizeOf = ({ windowSize }: SizesGiven): number => windowSize ?? 10_000;
const minGroupSizeOf = ({ minGroupSize }: SizesGiven): number => minGroupSize ?? DEFAULT_MIN_GROUP_SIZE;

/** The longest time that an option in seconds can name. A timer in milliseconds cannot be longer. */
const MAX_SECONDS = 2_147_483;

const seconds = z.number().gt(0).max(MAX_SECONDS).optional();
const name = z.string().min(1).optional();

/** The options about a stream at a broker. */
const BROKER_FIELDS = {
  kafka: z.array(z.string().min(1)).min(1).optional(),
  topic: name,
  kafkaTls: z.boolean().optional(),
  kafkaSasl: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']).optional(),
  redisStream: name,
  redis: name,
  redisPrefix: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'a prefix has 1 to 100 letters, digits, dots, dashes and underscores')
    .optional(),
  consumerGroup: name,
  consumer: name,
  from: z.enum(['beginning', 'end']).optional(),
  untilEnd: z.boolean().optional(),
  checkpointEvents: z.number().int().min(1).optional(),
  checkpointSeconds: seconds,
  checkSeconds: seconds,
  leaseSeconds: z.number().min(0.5).max(MAX_SECONDS).optional(),
  outageSeconds: seconds,
};

/** The options about the state of a stream that processes share. */
const SHARED_FIELDS = ['redisPrefix', 'checkpointEvents', 'checkpointSeconds', 'checkSeconds'] as const;

/** The options of `monitor`. The tracker and the engine fill in the other defaults and check names against the data. */
export const monitorSchema = z
  .object({
    csv: dataSourceSchema.optional(),
    yPred: z.string(),
    yTrue: z.string().optional(),
    attributes: z.array(z.array(z.string().min(1)).min(1)).min(1),
    timestamp: z.string().optional(),
    id: z.string().optional(),
    sampleWeight: z.string().optional(),
    positiveLabel: z.string().optional(),
    yTruePositiveLabel: z.string().optional(),
    naValues: z.array(z.string()).optional(),
    metric: z.array(z.string().min(1)).min(1).optional(),
    limit: z.number().min(0).optional(),
    alpha: z.number().gt(0).lt(1).optional(),
    windowSize: z.number().int().min(1).max(100_000_000).optional(),
    labelHorizon: z.number().int().min(1).max(100_000_000).optional(),
    minGroupSize: minGroupSize.optional(),
    scoreThreshold: z.number().min(0).max(1).optional(),
    errorScale: z.number().gt(0).optional(),
    lookEvery: z.number().int().min(1).optional(),
    persistence: z.number().int().min(1).optional(),
    cooldownMinutes: z.number().min(0).optional(),
    withinTime: z.number().min(0.001).max(31_536_000_000).optional(),
    within: name,
    detector: z.array(z.string().min(1)).optional(),
    refreshSeconds: z.number().gt(0).default(60),
    outputDir: z.string().optional(),
    records: z
      .string()
      .regex(/\.(?:csv|ndjson|jsonl)$/i, 'the name must end in .csv, .ndjson or .jsonl')
      .optional(),
    alerts: z
      .string()
      .regex(/\.(?:ndjson|jsonl)$/i, 'the name must end in .ndjson or .jsonl')
      .optional(),
    webhook: z.string().optional(),
    state: z.string().optional(),
    ...BROKER_FIELDS,
  })
  .refine(
    (request) => [request.csv, request.kafka, request.redisStream].filter((one) => one !== undefined).length <= 1,
    {
      error: 'Events come from one source: name one of {csv}, {kafka} and {redisStream}.',
    },
  )
  .refine(({ kafka, topic }) => (kafka === undefined) === (topic === undefined), {
    error: '{kafka} names the brokers and {topic} the topic: give both.',
  })
  .refine(({ redisStream, redis }) => redisStream === undefined || redis !== undefined, {
    error: '{redisStream} names a key in Redis: add {redis}.',
  })
  .refine(({ redis, kafka, redisStream }) => redis === undefined || kafka !== undefined || redisStream !== undefined, {
    error: '{redis} holds the state of a stream: add {redisStream}, or {kafka} and {topic}.',
  })
  .refine(
    (request) =>
      request.kafka !== undefined ||
      request.redisStream !== undefined ||
      Object.keys(BROKER_FIELDS).every((field) => request[field as keyof typeof BROKER_FIELDS] === undefined),
    {
      error: ({ input }) =>
        `{${Object.keys(BROKER_FIELDS).find((field) => Object.hasOwn(input as object, field)) ?? 'redis'}} is about a stream at a broker: add {redisStream}, or {kafka} and {topic}.`,
    },
  )
  .refine(({ consumer, redisStream }) => consumer === undefined || redisStream !== undefined, {
    error: '{consumer} names a consumer of a stream in Redis: add {redisStream}. Kafka assigns partitions itself.',
  })
  .refine(({ redis, state }) => redis === undefined || state === undefined, {
    error: 'With {redis}, the state of the stream is in Redis: leave out {state}.',
  })
  .refine(
    ({ redis, detector, lookEvery }) => redis === undefined || (detector === undefined && lookEvery === undefined),
    {
      error:
        'With {redis}, several processes share the stream. It is checked every {checkSeconds}, and has no drift detectors: leave out {lookEvery} and {detector}.',
    },
  )
  .refine(
    ({ kafka, redisStream, kafkaTls, kafkaSasl }) =>
      kafka !== undefined || redisStream === undefined || (kafkaTls === undefined && kafkaSasl === undefined),
    { error: '{kafkaTls} and {kafkaSasl} are about Kafka. For Redis with TLS, write {redis} with rediss://.' },
  )
  .refine((request) => request.redis !== undefined || SHARED_FIELDS.every((field) => request[field] === undefined), {
    error: ({ input }) =>
      `{${SHARED_FIELDS.find((field) => Object.hasOwn(input as object, field)) ?? 'redis'}} is about the state in Redis: add {redis}.`,
  })
  .refine(({ within, withinTime }) => within === undefined || withinTime === undefined, {
    error: 'Strata are periods of time or labels of a column: give one of {withinTime} and {within}.',
  })
  .refine(
    ({ redis, within, withinTime }) => redis === undefined || (within === undefined && withinTime === undefined),
    {
      error:
        'With {redis}, several processes share the stream, and pairs of events within strata need the order of all events: leave out {within} and {withinTime}.',
    },
  )
  .refine(
    ({ sampleWeight, within, withinTime }) =>
      sampleWeight === undefined || (within === undefined && withinTime === undefined),
    {
      error:
        'Gaps within strata are gaps of events without weights: leave out {sampleWeight}, or {within} and {withinTime}.',
    },
  )
  .refine(({ csv, id }) => csv === undefined || id === undefined, {
    message:
      '--id names events for labels that arrive later on stdin; in a file, the label is in the same row (--y-true).',
  })
  .refine(({ id, labelHorizon }) => id !== undefined || labelHorizon === undefined, {
    error: '{labelHorizon} is about events with ids: add {id}.',
  })
  .refine(({ yTrue, yTruePositiveLabel }) => yTrue !== undefined || yTruePositiveLabel === undefined, {
    message: 'A positive label of the truth needs true labels: add {yTrue}.',
  })
  .refine((request) => windowSizeOf(request) >= minGroupSizeOf(request), {
    error: ({ input }) =>
      `--window-size must be at least --min-group-size (${String(minGroupSizeOf(input as SizesGiven))}); otherwise no group could have enough events.`,
  });

/** The options of a monitoring run, with defaults filled in. */
export type MonitorRequest = z.output<typeof monitorSchema>;
