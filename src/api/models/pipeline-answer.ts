import { z } from 'zod';

import { detectorReportSchema } from './detector-report.ts';
import { count, notes } from './plain.ts';
import { RUN_FIELDS } from './run-fields.ts';

const columns = z.array(z.string());

/** What one step of a pipeline did. */
export const pipelineStepSchema = z
  .strictObject({
    name: z.string(),
    transformer: z.string(),
    columns_dropped: columns,
    columns_changed: columns,
    weighs: z.boolean().meta({ description: 'Whether it gives rows weights.' }),
    warnings: notes,
  })
  .meta({ id: 'PipelineStep', description: 'What one step of a pipeline did.' });

/** `POST /pipeline` */
export const pipelineAnswerSchema = z
  .strictObject({
    ...RUN_FIELDS,
    detector_report: detectorReportSchema.nullable().meta({ description: 'null with detectors=false.' }),
    transformed_rows: count,
    transformers_applied: z.array(z.string()),
    columns_in: columns,
    columns_out: columns,
    steps: z.array(pipelineStepSchema),
    download: z.string().meta({
      description: 'Where the transformed rows are: Parquet, or CSV with Accept: text/csv.',
      examples: ['/results/0e37df36-f698-4c1f-b1f5-6d9d2bf7ad7b/data'],
    }),
  })
  .meta({ id: 'PipelineAnswer', description: 'What may become unfair in the data, and how they were transformed.' });
