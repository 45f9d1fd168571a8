import { z } from 'zod';
import { dataSourceSchema } from './data-source.ts';
import { minGroupSize } from './fields.ts';

/** The options of `ab-test`. The analyzer fills in the other defaults and checks names against the data. */
export const abTestSchema = z
  .object({
    csv: dataSourceSchema.optional(),
    controlCsv: dataSourceSchema.optional(),
    treatmentCsv: dataSourceSchema.optional(),
    arm: z.string().optional(),
    control: z.string().optional(),
    treatment: z.string().optional(),
    outcome: z.string(),
    attributes: z.array(z.array(z.string().min(1)).min(1)).min(1),
    yTrue: z.string().optional(),
    business: z.array(z.string().min(1)).optional(),
    metric: z.array(z.string().min(1)).min(1).optional(),
    sampleWeight: z.string().optional(),
    cluster: z.string().optional(),
    id: z.string().optional(),
    positiveLabel: z.string().optional(),
    yTruePositiveLabel: z.string().optional(),
    naValues: z.array(z.string()).optional(),
    alpha: z.number().gt(0).lt(1).optional(),
    minimumEffect: z.number().gt(0).optional(),
    sequential: z.boolean().default(false),
    tau: z.number().gt(0).optional(),
    minGroupSize: minGroupSize.optional(),
    treatmentShare: z.number().gt(0).lt(1).optional(),
    nanPolicy: z.enum(['exclude', 'include']).optional(),
    seed: z.number().int().min(0).optional(),
  })
  .refine(
    ({ csv, controlCsv, treatmentCsv }) =>
      (csv === undefined) === (controlCsv !== undefined && treatmentCsv !== undefined),
    {
      message: 'Give either --csv with --arm, or both --control-csv and --treatment-csv.',
    },
  )
  .refine(
    ({ csv, controlCsv, treatmentCsv }) =>
      csv === undefined || (controlCsv === undefined && treatmentCsv === undefined),
    {
      message: '--csv holds both arms, so it cannot be combined with --control-csv and --treatment-csv.',
    },
  )
  .refine(({ csv, arm }) => (csv === undefined) === (arm === undefined), {
    message: '--arm names the column of --csv that identifies the arms: give both or neither.',
  })
  .refine(({ arm, control, treatment }) => arm !== undefined || (control === undefined && treatment === undefined), {
    message: '--control and --treatment are labels of --arm, which is missing.',
  })
  .refine(({ yTrue, yTruePositiveLabel }) => yTrue !== undefined || yTruePositiveLabel === undefined, {
    message: 'A positive label of the truth needs true labels: add {yTrue}.',
  })
  .refine(({ sequential, tau }) => sequential || tau === undefined, {
    message: '--tau belongs to the sequential test: add --sequential.',
  });

/** The options of an A/B test, with defaults filled in. */
export type ABTestRequest = z.output<typeof abTestSchema>;
