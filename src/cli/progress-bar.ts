import type { OnProgress } from '../internal/progress.ts';
import type { OutputOptions } from './output.ts';

const WIDTH = 30;

/** A bar on stderr, drawn over itself; undefined where no one watches. */
export function progressBar({ quiet }: OutputOptions): OnProgress | undefined {
  if (quiet === true || !process.stderr.isTTY) return undefined;
  return ({ stage, done, total }) => {
    const filled = Math.round((WIDTH * done) / total);
    const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
    const percent = `${String(Math.round((100 * done) / total)).padStart(3)}%`;
    process.stderr.write(`\r\x1b[2K${bar} ${percent}  ${stage}`);
    if (done >= total) process.stderr.write('\r\x1b[2K');
  };
}
