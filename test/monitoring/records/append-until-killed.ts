// Appends numbered records as fast as it can, and tells through a pipe how many appends have returned. Its parent kills it.
import { writeSync } from 'node:fs';

import { openRecordStore } from '../../../src/monitoring/records/open-record-store.ts';
import { sampleRecord } from './sample-record.ts';

const [, , file = '', first = '0', perAppend = '1'] = process.argv;
const store = openRecordStore(file, { maxBytes: 200_000 * Number(perAppend), maxFiles: 1000 });
const label = `a label of "some" length, ${'x'.repeat(200)}\nand of two lines`;
for (let value = Number(first); ; value += Number(perAppend)) {
  store.append(
    Array.from({ length: Number(perAppend) }, (_, place) => sampleRecord({ value: value + place, group: label })),
  );
  writeSync(1, `${value + Number(perAppend)}\n`);
}
