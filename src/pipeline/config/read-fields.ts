import { z } from 'zod';

import { PIPELINE_FIELDS, type PipelineDocument } from '../../schemas/pipeline/pipeline-document.ts';
import type { Mapping } from './canonical-keys.ts';
import { describeIssue, unknownKey, type Wording } from './describe-issue.ts';
import type { KeyPath, PathFault } from './path-fault.ts';
import type { JsonSchema } from './requirement.ts';

/** What could be read of a configuration: fields with faults are missing. */
export interface ReadFields {
  readonly fields: Partial<PipelineDocument>;
  readonly faults: readonly PathFault[];
}

/** Reads every field by its schema, apart from the others, so that all faults are found at once. */
export function readFields(document: Mapping, wording: Wording): ReadFields {
  const known = Object.keys(PIPELINE_FIELDS);
  const faults = Object.keys(document)
    .filter((key) => !known.includes(key))
    .map((key) => unknownKey([key], key === 'profiles' ? known : [...known, 'profiles'], wording));
  const fields: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(PIPELINE_FIELDS)) {
    const parsed = schema.safeParse(document[name]);
    if (parsed.success) {
      if (parsed.data !== undefined) fields[name] = parsed.data;
      continue;
    }
    const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
    const context = { name, document, json, wording };
    faults.push(...parsed.error.issues.flatMap((issue) => describeIssue(issue, issue.path as KeyPath, context)));
  }
  return { fields, faults: faults.filter((fault) => !isMistyped(fault, faults)) };
}

/** Whether a missing key is there under a mistyped name, which is a fault already. */
function isMistyped({ path, isMissing }: PathFault, faults: readonly PathFault[]): boolean {
  if (isMissing !== true) return false;
  const owner = JSON.stringify(path.slice(0, -1));
  return faults.some(
    (other) => other.meant?.includes(String(path.at(-1))) === true && JSON.stringify(other.path.slice(0, -1)) === owner,
  );
}
