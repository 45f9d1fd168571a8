import { labelText } from '../document/report-text.ts';
import { INTERSECTION_SEPARATOR } from '../table/index.ts';

/** The name of an attribute for people, or of several that are crossed: "sex \u00D7 race". */
export function attributeText(attribute: string): string {
  return attribute.split(INTERSECTION_SEPARATOR).map(labelText).join(' \u00D7 ');
}
