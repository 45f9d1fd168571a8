/** Something that a backend needs and that is not here. */
export interface MissingPart {
  /** What is missing, in one line that can stand after "cannot start: ". */
  readonly what: string;
  /**
   * What to do about it, in lines. The first is said; of the others each that ends in a full stop or a colon, too. Every
   * other line is a command, to be copied as it is.
   */
  readonly mend: string;
}

/** Whether a line of a mend, not its first, is said: sentences end, commands do not. */
export function isSaid(line: string): boolean {
  return /[.:]$/.test(line);
}
