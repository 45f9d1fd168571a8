import type { ConfigDialect } from '../../io/config-text/config-dialect.ts';
import { KEY_ALIASES } from '../../schemas/pipeline/pipeline-document.ts';

/** How configurations of pipelines are read, and spoken of. */
export const PIPELINE_DIALECT: ConfigDialect = {
  aliases: KEY_ALIASES,
  // A label that is written as a number keeps the form in which it is written.
  textKeys: ['positive_label', 'na_values'],
  beginning: 'Start with the sensitive attributes, as in sensitive: [sex].',
  insteadOfMerging: 'Write the keys out, or use profiles.',
  listing: "Every key is listed by 'evenhand config schema'.",
};
