import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DRIFT_DETECTOR_NAMES } from '../../../src/monitoring/drift/index.ts';
import { projectRoot } from '../../helpers/project-files.ts';
import { LENGTH, RUNS, simulateChange, simulateQuiet } from './simulate-detectors.ts';

const page = readFileSync(path.join(projectRoot, 'docs/drift-detectors.md'), 'utf8');

/** Returns the cells of each row of a table on the page, without alignment spaces. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.slice(1, -1).split('|').map((cell) => cell.trim())); // prettier-ignore

/** Returns the figures of a detector in the first or the second table of results. */
const figuresOf = (name: string, columns: number) =>
  rows.find((cells) => cells[0] === `\`${name}\`` && cells.length === columns + 1)?.slice(1);

describe('the page on drift detectors', () => {
  it('gives the number and length of the simulated runs', () => {
    expect(page).to.contain(`${RUNS} runs`).and.to.contain(LENGTH.toLocaleString('en'));
  });

  for (const name of DRIFT_DETECTOR_NAMES) {
    it(`has the false alarms of ${name} as simulated @slow`, () => {
      const cells = ([0.5, 0.1, 0.02, 'scores'] as const).map((law) => {
        const { share, alarms } = simulateQuiet(name, law);
        return `${share.toFixed(2)} (${alarms.toFixed(2)})`;
      });
      expect(figuresOf(name, 4)).to.deep.equal(cells);
    });

    it(`has the changes that ${name} finds as simulated @slow`, () => {
      const changes = [[0.3, 0.4], [0.3, 0.6], [0.1, 0.05]] as const; // prettier-ignore
      const cells = changes.map(([before, after]) => {
        const { share, delay, error } = simulateChange(name, before, after);
        if (share === 0) return '0.00';
        const located = Number.isNaN(error) ? '' : `, off by ${error.toFixed(0)}`;
        return `${share.toFixed(2)}, after ${delay.toFixed(0)}${located}`;
      });
      expect(figuresOf(name, 3)).to.deep.equal(cells);
    });
  }
});
