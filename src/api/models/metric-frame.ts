import { z } from 'zod';

import { count, notes, numberOrNull } from './plain.ts';

const measures = z.record(z.string(), numberOrNull);

/** Measures of all rows and of each group, and inside the levels of a control feature. */
export const metricFrameSchema = z
  .strictObject({
    overall: measures.meta({ description: 'Measures of all rows.' }),
    by_group: z.record(z.string(), measures),
    n_per_group: z.record(z.string(), count),
    difference: measures.meta({ description: 'The largest gap between groups, by measure.' }),
    ratio: measures.meta({ description: 'The smallest ratio between groups, by measure.' }),
    n_dropped: count,
    warnings: notes,
    get by_level() {
      return z
        .record(z.string(), metricFrameSchema)
        .optional()
        .meta({ description: 'The same inside each level of the control feature.' });
    },
  })
  .meta({ id: 'MetricFrame', description: 'Measures of all rows and of each group, with their comparisons.' });
