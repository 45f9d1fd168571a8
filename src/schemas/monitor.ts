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
    minGroupSize: minGroupSize.optional(),
    scoreThreshold: z.number().min(0).max(1).optional(),
    errorScale: z.number().gt(0).optional(),
    lookEvery: z.number().int().min(1).optional(),
    persistence: z.number().int().min(1).optional(),
    cooldownMinutes: z.number().min(0).optional(),
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
  })
  .refine(({ csv, id }) => csv === undefined || id === undefined, {
    message:
      '--id names events for labels that arrive later on stdin; in a file, the label is in the same row (--y-true).',
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
