import { z } from 'zod';

import { dataSourceSchema } from './data-source.ts';

const column = z.string().min(1);

/** The options of `impact-ratio`. */
export const impactRatioSchema = z
  .object({
    csv: dataSourceSchema,
    selected: column.optional(),
    score: column.optional(),
    sex: column,
    raceEthnicity: column,
    positiveLabel: z.string().optional(),
    naValues: z.array(z.string()).optional(),
    excludeBelow: z.number().min(0).max(0.02).optional(),
    justification: z.string().min(1).optional(),
  })
  .refine(({ selected, score }) => (selected === undefined) !== (score === undefined), {
    error: 'Give one column of outcomes: {selected} for decisions, or {score} for scores.',
  })
  .refine(({ score, positiveLabel }) => score === undefined || positiveLabel === undefined, {
    error: '{positiveLabel} is a label of decisions: leave it out with {score}.',
  })
  .refine(({ excludeBelow = 0, justification }) => excludeBelow > 0 === (justification !== undefined), {
    error:
      'The rule asks for a justification of excluded categories: give both {excludeBelow} and {justification}, or neither.',
  });

/** The options of impact ratios. */
export type ImpactRatioRequest = z.output<typeof impactRatioSchema>;
