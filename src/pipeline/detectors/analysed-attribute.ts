import type { AttributeGroups } from './attribute-groups.ts';
import type { Relation } from './relation.ts';

/** An attribute, and how every column that is tested goes with it. */
export interface AnalysedAttribute extends AttributeGroups {
  /** One per column, in the order of the table. */
  readonly relations: readonly Relation[];
}
