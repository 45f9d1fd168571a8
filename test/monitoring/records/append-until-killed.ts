// Appends numbered records as fast as possible, and reports through a pipe how many appends have returned. Its parent
// kills it.
import { writeSync } from 'node:fs';

import { openRecordStore } from '../../../src/monitoring/records/open-record-store.ts';
import { sampleRecord } from './sample-record.ts';

const [, , file = '', first = '0', perAppend = '1'] = process.argv;
const store = openRecordStore(file, { maxBytes: 200_000 * Number(perAppend), maxFiles: 1000 });
const label = `a label of "some" length, ${'x'.repeat(200)}\nand of two lines`;
for (let value = Number(first); ; value += Number(perAppend)) {
  store.append(
    Array.from({ length: Number(perAppend) }, (_, index) => sampleRecord({ value: value + index, group: label })),
  );
  reportAppended(value + Number(perAppend));
}

/**
 * Writes a line to the pipe, and waits while the pipe is full: a busy parent reads late, which must not end this
 * process.
 */
function reportAppended(count: number): void {
  const line = Buffer.from(`${count}\n`);
  const isNever = new Int32Array(new SharedArrayBuffer(4));
  for (let from = 0; from < line.length;) {
    try {
      from += writeSync(1, line, from);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(isNever, 0, 0, 5);
    }
  }
}
