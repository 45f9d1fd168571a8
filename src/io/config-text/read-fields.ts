import { z } from 'zod';

import type { ConfigDialect } from './config-problem.ts';
import { describeIssue, MAX_SUGGESTED, unknownKey, type Wording } from './describe-issue.ts';
import type { Mapping } from '../../internal/values.ts';
import type { KeyPath, PathProblem } from './path-problem.ts';
import type { JsonSchema } from './requirement.ts';

/** The fields of a configuration that are valid, and the errors of the others. */
export interface ReadFields<Document> {
  readonly fields: Partial<Document>;
  readonly faults: readonly PathProblem[];
}

/** The schemas of the keys of a configuration. */
export interface FieldSchemas<Shape extends z.ZodRawShape> {
  readonly schemas: Shape;
  /** Known keys that are read elsewhere. */
  readonly otherKeys: readonly string[];
  readonly dialect: ConfigDialect;
}

/** Reads every field by its own schema, so that all errors are found at once. */
export function readFields<Shape extends z.ZodRawShape>(
  document: Mapping,
  wording: Wording,
  { schemas, otherKeys, dialect }: FieldSchemas<Shape>,
): ReadFields<z.output<z.ZodObject<Shape>>> {
  const known = Object.keys(schemas);
  const problems = Object.keys(document)
    .filter((key) => !known.includes(key))
    .map((key, index) =>
      unknownKey(
        [key],
        otherKeys.includes(key) ? known : [...known, ...otherKeys],
        wording,
        dialect,
        index < MAX_SUGGESTED,
      ),
    );
  const fields: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries<z.ZodType>(schemas as never)) {
    const parsed = schema.safeParse(document[name]);
    if (parsed.success) {
      if (parsed.data !== undefined) fields[name] = parsed.data;
      continue;
    }
    const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
    const context = { name, document, json, wording, dialect };
    problems.push(...parsed.error.issues.flatMap((issue) => describeIssue(issue, issue.path as KeyPath, context)));
  }
  return {
    fields: fields as ReadFields<z.output<z.ZodObject<Shape>>>['fields'],
    faults: problems.filter((problem) => !isMistyped(problem, problems)),
  };
}

/** Returns whether a missing key exists under a mistyped name, which is reported already. */
function isMistyped({ path, isMissing }: PathProblem, problems: readonly PathProblem[]): boolean {
  if (isMissing !== true) return false;
  const owner = JSON.stringify(path.slice(0, -1));
  return problems.some(
    (other) => other.meant?.includes(String(path.at(-1))) === true && JSON.stringify(other.path.slice(0, -1)) === owner,
  );
}
