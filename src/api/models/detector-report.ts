import { z } from 'zod';

import { count, notes, numberOrNull, textOrNull } from './plain.ts';

const attribute = z.string().meta({ description: 'A sensitive column, or several joined by `||`.' });
const degrees = z.array(z.number()).meta({ description: 'Degrees of freedom.' });
const association = z.enum(['cramers_v', 'eta_squared']);
const contrastEnd = z.strictObject({ group: z.string(), value: z.number(), n: count });
const contrast = z
  .strictObject({ level: textOrNull, lowest: contrastEnd, highest: contrastEnd })
  .nullable()
  .meta({ description: 'The two groups that are the farthest apart.' });

const representation = z.strictObject({
  attribute,
  n: count,
  n_missing: count,
  groups: z.array(z.strictObject({ group: z.string(), n: count, share: numberOrNull, benchmark_share: numberOrNull })),
  statistic: numberOrNull,
  degrees,
  p_value: numberOrNull,
  adjusted_p_value: numberOrNull,
  flagged: z.boolean(),
  reason: textOrNull,
  notes,
});

const disparity = z.strictObject({
  attribute,
  column: z.string(),
  n: count,
  test: z.enum(['chi_square', 'anova']),
  statistic: numberOrNull,
  degrees,
  p_value: numberOrNull,
  adjusted_p_value: numberOrNull,
  effect_size_name: association,
  effect_size: numberOrNull,
  flagged: z.boolean(),
  contrast,
  reason: textOrNull,
  notes,
});

const missingness = z.strictObject({
  attribute,
  column: z.string(),
  n_missing: count,
  statistic: numberOrNull,
  degrees,
  p_value: numberOrNull,
  adjusted_p_value: numberOrNull,
  effect_size: numberOrNull,
  flagged: z.boolean(),
  contrast,
  notes,
});

const cell = { attribute, column: z.string(), measure: association, value: numberOrNull, n: count } as const;

const meta = z.strictObject({
  version: z.string(),
  rows: count,
  attributes: z.array(z.string()),
  target: textOrNull,
  alpha: z.number(),
  proxy_threshold: z.number(),
  columns_tested: z.array(z.string()),
  skipped: z.array(z.strictObject({ column: textOrNull, attribute: textOrNull, reason: z.string() })),
  warnings: notes,
});

const body = z.strictObject({
  summary: z.strictObject({
    representation_flagged: count,
    disparities_flagged: count,
    missingness_flagged: count,
    proxies_found: count,
    findings: z.array(z.string()).meta({ description: 'In words, the worst first.' }),
  }),
  representation: z.array(representation),
  disparities: z.array(disparity),
  missingness: z.array(missingness),
  proxies: z.array(z.strictObject({ ...cell, notes })),
  associations: z.array(z.strictObject({ ...cell, reason: textOrNull })),
});

/** What the detectors found in data. */
export const detectorReportSchema = z
  .strictObject({ meta, body })
  .meta({ id: 'DetectorReport', description: 'What the detectors found in the data.' });
