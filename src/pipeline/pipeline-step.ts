import type { Transformer } from './transformers/transformer.ts';

/** One step of a pipeline: a transformer, and what it is called in errors and reports. */
export interface PipelineStep {
  readonly name: string;
  readonly transformer: Transformer;
}
