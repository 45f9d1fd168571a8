import type { MonitoringRecord } from '../monitoring-record.ts';

/** Makes records of the lines of one file, in their order. */
export interface LineReader {
  /**
   * Takes a line without its end.
   * @param number counted from 1
   * @returns a record, where the line completes one
   * @throws {DataValidationError} naming the line, where it is broken
   */
  read(line: string, number: number): MonitoringRecord | undefined;
  /**
   * Takes what follows the last line end.
   * @returns whether the file ends as it should, is cut short in its last line, or has one more record there
   * @throws {DataValidationError} naming the line, where more is broken than the last one
   */
  finish(rest: string, number: number): 'whole' | 'cut' | MonitoringRecord;
}
