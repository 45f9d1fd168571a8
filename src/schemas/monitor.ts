import { z } from 'zod';

/** What `monitor` may be asked; tracker and engine fill in what is left out and check names against the data. */
export const monitorSchema = z
  .object({
    csv: z.string().optional(),
    yPred: z.string(),
    yTrue: z.string().optional(),
    attributes: z.array(z.array(z.string().min(1)).min(1)).min(1),
    timestamp: z.string().optional(),
    id: z.string().optional(),
    sampleWeight: z.string().optional(),
    positiveLabel: z.string().optional(),
    metric: z.array(z.string().min(1)).min(1).optional(),
    limit: z.number().min(0).optional(),
    alpha: z.number().gt(0).lt(1).optional(),
    windowSize: z.number().int().min(1).optional(),
    minGroupSize: z.number().int().min(1).optional(),
    scoreThreshold: z.number().min(0).max(1).optional(),
    errorScale: z.number().gt(0).optional(),
    lookEvery: z.number().int().min(1).optional(),
    persistence: z.number().int().min(1).optional(),
    cooldownMinutes: z.number().min(0).optional(),
    detector: z.array(z.string().min(1)).optional(),
    refreshSeconds: z.number().gt(0).default(60),
    outputDir: z.string().optional(),
    records: z.string().optional(),
    alerts: z.string().optional(),
    webhook: z.string().optional(),
    state: z.string().optional(),
  })
  .refine(({ csv, id }) => csv === undefined || id === undefined, {
    message: '--id names events for labels that come later on stdin; in a file the label stands in its row (--y-true).',
  });

/** A monitoring run with its defaults filled in. */
export type MonitorRequest = z.output<typeof monitorSchema>;
