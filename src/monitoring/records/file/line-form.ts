/** What the lines of a file look like. */
export interface LineForm {
  /** The first line of each file; null where there is none. */
  readonly header: string | null;
  /** What every file begins with: the header, or the beginning of each line. */
  readonly opening: string;
  /** Whether line ends between quotes belong to a field. */
  readonly isQuoting: boolean;
  /**
   * Whether lines may be added below a first line; `older` where it is of an
   * older layout, which is kept in a file of its own.
   * @param path for the message
   * @throws {DataValidationError} where the file holds something else
   */
  examine(firstLine: string, path: string): 'same' | 'older';
  /** Whether a last line that lacks its end is complete all the same. */
  isComplete(line: string): boolean;
}
