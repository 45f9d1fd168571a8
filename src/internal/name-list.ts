/** The names of a comma list, without blanks around them; a comma in a name is written `\,`. An empty one stays, for who refuses it. */
export function splitNames(text: string): string[] {
  return text.split(/(?<!\\),/).map((name) => name.replaceAll('\\,', ',').trim());
}
