/** Something that a backend needs and that is not here. */
export interface MissingPart {
  /** What is missing, in one line that can stand after "cannot start: ". */
  readonly what: string;
  /** What to do about it; a command stands on a line of its own. */
  readonly mend: string;
}
