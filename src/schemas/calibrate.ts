import { z } from 'zod';

/** The options of `calibrate`, except its data. The library fills in the other defaults. */
export const calibrateSchema = z.object({
  method: z.enum(['platt', 'isotonic', 'temperature']).optional(),
  input: z.enum(['logit', 'score']).optional(),
  minSamples: z.number().int().min(1).optional(),
  folds: z.number().int().min(1).optional(),
  trainSize: z.number().gt(0).lt(1).optional(),
  seed: z.number().int().optional(),
});

const isRising = (values: readonly number[]): boolean =>
  values.every((value, index) => value >= (values[index - 1] ?? value));

const mapSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('platt'),
    input: z.enum(['logit', 'score']),
    slope: z.number(),
    intercept: z.number(),
  }),
  z
    .object({
      kind: z.literal('isotonic'),
      scores: z.array(z.number().min(0).max(1)).min(1),
      rates: z.array(z.number().min(0).max(1)).min(1),
    })
    .refine(({ scores, rates }) => scores.length === rates.length, 'scores and rates must have the same length')
    .refine(
      ({ scores, rates }) => isRising(scores) && new Set(scores).size === scores.length && isRising(rates),
      'scores must increase, and rates must not decrease',
    ),
  z.object({ kind: z.literal('temperature'), temperature: z.number().gt(0) }),
]);

const paramsSchema = z.object({
  method: z.enum(['platt', 'isotonic', 'temperature']),
  min_samples: z.number().int().min(1),
  input: z.enum(['logit', 'score']).optional(),
});

const groupSchema = z
  .object({
    label: z.string(),
    n: z.number().int().min(1),
    positive_rate: z.number().min(0).max(1),
    map: mapSchema.nullable(),
    reason: z.string().nullable(),
  })
  .refine(
    ({ map, reason }) => (map === null) !== (reason === null),
    'a group must have either a map or a reason for having none',
  );

const stateSchema = z.object({
  margin: z.number().gt(0).lte(0.25),
  pooled: mapSchema,
  n: z.number().int().min(1),
  positive_rate: z.number().min(0).max(1),
  groups: z
    .array(groupSchema)
    .refine((groups) => new Set(groups.map(({ label }) => label)).size === groups.length, 'a label occurs twice'),
  warnings: z.array(z.string()),
});

/** The schema of a saved group fairness calibrator. */
export const calibratorSchema = z
  .object({
    kind: z.literal('group_fairness_calibrator'),
    params: paramsSchema,
    state: stateSchema.nullable(),
  })
  .superRefine(({ params, state }, context) => {
    if (state === null) return;
    const maps = [
      { path: ['state', 'pooled'], map: state.pooled },
      ...state.groups.map(({ map }, index) => ({ path: ['state', 'groups', index, 'map'], map })),
    ];
    const wrong = maps.find(({ map }) => map !== null && !isOfParams(map, params));
    if (wrong === undefined) return;
    context.addIssue({ code: 'custom', path: wrong.path, message: `the map must be one of ${describeParams(params)}` });
  });

function isOfParams(map: z.output<typeof mapSchema>, { method, input }: z.output<typeof paramsSchema>): boolean {
  return map.kind === method && (map.kind !== 'platt' || map.input === (input ?? 'logit'));
}

function describeParams({ method, input }: z.output<typeof paramsSchema>): string {
  return method === 'platt' ? `platt through the ${input ?? 'logit'}` : method;
}
