import { labelText } from '../document/report-text.ts';
import { INTERSECTION_SEPARATOR } from '../table/index.ts';

/** Returns the display name of an attribute, or of an intersection: "sex \u00D7 race". */
export function attributeText(attribute: string): string {
  return attribute.split(INTERSECTION_SEPARATOR).map(labelText).join(' \u00D7 ');
}
